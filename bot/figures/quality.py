"""How far the judge agrees with people's labels: the measures of `judge agreement` that a digest
has room for.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from operator import attrgetter
from typing import TypeVar

from bot.domain.verdict import MADE_UP, OFFLINE
from bot.domain.watch import Coverage
from bot.store.figures import CountedCase, LabelledCount
from judge.evaluation.estimate import Counted, corrected_mean
from judge.evaluation.selection import UNLIKE
from judge.evaluation.severity import Given
from judge.evaluation.stats import Interval, MeanEstimate, wilson
from judge.scoring.numbers import number_of
from judge.scoring.rubric import Scale

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class Agreement:
    """Of how many cases the judge's score is at most one apart from people's label; several labels
    of a case count as their rounded mean.
    """

    n: int
    within_one: Interval


def add_up(counts: Iterable[tuple[K, int]]) -> Counter[K]:
    total = Counter[K]()
    for each, number in counts:
        total[each] += number
    return total


def to_agreement(rows: Iterable[LabelledCount]) -> Agreement | None:
    """The agreement in the rows of `Tallies.labelled`; None without a label.

    Of blind labels, what is drawn more often weighs less; the range is that of as many labels of
    equal weight as say as much (Kish).
    """
    n = 0
    near = weights = squares = 0.0
    for row in rows:
        label = floor(row.total / row.people + 0.5)
        weight = 1 / row.times_drawn if row.is_blind else 1.0
        n += row.number
        weights += row.number * weight
        squares += row.number * weight**2
        if abs(row.score - label) <= 1:
            near += row.number * weight
    if not n:
        return None
    effective = weights**2 / squares
    return Agreement(n, wilson(near / weights * effective, effective))


def agreement_words(agreement: Agreement) -> str:
    """The share of cases within one point, with its range, once there are enough."""
    is_enough = agreement.n >= ENOUGH_LABELS
    said = span(agreement.within_one, ".0%") if is_enough else "too few to say"
    return f"{said} ({number_of(agreement.n, 'reply', 'replies')})"


WEEKS = 4
ENOUGH_LABELS = 20
AGREEMENT = "Judge within one point of people's labels"


@dataclass(frozen=True)
class Quality:
    """The quality of replies, by one judge version.

    `mean` is not corrected by labels that were chosen by quality, however many there are.
    `has_gap`: weeks with many of the scores have no label, so that other weeks' labels would speak
    for them. `severity` says whose average it is, or that it follows one person.
    """

    mean: MeanEstimate
    has_gap: bool = False
    severity: str = ""


def grouped(pairs: Iterable[tuple[K, V]]) -> Mapping[K, list[V]]:
    found = defaultdict[K, list[V]](list)
    for key, value in pairs:
        found[key].append(value)
    return found


def to_quality(
    scored: Sequence[CountedCase],
    scale: Scale,
    coverage: Mapping[str, Coverage] | None = None,
) -> Quality | None:
    """The quality computed from scores of one kind; None without a score.

    A watched reply stands for more replies, according to its draw and the `coverage` of its day. A
    label stands for its week. Its weight follows from how many of that week's replies have a label,
    because a week that is still being labelled has fewer labels than its draw says.
    """
    replies = [
        _to_counted(case, (coverage or {}).get(case.day or ""))
        for case in sorted(scored, key=attrgetter("id"))
    ]
    mean, severities = corrected_mean(replies, scale)
    if mean is None:
        return None
    return Quality(mean, _has_gap(replies), " ".join(severities.words(is_named=False)))


def _to_counted(case: CountedCase, seen: Coverage | None) -> Counted:
    drawn = (case.drawn_with or 1.0) * (seen.share if seen else 1.0)
    return Counted(
        score=case.score,
        given=_by_whom(case.given),
        stratum=case.week,
        times_drawn=case.times_drawn,
        cluster=case.thread,
        weight=1 / drawn,
    )


def _has_gap(replies: Sequence[Counted]) -> bool:
    """Whether weeks with many of the replies have no label at all."""
    labelled_weeks = {reply.stratum for reply in replies if reply.given}
    unlabelled = sum(reply.weight for reply in replies if reply.stratum not in labelled_weeks)
    # A smaller share of the scores may be the beginning of a week, which is still to be labelled.
    return unlabelled > 0.15 * sum(reply.weight for reply in replies)


def _by_whom(given: str | None) -> Given:
    """The blind labels of a case, each with who gave it."""
    labels = [label.rpartition(" ") for label in (given or "").split(",") if label]
    return [(person, float(score)) for person, _, score in labels]


_NO_MODEL = {
    OFFLINE: "the offline rater's, which is not a judge",
    MADE_UP: "made up for the demo",
}


def as_people(quality: Quality | None, when: str) -> str:
    """What people would score on average in that time, corrected by blind labels; empty with too
    few of these.
    """
    if quality is None or quality.has_gap or quality.mean.missing:
        return ""
    if quality.mean.corrected is None:
        return f"As people score, {when}: unknown, because {UNLIKE}."
    labels = number_of(quality.mean.labelled, "blind label")
    said = f"As people score, {when}: {span(quality.mean.corrected, '.1f', '*')}, by {labels}"
    # A standing's level, which people read beside this, may be of other days.
    judge = f"the judge's mean of the same days is {quality.mean.judge.mean:.1f}"
    return f"{said}; {judge}. {quality.severity}".rstrip()


def caveat(raters: Mapping[str | None, int]) -> str:
    """What is to be said beside figures of scores that no model gave; empty if there are none."""
    total = sum(raters.values())
    parts = list[str]()
    for rater, how in _NO_MODEL.items():
        if number := raters.get(rater, 0):
            parts.append(f"{number:,} of these {total:,} scores are {how}.")
    return f":warning: {' '.join(parts)}" if parts else ""


def span(interval: Interval | None, form: str, mark: str = "") -> str:
    if interval is None or interval.low is None:
        return "unknown"
    return (
        f"{mark}{interval.mean:{form}}{mark}, between {interval.low:{form}} and "
        f"{interval.high:{form}}"
    )
