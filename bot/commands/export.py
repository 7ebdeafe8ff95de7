"""`judge-bot export`: cases, labelled or all, for `judge` and other tools; or all that is stored
about one person.
"""

import hashlib
import json
import re
import sys
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO, TypeVar

import typer
from sqlalchemy import Row

from bot.commands import opened
from bot.domain.case import text_hash
from bot.domain.verdict import reference_of
from bot.errors import BotError
from bot.settings import StoreSettings, load
from bot.store.audit import Action
from bot.store.database import Database
from bot.store.export import Exports, Selection
from bot.store.forgetting import Personal
from bot.store.labels import Labels
from judge import Turn
from judge.rows import files
from judge.rows.exports import choose_format
from judge.rows.exports import export as write_table
from judge.scoring.numbers import number_of

T = TypeVar("T")

_BEGINNINGS = b'{"', b"case,", b"PAR1"
_UNKNOWN = (
    "nothing is stored about this person; expected a Slack user id, such as U0123ABCD (their "
    "profile > More > Copy member ID)"
)
# promptfoo renders {{ }}, {% %} and {# #} in every string of a test, including {{
# env.OPENAI_API_KEY }}. It replaces a string that begins with file:// or package: with the content
# of the file or the result of the code. How often it renders depends on the prompt, so an escape
# would be undone too early or not at all; a space in them always works. A #} alone is an error.
_TEMPLATE = re.compile(r"\{(?=[{%#])|#(?=\})")
_REFERENCE = re.compile(r"\A\s*(?:package(?=:)|(?!https?:)[a-z][\w+.-]*(?=://))", re.IGNORECASE)


def to_inspect(row: Mapping[str, Any]) -> dict[str, Any]:
    """A sample for `inspect_ai.dataset.json_dataset`: the question, and the label as the target."""
    target = "" if row["human"] is None else str(row["human"])
    metadata = {"response": row["completion"], **_others(row)}
    return {"id": _name(row), "input": row["prompt"], "target": target, "metadata": metadata}


def to_promptfoo(row: Mapping[str, Any]) -> dict[str, Any]:
    """A test for promptfoo, whose texts it uses literally."""
    texts = {"question": row["prompt"], "response": row["completion"]}
    test: dict[str, Any] = _inert(
        {"description": _name(row), "vars": texts, "metadata": _others(row)}
    )
    return test


def to_langfuse(row: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of Langfuse's `create_dataset_item`.

    The id stays the same, so a second import changes the item.
    """
    return {
        "dataset_name": "slack-judge",
        "id": f"{row['thread']}-{_name(row)}",  # unique among all datasets of a project
        "input": {"question": row["prompt"], "response": row["completion"]},
        "expected_output": None if row["human"] is None else {"score": row["human"]},
        "metadata": _others(row),
    }


CONVERTERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "inspect": to_inspect,
    "promptfoo": to_promptfoo,
    "langfuse": to_langfuse,
}
"""The converters by format; all of them need the texts."""


def _name(row: Mapping[str, Any]) -> str:
    """A name for the row, different for each person who labelled the case."""
    return f"case-{row['case']}" + (f"-{row['label_by']}" if row["label_by"] else "")


def _others(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in {"prompt", "completion"}}


def _inert(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _inert(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_inert(each) for each in value]
    return (
        _REFERENCE.sub(r"\g<0> ", _TEMPLATE.sub(r"\g<0> ", value))
        if isinstance(value, str)
        else value
    )


async def export_labels(
    path: Path | None, which: Selection, form: str | None = None, *, has_texts: bool = False
) -> None:
    """Writes the labelled cases, or all cases that count, to a file or the terminal, and prints
    their number.

    `form` is one of `Format` or `CONVERTERS`; by default the one that the file's name implies, or
    else JSONL.
    """
    if has_texts and load(StoreSettings).store_text != "full":
        raise BotError("--texts: none are kept (STORE_TEXT=none); leave it out")
    if form in CONVERTERS and not has_texts:
        raise BotError(f"--format {form} needs texts; add --texts if the file may hold them")
    kind = _find_format(path, form)
    async with opened.opened_database() as database:
        with _output(path, kind) as output:
            with opened.reading():
                teams = await Labels(database).teams(has_unlabelled=which.has_unlabelled)
                drawn = (
                    0
                    if which.watched
                    else await Exports(database).count(replace(which, watched=True))
                )
            await opened.note(database, Action.EXPORTED_LABELS, teams)
            count, left_out = await export(
                database, output, which, has_texts, CONVERTERS.get(form or "")
            )
    what = "row" if which.has_unlabelled else "label"
    typer.echo(f"{number_of(count, what)} written", err=True)
    if drawn:
        typer.echo(
            (
                f"{number_of(drawn, what)} left out, of replies that watches drew; --watched "
                "writes these"
            ),
            err=True,
        )
    if left_out:
        typer.echo(f"{left_out} left out, because their texts are not in the database", err=True)


def _find_format(path: Path | None, form: str | None) -> files.Format:
    """The format of the file; JSONL for the terminal, and for what `CONVERTERS` make."""
    if path is None:
        if form in (files.Format.CSV, files.Format.PARQUET):
            raise BotError(f"--format {form} is a file; name it with --output")
        return files.Format.JSONL
    if form in CONVERTERS:
        if path.suffix != ".jsonl" and (path.is_file() or not path.exists()):
            raise BotError(f"--output {path}: {form} reads JSONL by its name; end it in .jsonl")
        return files.Format.JSONL
    if form and path.suffix in {f".{each}" for each in files.Format if each != form}:
        raise BotError(
            f"--output {path}: is written as {form}; end its name in .{form}, or leave out --format"
        )
    return choose_format(path, files.Format(form) if form else None)


async def export_person(path: Path | None, user: str) -> None:
    """Writes what is stored about a person ("U1" or "T1/U1"), a JSON document for each row, and
    their number.
    """
    async with opened.opened_database() as database:
        personal = Personal(database)
        user_id = user.rpartition("/")[2]
        with opened.reading():
            teams = await personal.teams(user_id)
        team_id = opened.one_team("--user", teams, user, _UNKNOWN)
        with _output(path) as output:
            await opened.note(database, Action.EXPORTED_PERSON, [team_id], user_id=user_id)
            count = 0
            async for document in _readable(personal.rows(team_id, user_id)):
                output.write(
                    json.dumps(document, ensure_ascii=False, default=datetime.isoformat) + "\n"
                )
                count += 1
    typer.echo(f"{number_of(count, 'row')} written", err=True)


@contextmanager
def _output(path: Path | None, kind: files.Format = files.Format.JSONL) -> Iterator[TextIO]:
    """The file or the terminal, open for JSONL, which becomes a table at the end; BotError if it
    cannot be written.
    """
    try:
        if path is None:
            yield sys.stdout
            sys.stdout.flush()  # so that a closed pipe raises here, not at exit
            return
        if path.is_file() and not path.is_symlink():  # a link is replaced, not written through
            with path.open("rb") as former:
                found = former.read(8).removeprefix(BOM_UTF8)
            if found and not found.startswith(_BEGINNINGS):
                raise BotError(
                    f"--output {path}: not an export, and would be overwritten; name another file"
                )
        if kind is not files.Format.JSONL:
            with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
                rows = Path(folder, "rows.jsonl")
                with rows.open("w", encoding="utf-8") as output:
                    yield output
                write_table(rows, path, kind)
        elif path.is_file() or not path.exists():
            with (
                files.written_beside(path) as file,
                TextIOWrapper(file, encoding="utf-8") as output,
            ):
                yield output
        else:  # a pipe or a device
            with path.open("w", encoding="utf-8") as output:
                yield output
    except BrokenPipeError:
        raise  # the reader of our output has gone; Typer ends the command silently with exit code 1
    except OSError as exc:
        name = f"--output {path}" if path else "the output"
        raise BotError(f"{name}: cannot be written ({exc.strerror}); name another file") from exc


async def export(
    database: Database,
    output: TextIO,
    which: Selection,
    has_texts: bool = True,
    convert: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> tuple[int, int]:
    """Writes a row for each label, and if selected for each case without one; counts those written
    and left out.

    If `has_texts` is False, texts are left out; those of a message deleted in Slack always are.
    Rows of the same question, after the same conversation, still share a `prompt_id`. With
    `convert`, rows without texts are left out. An OSError of `output` is raised as it is.
    """
    count = left_out = 0
    async for labelled, ratings, said in _readable(Exports(database).rows(which)):
        named = [
            {name: getattr(each, name) for name in ("model", "served", "score")} for each in ratings
        ]
        row: Mapping[str, Any] = to_row(labelled, said, has_texts=has_texts) | {"ratings": named}
        if which.low:
            why = {"justification": labelled.justification or None} if has_texts else {}
            row = {
                **row,
                **why,
                "points": labelled.points,
                "cause": labelled.cause if has_texts else None,
            }
        if convert:
            if not row.get("prompt"):
                left_out += 1
                continue
            row = convert(row)
        output.write(files.encode(row) + "\n")
        count += 1
    return count, left_out


async def _readable(rows: AsyncIterator[T]) -> AsyncIterator[T]:
    with (
        opened.reading()
    ):  # covers an OSError of the database, but not one of `output`, which is raised outside
        async for row in rows:
            yield row


def to_row(labelled: Row[Any], said: Sequence[Turn], *, has_texts: bool) -> dict[str, Any]:
    """The exported row of a case, with or without a label; `said` is its conversation."""
    thread_ts = (
        labelled.thread_ts or labelled.parent_ts or labelled.message_ts or f"case {labelled.id}"
    )
    asked = [[each.role, each.text] for each in said]
    row = {
        "case": labelled.id,
        "prompt_id": text_hash(files.encode([*asked, labelled.question_hash]))
        if asked
        else labelled.question_hash,
        "score": labelled.score,
        "human": labelled.human,
        "label_by": labelled.user_id and _pseudonym(labelled.team_id, labelled.user_id),
        "blind": labelled.is_blind,
        "probability": labelled.label_probability,
        "drawn_with": labelled.probability,
        "stratum": f"{labelled.channel_id} {labelled.judged_at:%G-W%V}",
        "model": labelled.model,
        "escalation": labelled.escalation,
        "rubric": labelled.rubric,
        # With its reference: scores by two references are those of two judges.
        "rubric_version": "+".join(
            filter(None, (labelled.rubric_version, reference_of(labelled.judge_version)))
        )
        or None,
        "channel": labelled.channel_id,
        "thread": _pseudonym(labelled.team_id, f"{labelled.channel_id}:{thread_ts}"),
        "messages_before": labelled.messages_before,
        "messages_of_reply": labelled.messages,
        "unread": labelled.unread,
        "judged_at": labelled.judged_at.isoformat(),
    }
    # null where they are gone: readers that take the columns of the first rows would drop the
    # others
    if has_texts:
        is_whole = labelled.response is not None
        row |= {"reason": labelled.reason, "prompt": labelled.question if is_whole else None}
        row["completion"] = labelled.response
        if is_whole and said:
            row["conversation"] = [{"role": each.role, "content": each.text} for each in said]
    return row


def _pseudonym(team_id: str, what: str) -> str:
    """A pseudonym of a person or thread; someone who knows the workspace's ids can reverse it."""
    return hashlib.sha256(f"{team_id}:{what}".encode()).hexdigest()[:12]
