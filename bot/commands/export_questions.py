"""`judge-bot export --questions`: the questions to watched assistants and what came of them, without
words.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import typer

from bot.commands import opened
from bot.commands.export import write_rows
from bot.domain.clock import utc_now
from bot.domain.outcome import Outcome, Sign
from bot.domain.questions import Question
from bot.domain.standing import Subject, subject_of
from bot.figures.outcomes import KEPT_FOR, read_outcomes, read_scored
from bot.store.audit import Action
from bot.store.database import Database
from bot.store.schema import watches
from bot.store.watches import Watches
from judge.scoring.numbers import number_of

_COLUMNS = (
    *("channel", "asked_at", "ts", "thread_ts", "assistant", "first_words_s", "answered_s"),
    *("colleague_stepped_in", "came_back", "confirmed", "contested", "handed_over", "outcome"),
    "case",
)


async def export_questions(
    path: Path | None,
    form: str | None,
    since: datetime | None,
    team_id: str | None,
    channel_id: str | None,
) -> None:
    """Writes a row for each question whose messages are kept, and prints their number: from that
    time on, or of a workspace or channel alone, if they are given.
    """
    async with opened.opened_database() as database:
        with opened.reading():
            subjects = await _subjects(database, team_id, channel_id)
        count = await write_rows(path, form, _COLUMNS, _noted(database, subjects, since))
    typer.echo(f"{number_of(count, 'question')} written", err=True)


async def _noted(
    database: Database, subjects: Mapping[Subject, Sequence[str]], since: datetime | None
) -> AsyncIterator[Mapping[str, Any]]:
    """All rows, once it is noted that they are exported."""
    teams = sorted({subject.team_id for subject in subjects})
    await opened.note(database, Action.EXPORTED_QUESTIONS, teams)
    for subject, channels in subjects.items():
        async for row in _rows(database, subject, channels, since):
            yield row


async def _subjects(
    database: Database, only_team: str | None, only_channel: str | None
) -> Mapping[Subject, Sequence[str]]:
    """The watched assistants with their channels."""
    found = defaultdict[Subject, list[str]](list)
    for team_id in await database.values(sa.select(watches.c.team_id).distinct()):
        if only_team not in {None, team_id}:
            continue
        for watch in await Watches(database).of(team_id):
            if only_channel in {None, watch.channel_id}:
                found[subject_of(watch)].append(watch.channel_id)
    return found


async def _rows(
    database: Database, subject: Subject, channel_ids: Sequence[str], first: datetime | None
) -> AsyncIterator[Mapping[str, Any]]:
    now = utc_now()
    since = now - KEPT_FOR
    if first:
        since = max(since, first)
    with opened.reading():
        outcomes = await read_outcomes(database, subject, channel_ids, since, now)
        replies = await read_scored(database, subject, channel_ids, since)
    for outcome in outcomes:
        reply = replies.of(outcome.question)
        row = {"assistant": subject.author_id, **_to_row(outcome), "case": reply and reply.id}
        yield {name: row[name] for name in _COLUMNS}


def _to_row(outcome: Outcome) -> Mapping[str, Any]:
    question = outcome.question
    no_sign = False if outcome.is_read else None
    return {
        "channel": question.channel_id,
        "asked_at": question.asked_at.isoformat(),
        "ts": question.ts,
        "thread_ts": question.thread_ts,
        "first_words_s": _seconds(question.waited),
        "answered_s": _answered(question),
        "colleague_stepped_in": question.by_colleague,
        "came_back": question.came_back,
        "confirmed": Sign.CONFIRMED in outcome.signs or no_sign,
        "contested": Sign.CONTESTED in outcome.signs or no_sign,
        "handed_over": Sign.HANDED_OVER in outcome.signs or no_sign,
        "outcome": _name_of(outcome),
    }


def _name_of(outcome: Outcome) -> str:
    if outcome.is_waiting:
        return "waiting"
    if Sign.UNANSWERED in outcome.signs:
        return "unanswered"
    return Sign.QUIET if Sign.QUIET in outcome.signs else "answered"


def _answered(question: Question) -> float | None:
    if question.answered_at is None:
        return None
    return _seconds(question.answered_at - question.asked_at)


def _seconds(wait: timedelta | None) -> float | None:
    return None if wait is None else round(wait.total_seconds(), 1)
