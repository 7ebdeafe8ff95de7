"""`judge-bot export`: labelled cases, or all, as `judge agreement` and `judge estimate` read them; or one person."""

import hashlib
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO, TypeVar

import typer
from sqlalchemy import Row

from bot.commands.opened import note, opened_database, operator, reading
from bot.errors import BotError
from bot.settings import load_log_settings
from bot.store.audit import Act, Action, Audit
from bot.store.database import Database
from bot.store.export import Exports, Selection
from bot.store.labels import Labels
from bot.store.privacy import Personal
from judge.files import written_beside

T = TypeVar("T")

_DIGITS = 12
_LONGEST_ID = 40


async def export_labels(
    path: Path | None, since: datetime | None, *, has_unlabelled: bool = False, watched: bool = False
) -> None:
    """Writes the labelled cases to a file, or to the terminal, and says how many; or all cases that count.

    Those that people chose, or instead (`watched`) those that watches drew.

    Raises:
        BotError: The log cannot be read, or the file cannot be written.
    """
    settings = load_log_settings()
    async with opened_database() as database:
        with _output(path) as output:
            with reading():
                teams = await Labels(database).teams(has_unlabelled=has_unlabelled)
            await note(database, [Act(team_id, operator(), Action.EXPORTED_LABELS) for team_id in teams])
            has_texts = settings.store_text == "full"
            count = await export(database, output, Selection(since, has_unlabelled, watched), has_texts)
    what = "row" if has_unlabelled else "label"
    typer.echo(f"{count} {what if count == 1 else f'{what}s'} written", err=True)


async def export_person(path: Path | None, user: str) -> None:
    """Writes all that is stored of a person, a JSON document for each row, and says how many.

    Args:
        path: The file; None is the terminal.
        user: Their Slack user id, or after the id of their workspace and a slash.

    Raises:
        BotError: Nothing is stored of them, it is not clear who is meant, or as `export_labels`.
    """
    async with opened_database() as database:
        personal = Personal(database, Audit(database))
        team_id, user_id = await _find_person(personal, user)
        with _output(path) as output:
            await note(database, [Act(team_id, operator(), Action.EXPORTED_PERSON, user_id=user_id)])
            count = 0
            async for kind, columns in _readable(personal.rows(team_id, user_id)):
                document = {"kind": kind, **columns}
                output.write(json.dumps(document, ensure_ascii=False, default=datetime.isoformat) + "\n")
                count += 1
    typer.echo(f"{count} {'row' if count == 1 else 'rows'} written", err=True)


async def _find_person(personal: Personal, user: str) -> tuple[str, str]:
    team_id, _, user_id = user.rpartition("/")
    with reading():
        teams = [each for each in await personal.teams(user_id) if team_id in {"", each}]
    if not teams:
        raise BotError(
            f"--user {user[:_LONGEST_ID]!r}: nothing is stored of this person; expected a Slack user id, such as "
            "U0123ABCD (their profile > More > Copy member ID)"
        )
    if len(teams) > 1:
        names = ", ".join(f"--user {each}/{user_id}" for each in teams)
        raise BotError(f"--user {user!r}: there is one in each of {len(teams)} workspaces; say which: {names}")
    return teams[0], user_id


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """The file, or the terminal; what cannot be written is a sentence."""
    try:
        with _open(path) as output:
            yield output
            output.flush()  # here, and not at exit, is found out that nobody reads
    except BrokenPipeError:
        raise  # whoever read our output has gone; Typer ends the command in silence, with exit code 1
    except OSError as exc:
        name = f"--output {path}" if path else "the output"
        raise BotError(f"{name}: cannot be written ({exc.strerror}); name another file") from exc


@contextmanager
def _open(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
    elif path.exists() and not path.is_file():  # a pipe, or a device
        with path.open("w", encoding="utf-8") as output:
            yield output
    else:
        with written_beside(path) as file, TextIOWrapper(file, encoding="utf-8") as output:
            yield output


async def export(database: Database, output: TextIO, which: Selection, has_texts: bool = True) -> int:
    """Writes a row for each label, or also for each case without, and gives their number.

    `has_texts` False leaves the texts out, as are those of a message that was deleted in Slack; rows of the same
    question are still known as such by `prompt_id`.

    Raises:
        LogError: The log cannot be read.
        OSError: `output` cannot be written.
    """
    count = 0
    async for labelled, _ in _readable(Exports(database).rows(which)):
        output.write(json.dumps(to_row(labelled, has_texts), ensure_ascii=False) + "\n")
        count += 1
    return count


async def _readable(rows: AsyncIterator[T]) -> AsyncIterator[T]:
    with reading():  # an OSError of the database's; one of `output` is raised outside of here
        async for row in rows:
            yield row


def to_row(labelled: Row[Any], has_texts: bool) -> dict[str, Any]:
    """A case with a label, or without, as it is exported."""
    row = {
        "case": labelled.id,
        "prompt_id": labelled.question_hash,
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
        "rubric_version": labelled.rubric_version,
        "channel": labelled.channel_id,
        "thread": _thread(labelled),
        "judged_at": labelled.judged_at.isoformat(),
    }
    if has_texts:
        row["reason"] = labelled.reason
    if has_texts and labelled.response is not None:
        row |= {"prompt": labelled.question, "completion": labelled.response}
    return row


def _thread(labelled: Row[Any]) -> str:
    ts = labelled.thread_ts or labelled.parent_ts or labelled.message_ts or f"case {labelled.id}"
    return _pseudonym(labelled.team_id, f"{labelled.channel_id}:{ts}")


def _pseudonym(team_id: str, what: str) -> str:
    """Tells people, or threads, apart without naming them; whoever knows the workspace's ids can undo it."""
    return hashlib.sha256(f"{team_id}:{what}".encode()).hexdigest()[:_DIGITS]
