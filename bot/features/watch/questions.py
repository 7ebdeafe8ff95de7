"""What has clearly changed about the questions of two spans of time: how long they are, who asks,
and whether they follow up.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import sqlalchemy as sa

from bot.store.database import Database
from bot.store.schema import cases
from judge.evaluation.stats import MeanEstimate, MeanEstimator, difference
from judge.scoring.rubric import Scale

_TEN = 10
_TAIL = 0.025


@dataclass(frozen=True)
class _Measure:
    """One property of questions: its name, its largest value, how to read it, and how to say it."""

    name: str
    highest: int
    values: Callable[[Sequence[sa.Row[Any]]], list[float]]
    words: Callable[[float], str]


def _lengths(rows: Sequence[sa.Row[Any]]) -> list[float]:
    return [log2(row.length) for row in rows if row.length]


def _askers(rows: Sequence[sa.Row[Any]]) -> list[float]:
    """How many people asked each ten questions in a row."""
    askers = [row.question_author_id for row in rows if row.question_author_id]
    begins = range(0, len(askers) - _TEN + 1, _TEN)
    return [float(len(set(askers[begin : begin + _TEN]))) for begin in begins]


def _follow_ups(rows: Sequence[sa.Row[Any]]) -> list[float]:
    return [float(row.messages_before > 0) for row in rows]


# The longest text is 100,000 characters, which are 17 doublings.
_MEASURES = (
    _Measure("length", 17, _lengths, lambda mean: f"{2**mean:.0f} characters"),
    _Measure("askers", _TEN, _askers, lambda mean: f"{mean:.1f} in ten questions"),
    _Measure("follow-ups", 1, _follow_ups, lambda mean: f"{mean:.0%}"),
)


MIX_MOVED = "The questions have changed: other topics are asked about, and none of them has clearly changed."


async def compare_questions(
    database: Database, before: Collection[int], after: Collection[int]
) -> str:
    """How the questions of later cases clearly differ from those of earlier ones, both given by
    their ids; empty if they do not.
    """
    rows_before = await _rows(database, before)
    rows_after = await _rows(database, after)
    changed = list[str]()
    for measure in _MEASURES:
        was = _estimate(measure, rows_before)
        now = _estimate(measure, rows_after)
        moved = difference(now, was, tail=_TAIL / len(_MEASURES)) if now and was else None
        if now and was and moved and moved.is_clear:
            is_now = measure.words(now.judge.mean)
            changed.append(f"{measure.name} {is_now}, was {measure.words(was.judge.mean)}")
    return f"The questions have changed: {'; '.join(changed)}." if changed else ""


async def _rows(database: Database, case_ids: Collection[int]) -> Sequence[sa.Row[Any]]:
    length = sa.func.length(cases.c.question).label("length")
    columns = cases.c.question_author_id, cases.c.messages_before, length
    query = sa.select(*columns).where(cases.c.id.in_(case_ids))
    return await database.all(query.order_by(cases.c.judged_at, cases.c.id))


def _estimate(measure: _Measure, rows: Sequence[sa.Row[Any]]) -> MeanEstimate | None:
    mean = MeanEstimator(Scale(0, measure.highest))
    for value in measure.values(rows):
        mean.add(value)
    return mean.estimate()
