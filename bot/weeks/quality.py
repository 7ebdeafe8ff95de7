"""What people would say of a channel's replies: the judge's scores, corrected by labels that were given blind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.domain.watch import Coverage
from bot.log.counts import Kind, Place, ScoredCount, Span
from bot.log.tallies import Tallies
from bot.weeks.week import Week
from judge.rubric import Scale
from judge.stats import MeanEstimate, MeanEstimator, good_from

WEEKS = 4
_ALL_OF_IT: Mapping[str, Coverage] = {}


@dataclass(frozen=True)
class Quality:
    """The last four weeks, of one judge version.

    Attributes:
        mean: The mean score.
        good: The share of replies with at least `good_from`.
    """

    mean: MeanEstimate
    good: MeanEstimate
    good_from: int


async def read_quality(tallies: Tallies, place: Place, week: Week, until: datetime, kind: Kind) -> Quality | None:
    """The quality of the four weeks up to that moment, which is in `week`; None without a score."""
    span = Span(week.before(WEEKS - 1).start, until)
    return to_quality(await tallies.blind(place, span, kind), Scale(*kind.scale))


def to_quality(
    rows: Sequence[ScoredCount], scale: Scale, coverage: Mapping[str, Coverage] = _ALL_OF_IT
) -> Quality | None:
    """The quality that the rows come to; None without any.

    Of what a watch has drawn, each row stands for as many replies as its draw and the `coverage` of its day say.
    """
    mean, good = MeanEstimator(scale), MeanEstimator(Scale(0, 1))
    stands_for = [_stands_for(row, coverage) for row in rows]
    replies = sum(each * row.number for each, row in zip(stands_for, rows, strict=True))
    number = sum(row.number for row in rows)
    for each, row in zip(stands_for, rows, strict=True):
        _add(row, each * number / replies, mean, good, good_from(scale))
    estimates = mean.estimate(), good.estimate()
    return Quality(estimates[0], estimates[1], good_from(scale)) if estimates[0] and estimates[1] else None


def _stands_for(row: ScoredCount, coverage: Mapping[str, Coverage]) -> float:
    """For how many replies a score stands."""
    found = coverage.get(row.day or "")
    return 1 / ((row.drawn_with or 1.0) * (found.share if found else 1.0))


def _add(row: ScoredCount, weight: float, mean: MeanEstimator, good: MeanEstimator, limit: int) -> None:
    is_good = None if row.label is None else float(row.label >= limit)
    evidence: Mapping[str, Any] = {
        "probability": row.probability or 1.0,
        "cluster": row.thread_ts,
        "weight": weight,
        "times": row.number,
    }
    mean.add(row.score, row.label, **evidence)
    good.add(float(row.score >= limit), is_good, **evidence)
