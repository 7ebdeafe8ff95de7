"""`judge-bot export --questions`: the questions to watched assistants and what came of them, without
words.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import typer

from bot.commands import opened
from bot.commands.export import find_format, opened_output
from bot.domain.clock import utc_now
from bot.domain.outcome import Question, questions_to
from bot.store.audit import Action
from bot.store.database import Database
from bot.store.schema import cases, watches
from bot.store.seen_messages import SeenMessages
from judge.rows import files
from judge.scoring.numbers import number_of

_ALL = timedelta(weeks=5)


async def export_questions(path: Path | None, form: str | None) -> None:
    """Writes a row for each question of the last five weeks, and prints their number."""
    kind = find_format(path, form)
    async with opened.opened_database() as database:
        with opened.reading():
            query = sa.select(watches.c.team_id, watches.c.author_id, watches.c.channel_id)
            watched = await database.all(query.order_by(*query.selected_columns))
        count = 0
        with opened_output(path, kind) as output:
            teams = sorted({row.team_id for row in watched})
            await opened.note(database, Action.EXPORTED_QUESTIONS, teams)
            for row in watched:
                async for question in _rows(database, row.team_id, row.author_id, row.channel_id):
                    output.write(files.encode(question) + "\n")
                    count += 1
    typer.echo(f"{number_of(count, 'question')} written", err=True)


async def _rows(
    database: Database, team_id: str, assistant_id: str, channel_id: str
) -> AsyncIterator[Mapping[str, Any]]:
    now = utc_now()
    with opened.reading():
        messages = await SeenMessages(database).of(team_id, [channel_id], now - _ALL)
        here = {"team_id": team_id, "channel_id": channel_id, "author_id": assistant_id}
        scored = sa.select(cases.c.message_ts, cases.c.id).filter_by(**here)
        found = await database.all(scored.where(cases.c.probability.is_not(None)))
    case_ids = {row.message_ts: row.id for row in found}
    for question in questions_to(assistant_id, messages, now):
        outcome = "answered"
        if question.answer_ts is None:
            outcome = "waiting" if question.is_waiting(now) else "unanswered"
        yield {
            "channel": channel_id,
            "asked_at": question.asked_at.isoformat(),
            "ts": question.ts,
            "thread_ts": question.thread_ts,
            "assistant": assistant_id,
            "first_words_s": _seconds(question.waited),
            "answered_s": _answered(question),
            "colleague_stepped_in": question.by_colleague,
            "came_back": question.came_back,
            "outcome": outcome,
            "case": case_ids.get(question.answer_ts or ""),
        }


def _answered(question: Question) -> float | None:
    if question.answered_at is None:
        return None
    return _seconds(question.answered_at - question.asked_at)


def _seconds(wait: timedelta | None) -> float | None:
    return None if wait is None else round(wait.total_seconds(), 1)
