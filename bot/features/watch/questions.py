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


@dataclass(frozen=True)
class Questions:
    """`changed` says how the questions differ; `line` is that, or what is alike; empty if unknown."""

    changed: str = ""
    line: str = ""


async def compare_questions(
    database: Database, before: Collection[int], after: Collection[int]
) -> Questions:
    """Compares the questions of earlier cases with those of later ones, both given by their ids."""
    rows_before = await _rows(database, before)
    rows_after = await _rows(database, after)
    changed = list[str]()
    alike = list[str]()
    for measure in _MEASURES:
        was = _estimate(measure, rows_before)
        now = _estimate(measure, rows_after)
        moved = difference(now, was, tail=_TAIL / len(_MEASURES)) if now and was else None
        if not (now and was and moved):
            continue
        if moved.is_clear:
            is_now = measure.words(now.judge.mean)
            changed.append(f"{measure.name} {is_now}, was {measure.words(was.judge.mean)}")
        else:
            alike.append(measure.name)
    if changed:
        words = "; ".join(changed)
        return Questions(words, f"The questions have changed: {words}.")
    if alike:
        names = " and ".join(filter(None, [", ".join(alike[:-1]), alike[-1]]))
        are = "is" if alike == ["length"] else "are"
        return Questions("", f"{names.capitalize()} {are} alike; difficulty is not compared.")
    return Questions()


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
