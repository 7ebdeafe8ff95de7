"""`judge-bot export`: labelled cases as JSONL, in the form that `judge agreement --label human` reads."""

import hashlib
import json
import sys
from collections.abc import AsyncIterator
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

import typer
from sqlalchemy.exc import DBAPIError

from bot.commands.operator import operator
from bot.errors import BotError, LogError
from bot.log import Store
from bot.log.audit import Act, Action
from bot.log.errors import LOG_ERRORS, reason_of
from bot.log.labels import LabelledCase, Labels
from bot.log.private import private
from bot.settings import load_log_settings

_RATER_DIGITS = 12


async def export_to(path: Path | None, since: datetime | None) -> None:
    """Writes the labelled cases to a file, or to the terminal, and says how many.

    Raises:
        BotError: The log cannot be read, or the file cannot be written.
    """
    settings = load_log_settings()
    store = await Store.open(settings.database_url)
    try:
        with _open(path) if path else nullcontext(sys.stdout) as output:
            await _note_export(store)
            count = await export(store.labels, output, since, has_texts=settings.store_text == "full")
            output.flush()  # here, and not at exit, is found out that nobody reads
    except BrokenPipeError:
        raise  # whoever read our output has gone; Typer ends the command in silence, with exit code 1
    except OSError as exc:
        name = f"--output {path}" if path else "the output"
        raise BotError(f"{name}: cannot be written ({exc.strerror}); name another file") from exc
    finally:
        await store.close()
    typer.echo(f"{count} {'label' if count == 1 else 'labels'} written", err=True)


async def _note_export(store: Store) -> None:
    try:
        teams = await store.labels.teams()
        await store.audit.note([Act(team_id, operator(), Action.EXPORTED_LABELS) for team_id in teams])
    except LOG_ERRORS as exc:
        raise LogError(f"the log cannot be written ({reason_of(exc)}); nothing was exported") from exc


def _open(path: Path) -> TextIO:
    return open(path, "w", encoding="utf-8", opener=private)


async def export(labels: Labels, output: TextIO, since: datetime | None = None, has_texts: bool = True) -> int:
    """Writes a row for each label and gives their number.

    `has_texts` False leaves the texts out, as are those of a message that was deleted in Slack; rows of the same
    question are still known as such by `prompt_id`.

    Raises:
        LogError: The log cannot be read.
        OSError: `output` cannot be written.
    """
    count = 0
    async for labelled in _labelled_cases(labels, since):
        output.write(json.dumps(_to_row(labelled, has_texts), ensure_ascii=False) + "\n")
        count += 1
    return count


async def _labelled_cases(labels: Labels, since: datetime | None) -> AsyncIterator[LabelledCase]:
    try:
        async for labelled in labels.labelled_cases(since):
            yield labelled
    except LOG_ERRORS as exc:  # an OSError of the database's; one of `output` is raised outside of here
        reason = str(exc.orig if isinstance(exc, DBAPIError) else exc) or "no answer in time"
        raise LogError(f"the log cannot be read ({reason}); the export is not complete") from exc


def _to_row(labelled: LabelledCase, has_texts: bool) -> dict[str, Any]:
    row = {
        "case": labelled.id,
        "prompt_id": labelled.question_hash,
        "score": labelled.score,
        "human": labelled.human,
        "label_by": _pseudonym(labelled.team_id, labelled.user_id),
        "model": labelled.model,
        "rubric": labelled.rubric,
        "rubric_version": labelled.rubric_version,
        "channel": labelled.channel_id,
        "judged_at": labelled.judged_at.isoformat(),
    }
    if has_texts:
        row["reason"] = labelled.reason
    if has_texts and labelled.response is not None:
        row |= {"prompt": labelled.question, "completion": labelled.response}
    return row


def _pseudonym(team_id: str, user_id: str) -> str:
    """Tells people apart without naming them; whoever knows the workspace's user ids can undo it."""
    return hashlib.sha256(f"{team_id}:{user_id}".encode()).hexdigest()[:_RATER_DIGITS]
