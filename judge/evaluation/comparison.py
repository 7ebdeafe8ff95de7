"""Two outputs of one judge compared: by pairs where they share questions, otherwise by their means."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from statistics import median
from typing import NamedTuple

from judge.evaluation.distributions import t_quantile
from judge.evaluation.outputs import Output, OutputRow
from judge.evaluation.planning import to_be_seen
from judge.evaluation.selection import Candidate, why_uncorrected
from judge.evaluation.severity import NOBODYS, Severities, apart_shares
from judge.evaluation.stats import (
    Interval,
    MeanEstimate,
    MeanEstimator,
    difference,
    minus,
    paired,
    paired_difference,
)
from judge.scoring.rubric import Scale

SURE = 30
"""Pairs with the same texts that show by how much the judge itself has changed."""
_FEW = 0.1  # pairs in so few of the rows have a question in common by chance
_FEWEST_EQUAL = 5  # outputs that are equal to the letter, to be taken for those of a cache


class Pair(NamedTuple):
    """Two rows with one prompt and a score each."""

    before: OutputRow
    now: OutputRow

    @property
    def change(self) -> int:
        return (self.now.score or 0) - (self.before.score or 0)


@dataclass
class Comparison:
    """Compares when it is made.

    Attributes:
        same: The pairs with the same texts: what differs in their scores is the judge's.
        pairs: The other pairs.
        alone: How many rows before, and now, have no partner.
        by_means: Whether the means of all rows were compared, for want of pairs.
        is_cached: Whether the judge said the same to the letter about all texts that it got twice.
        own: The judge's own difference.
        difference: By the judge.
        people: The same as people would score; None with too few labels, or if they cannot tell.
        why_not: Why it is not corrected by labels, if these were enough.
        labels: How many labelled rows of each output there are; with pairs, those of both.
        has_names: Whether all labels say who gave them.
        n: How many independent ones the difference is of.
        groups: Those within which means were compared; none if all rows were.
    """

    before: Output
    now: Output
    scale: Scale
    same: list[Pair] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    alone: tuple[int, int] = (0, 0)
    by_means: bool = False
    is_cached: bool = False
    own: Interval | None = None
    difference: Interval | None = None
    people: Interval | None = None
    why_not: str = ""
    labels: tuple[int, int] = (0, 0)
    has_names: bool = True
    n: float = 0
    groups: list[str] = field(default_factory=list)
    has_more_unscored: bool = False

    def __post_init__(self) -> None:
        matched = self._match()
        self._compare_unscored()
        self.own = paired(((pair.change, pair.now.cluster) for pair in self.same), self.scale)
        self.is_cached = len(self.same) >= _FEWEST_EQUAL and all(
            pair.now.answer is not None and pair.now.answer == pair.before.answer
            for pair in self.same
        )
        fewest = min(len(self.before.rows), len(self.now.rows))
        self.by_means = matched < max(1, _FEW * fewest)
        if self.by_means:
            self._compare_means()
        else:
            self._compare_pairs()

    @property
    def _outputs(self) -> tuple[Output, Output]:
        return self.before, self.now

    @property
    def corrected(self) -> Interval | None:
        """The difference by people's labels if there are enough, or without the judge's own where
        that is known.
        """
        if self.people:
            return self.people
        own = self.own
        is_known = own and not self.is_cached and (len(self.same) >= SURE or own.is_clear)
        if self.difference is None or own is None or not is_known or not self.pairs:
            return None
        share = sum(pair.now.is_judged for pair in self.pairs) / len(self.pairs)
        low = None if own.low is None else own.low * share
        high = None if own.high is None else own.high * share
        return minus(self.difference, Interval(own.mean * share, low, high))

    @property
    def change(self) -> Interval | None:
        return self.corrected or self.difference

    @property
    def outcome(self) -> str:
        change = self.change
        if change is None or not change.is_clear:
            return "not clearly worse"
        return "clearly better" if change.mean > 0 else "clearly worse"

    @property
    def seen(self) -> float | None:
        """The drop that would be clear in 4 of 5 such comparisons."""
        return to_be_seen(self.change, self.n) if self.change else None

    @property
    def means(self) -> tuple[float, float] | None:
        """The means that are compared, before and now; None if there is none."""
        before = [row.score for row in self.before.rows if row.score is not None]
        now = [row.score for row in self.now.rows if row.score is not None]
        if not self.by_means:
            before = [pair.before.score or 0 for pair in self.pairs]
            now = [pair.now.score or 0 for pair in self.pairs]
        if not before or not now:
            return None
        return sum(before) / len(before), sum(now) / len(now)

    @property
    def words(self) -> tuple[float, float]:
        """How long the questions are, before and now: the median of their words."""
        before, now = (median(row.words for row in each.rows) for each in (self.before, self.now))
        return before, now

    @property
    def could_fail(self) -> bool:
        """Whether scores on the scale could be clearly worse."""
        means = self.means
        seen = self.seen
        if means is None or seen is None:
            return False
        low, high = self.scale
        # Where the mean before is near the lowest score already, that is not for want of rows.
        return seen <= max(means[0] - low, (high - low) / 2)

    def _match(self) -> int:
        """Finds the pairs, and returns how many rows have a partner."""
        earlier = defaultdict[int, list[OutputRow]](list)
        for row in self.before.rows:
            earlier[row.prompt].append(row)
        matched = 0
        for row in self.now.rows:
            partner = _partner(row, earlier[row.prompt])
            if partner is None:
                continue
            matched += 1
            if row.score is None or partner.score is None:
                continue
            is_same = partner.texts is not None and partner.texts == row.texts
            kept = self.same if is_same else self.pairs
            kept.append(Pair(partner, row))
        self.alone = (sum(map(len, earlier.values())), len(self.now.rows) - matched)
        return matched

    def _compare_pairs(self) -> None:
        labelled = [bool(pair.now.given and pair.before.given) for pair in self.pairs]
        known = [pair for pair, has_labels in zip(self.pairs, labelled, strict=True) if has_labels]
        now = [pair.now.given for pair in known]
        before = [pair.before.given for pair in known]
        severities = Severities([*now, *before])
        width = self.scale.high - self.scale.low
        change = MeanEstimator(Scale(-width, width), severities)
        candidates = []
        for pair, has_labels in zip(self.pairs, labelled, strict=True):
            change.add(
                pair.change,
                given=pair.now.given if has_labels else (),
                less=pair.before.given if has_labels else (),
                cluster=pair.now.cluster,
            )
            candidates.append(Candidate(pair.now.score or 0, has_labels, cluster=pair.now.cluster))
        estimate = change.estimate()
        if estimate is None:
            return
        self.difference = paired_difference(estimate)
        self.n = estimate.independent
        self.labels = (estimate.labelled, estimate.labelled)
        self.has_names = all(by for given in (*now, *before) for by, _ in given)
        if estimate.missing:
            return
        self.why_not = why_uncorrected(severities, now, before, candidates)
        if not self.why_not:
            self.people = estimate.corrected
            self.n = estimate.effective

    def _compare_means(self) -> None:
        before, now = (
            [row for row in each.rows if row.score is not None] for each in self._outputs
        )
        given_before = [row.given for row in before if row.given]
        given = [row.given for row in now if row.given]
        self.labels = (len(given_before), len(given))
        self.has_names = all(by for labels in (*given_before, *given) for by, _ in labels)
        severities = Severities([*given_before, *given])
        by_judge = list[_Part]()
        by_people = list[_Part]()
        for name in _groups_of(before, now):
            is_in = partial(_is_of, name)
            parts = self._parts([*filter(is_in, before)], [*filter(is_in, now)], severities)
            by_judge += parts[:1]
            by_people += parts[1:]
            if name and parts:
                self.groups.append(name)
        self.difference, self.n = _together(by_judge)
        if not by_judge or len(by_people) < len(by_judge):
            return
        candidates = [
            Candidate(row.score or 0, bool(row.given), stratum, row.cluster)
            for stratum, rows in enumerate((before, now))
            for row in rows
        ]
        self.why_not = why_uncorrected(severities, given, given_before, candidates)
        if not self.why_not:
            more = severities.variance(apart_shares(given, given_before))
            self.people, self.n = _together(by_people, more)

    def _parts(
        self, before: Sequence[OutputRow], now: Sequence[OutputRow], severities: Severities
    ) -> list["_Part"]:
        """The difference within a group by the judge, if there is one, and by people, if there are
        enough labels.
        """
        old = mean_of(before, self.scale, severities)
        new = mean_of(now, self.scale, severities)
        apart = difference(new, old) if new and old else None
        if new is None or old is None or apart is None:
            return []
        parts = [_Part(len(now), apart, min(new.independent, old.independent))]
        if not (new.missing or old.missing) and new.corrected and old.corrected:
            corrected = minus(new.corrected, old.corrected)
            if corrected:
                parts.append(_Part(len(now), corrected, min(new.effective, old.effective)))
        return parts

    def _compare_unscored(self) -> None:
        """Whether clearly more rows are unscored."""
        shares = []
        for output in self._outputs:
            mean = MeanEstimator(Scale(0, 1))
            for row in output.rows:
                mean.add(row.score is None, cluster=row.cluster)
            shares.append(mean.estimate())
        before, now = shares
        more = difference(now, before) if now and before else None
        self.has_more_unscored = more is not None and (more.low or 0) > 0


class _Part(NamedTuple):
    """The difference within a group."""

    rows: int
    difference: Interval
    n: float


def _groups_of(before: Sequence[OutputRow], now: Sequence[OutputRow]) -> Sequence[str]:
    """The groups that both have; "" for all rows, where there are none."""
    both = {row.group for row in before} & {row.group for row in now}
    return sorted(each for each in both if each) or [""]


def _is_of(group: str, row: OutputRow) -> bool:
    return not group or row.group == group


def _together(parts: Sequence[_Part], more: float = 0.0) -> tuple[Interval | None, float]:
    """The mean difference by the groups' rows, and of how many independent ones it is; `more` is
    added to its variance.
    """
    rows = sum(part.rows for part in parts)
    n = sum(part.n for part in parts)
    if not parts:
        return None, 0
    mean = below = above = 0.0
    for part in parts:
        weight = part.rows / rows
        found = part.difference
        mean += weight * found.mean
        below += (weight * (found.mean - (found.low or 0))) ** 2
        above += (weight * ((found.high or 0) - found.mean)) ** 2
    by_people = t_quantile(max(int(n) - 1, 1)) ** 2 * more
    return Interval(mean, mean - sqrt(below + by_people), mean + sqrt(above + by_people)), n


def mean_of(
    rows: Iterable[OutputRow], scale: Scale, severities: Severities = NOBODYS
) -> MeanEstimate | None:
    """The mean of the scores; None without one."""
    mean = MeanEstimator(scale)
    for row in rows:
        if row.score is not None:
            label = severities.level(row.given) if row.given else None
            mean.add(row.score, label, cluster=row.cluster)
    return mean.estimate()


def _partner(row: OutputRow, partners: list[OutputRow]) -> OutputRow | None:
    """The earlier row with the same texts, or else the first that is left of its prompt."""
    if not partners:
        return None
    for at, partner in enumerate(partners):
        if row.texts is not None and partner.texts == row.texts:
            return partners.pop(at)
    return partners.pop(0)
