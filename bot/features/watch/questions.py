"""Whether the questions have changed beside the scores: their length, who asks, and the share of follow-ups."""

from collections.abc import Sequence
from datetime import timedelta
from math import log2
from typing import Any

import sqlalchemy as sa

from bot.features.watch.again import Change
from bot.store.database import Database
from bot.store.figures import Place, Span
from bot.store.schema import cases
from bot.store.tallies import is_public
from judge.evaluation.stats import MeanEstimate, MeanEstimator, difference
from judge.scoring.rubric import Scale

_TEN = 10  # askers are counted among ten replies in a row
_HIGHEST = {"length": 17, "askers": _TEN, "follow-ups": 1}  # of a text, in doublings: at most 100,000 characters
_TAIL = 0.025 / len(_HIGHEST)


async def questions_line(database: Database, place: Place, change: Change) -> str:
    """The line of an alert: what has clearly changed, or what is alike; empty if too little is known."""
    columns = cases.c.question_author_id, cases.c.messages_before, sa.func.length(cases.c.question).label("length")
    times = [each.judged_at for of in (change.before, change.after) for each in of]
    span = Span(min(times), max(times) + timedelta(seconds=1))
    rows = {row.id: row for row in await database.all(sa.select(cases.c.id, *columns).where(is_public(place, span)))}
    before, after = (_values([rows[each.id] for each in of if each.id in rows]) for of in (change.before, change.after))
    changed, alike = list[str](), list[str]()
    for name, highest in _HIGHEST.items():
        now, was = (_estimate(of[name], highest) for of in (after, before))
        moved = difference(now, was, _TAIL) if now and was else None
        if now and was and moved:
            words = f"{name} {_shown(name, now.judge.mean)}, was {_shown(name, was.judge.mean)}"
            (changed if moved.is_clear else alike).append(words if moved.is_clear else name)
    said = f"The questions have changed: {'; '.join(changed)}." if changed else f"Questions alike: {', '.join(alike)}."
    return said if changed or alike else ""


def _values(rows: Sequence[sa.Row[Any]]) -> dict[str, list[float]]:
    askers = [row.question_author_id for row in rows if row.question_author_id]
    tens = range(0, len(askers) - _TEN + 1, _TEN)
    return {
        "length": [log2(row.length) for row in rows if row.length],
        "askers": [len(set(askers[begin : begin + _TEN])) for begin in tens],
        "follow-ups": [float(row.messages_before > 0) for row in rows],
    }


def _estimate(values: Sequence[float], highest: int) -> MeanEstimate | None:
    mean = MeanEstimator(Scale(0, highest))
    for each in values:
        mean.add(each)
    return mean.estimate()


def _shown(name: str, mean: float) -> str:
    forms = {"length": f"{2**mean:.0f} characters", "askers": f"{mean:.1f} in ten questions"}
    return forms.get(name) or f"{mean:.0%}"
