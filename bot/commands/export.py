"""`judge-bot export`: cases, labelled or all, for `judge`, tables and Langfuse; or all that is stored
about one person.
"""

import hashlib
import json
import sys
from codecs import BOM_UTF8
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from operator import methodcaller
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
from bot.store.labels import Labels
from bot.store.personal import Personal
from judge import Turn
from judge.rows import files
from judge.rows.exports import choose_format
from judge.rows.exports import export as write_table
from judge.scoring.numbers import number_of

T = TypeVar("T")

_COLUMNS = (
    *("case", "prompt_id", "score", "human", "label_by", "blind", "probability", "drawn_with"),
    *(
        "stratum",
        "times_drawn",
        "model",
        "rubric",
        "rubric_version",
        "workspace",
        "channel",
        "thread",
    ),
    *("messages_before", "messages_of_reply", "unread", "judged_at"),
)
_STORED_AS = {
    "case": "id",
    "blind": "is_blind",
    "probability": "label_probability",
    "drawn_with": "probability",
    "workspace": "team_id",
    "channel": "channel_id",
    "messages_of_reply": "messages",
}
"""Columns that are stored under other names."""
_OF_TEXTS = "reason", "prompt", "completion"
"""The columns of a table, also without a row."""

# Of JSONL, CSV and Parquet.
_BEGINNINGS = (b'{"', b"case,", b"channel,", b"team,", b"PAR1")
_LANGFUSE = "langfuse"
_UNKNOWN = (
    "nothing is stored about this person; expected a Slack user id, such as U0123ABCD (their "
    "profile > More > Copy member ID)"
)


def to_langfuse(row: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of Langfuse's `create_dataset_item`.

    The id stays the same, so a second import changes the item. It is different for each person who
    labelled the case, and unique among all datasets of a project.
    """
    id_ = f"{row['thread']}-case-{row['case']}"
    if row["label_by"]:
        id_ += f"-{row['label_by']}"
    texts = {"prompt", "completion"}
    return {
        "dataset_name": "slack-judge",
        "id": id_,
        "input": {"question": row["prompt"], "response": row["completion"]},
        "expected_output": None if row["human"] is None else {"score": row["human"]},
        "metadata": {name: value for name, value in row.items() if name not in texts},
    }


async def export_labels(
    path: Path | None, which: Selection, form: str | None = None, *, has_texts: bool = False
) -> None:
    """Writes the labelled cases, or all cases that count, to a file or the terminal, and prints
    their number.

    `form` is one of `Format` or `langfuse`; by default the one that the file's name implies, or
    else JSONL.
    """
    is_for_langfuse = form == _LANGFUSE
    _check_texts(has_texts, is_for_langfuse)
    kind = find_format(path, files.Format.JSONL if is_for_langfuse else form)
    async with opened.opened_database() as database:
        columns = (*_COLUMNS, *(_OF_TEXTS if has_texts else ()))
        with opened_output(path, kind, columns) as output:
            with opened.reading():
                found = await Labels(database).teams(has_unlabelled=which.has_unlabelled)
            teams = [each for each in found if which.team_id in {None, each}]
            await opened.note(database, Action.EXPORTED_LABELS, teams)
            count, left_out = await export(
                database, output, which, has_texts, is_for_langfuse=is_for_langfuse
            )
    _tell(count, left_out, which)


def _tell(count: int, left_out: int, which: Selection) -> None:
    lines = [f"{number_of(count, 'row' if which.has_unlabelled else 'label')} written"]
    if not (count or which.watched):
        lines.append("--watched writes those of replies that watches drew")
    if left_out:
        lines.append(f"{left_out} left out, because their texts are not in the database")
    typer.echo("\n".join(lines), err=True)


def _check_texts(has_texts: bool, is_for_langfuse: bool) -> None:
    if has_texts and load(StoreSettings).store_text != "full":
        raise BotError("--texts: none are kept (STORE_TEXT=none); leave it out")
    if is_for_langfuse and not has_texts:
        raise BotError("--format langfuse needs texts; add --texts if the file may hold them")


def find_format(path: Path | None, form: str | None) -> files.Format:
    """The format of the file; JSONL for the terminal."""
    if path is None:
        if form in (files.Format.CSV, files.Format.PARQUET):
            raise BotError(f"--format {form} is a file; name it with --output")
        return files.Format.JSONL
    others = {f".{other}" for other in files.Format if other != form}
    if form and path.suffix in others:
        raise BotError(
            f"--output {path}: is written as {form}; end its name in .{form}, or leave out --format"
        )
    return choose_format(path, files.Format(form) if form else None)


async def write_rows(
    path: Path | None,
    form: str | None,
    columns: Sequence[str],
    rows: AsyncIterable[Mapping[str, Any]],
) -> int:
    """Writes rows to a file or the terminal; returns their number."""
    count = 0
    with opened_output(path, find_format(path, form), columns) as output:
        async for row in rows:
            output.write(files.encode(row) + "\n")
            count += 1
    return count


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
        with opened_output(path) as output:
            await opened.note(database, Action.EXPORTED_PERSON, [team_id], user_id=user_id)
            count = 0
            async for document in _readable(personal.rows(team_id, user_id)):
                output.write(
                    json.dumps(document, ensure_ascii=False, default=methodcaller("isoformat"))
                    + "\n"
                )
                count += 1
    typer.echo(f"{number_of(count, 'row')} written", err=True)


@contextmanager
def opened_output(
    path: Path | None, kind: files.Format = files.Format.JSONL, columns: Sequence[str] = ()
) -> Iterator[TextIO]:
    """The file or the terminal, open for JSONL, which becomes a table at the end, with these
    columns first; BotError if it cannot be written.
    """
    try:
        if path is None:
            yield sys.stdout
            sys.stdout.flush()  # so that a closed pipe raises here, not at exit
            return
        _refuse_other_file(path)
        if kind is not files.Format.JSONL:
            with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
                rows = Path(folder, "rows.jsonl")
                with rows.open("w", encoding="utf-8") as output:
                    yield output
                write_table(rows, path, kind, columns=columns)
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


def _refuse_other_file(path: Path) -> None:
    """Raises BotError if there is a file that is not an earlier export."""
    if not path.is_file() or path.is_symlink():  # a link is replaced, not written through
        return
    with path.open("rb") as former:
        beginning = former.read(16).removeprefix(BOM_UTF8)
    if beginning and not beginning.startswith(_BEGINNINGS):
        raise BotError(
            f"--output {path}: not an export, and would be overwritten; name another file"
        )


async def export(
    database: Database,
    output: TextIO,
    which: Selection,
    has_texts: bool = True,
    is_for_langfuse: bool = False,
) -> tuple[int, int]:
    """Writes a row for each label, and if selected for each case without one; counts those written
    and left out.

    If `has_texts` is False, texts are left out; those of a message deleted in Slack always are.
    Rows of the same question, after the same conversation, still share a `prompt_id`. For Langfuse,
    rows without texts are left out. An OSError of `output` is raised as it is.
    """
    count = 0
    left_out = 0
    async for labelled, ratings, conversation in _readable(Exports(database).rows(which)):
        row = to_row(labelled, conversation, has_texts=has_texts)
        row["ratings"] = [
            {"model": rating.model, "served": rating.served, "score": rating.score}
            for rating in ratings
        ]
        if which.low:
            if has_texts:
                row["justification"] = labelled.justification or None
            row["points"] = labelled.points
            row["cause"] = labelled.cause if has_texts else None
        if is_for_langfuse:
            if not row["prompt"]:
                left_out += 1
                continue
            row = to_langfuse(row)
        output.write(files.encode(row) + "\n")
        count += 1
    return count, left_out


async def _readable(rows: AsyncIterator[T]) -> AsyncIterator[T]:
    with (
        opened.reading()
    ):  # covers an OSError of the database, but not one of `output`, which is raised outside
        async for row in rows:
            yield row


def to_row(labelled: Row[Any], conversation: Sequence[Turn], *, has_texts: bool) -> dict[str, Any]:
    """The exported row of a case, with or without a label."""
    labelled_by = None
    if labelled.user_id:
        labelled_by = _pseudonym(labelled.team_id, labelled.user_id)
    # With its reference: scores by two references are those of two judges.
    rubric_versions = [labelled.rubric_version, reference_of(labelled.judge_version)]
    thread_ts = labelled.thread_ts or labelled.parent_ts or labelled.message_ts
    thread = thread_ts or f"case {labelled.id}"
    computed = {
        "prompt_id": _prompt_id(labelled, conversation),
        "label_by": labelled_by,
        # Channels of two workspaces may have one id.
        "stratum": f"{labelled.team_id} {labelled.channel_id} {labelled.judged_at:%G-W%V}",
        "rubric_version": "+".join(version for version in rubric_versions if version) or None,
        "thread": _pseudonym(labelled.team_id, f"{labelled.channel_id}:{thread}"),
        "judged_at": labelled.judged_at.isoformat(),
    }
    row = {
        name: computed[name] if name in computed else getattr(labelled, _STORED_AS.get(name, name))
        for name in _COLUMNS
    }
    return row | _texts(labelled, conversation) if has_texts else row


def _prompt_id(labelled: Row[Any], conversation: Sequence[Turn]) -> str:
    """The same for the same question after the same conversation."""
    question_hash: str = labelled.question_hash
    if not conversation:
        return question_hash
    turns = [[turn.role, turn.text] for turn in conversation]
    return text_hash(files.encode([*turns, question_hash]))


def _texts(labelled: Row[Any], conversation: Sequence[Turn]) -> dict[str, Any]:
    # Texts that are gone are null: readers that take the columns of the first rows would drop the
    # others.
    is_whole = labelled.response is not None
    texts: dict[str, Any] = {
        "reason": labelled.reason,
        "prompt": labelled.question if is_whole else None,
        "completion": labelled.response,
    }
    if is_whole and conversation:
        texts["conversation"] = [{"role": turn.role, "content": turn.text} for turn in conversation]
    return texts


def _pseudonym(team_id: str, what: str) -> str:
    """A pseudonym of a person or thread; someone who knows the workspace's ids can reverse it."""
    return hashlib.sha256(f"{team_id}:{what}".encode()).hexdigest()[:12]
