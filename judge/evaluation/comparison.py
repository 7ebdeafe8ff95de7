"""Two outputs of one judge compared: by pairs where they share questions, otherwise by their means."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean
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
    estimate_mean,
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

    @property
    def is_reworded(self) -> bool:
        return self.now.question != self.before.question

    @property
    def is_labelled(self) -> bool:
        return bool(self.now.given and self.before.given)


class Group(NamedTuple):
    """The difference of the pairs, or of the rows of now, with one value of a field."""

    name: str
    rows: int
    change: Interval | None


@dataclass
class Comparison:
    """Compares when it is made.

    Attributes:
        same: The pairs with the same texts: what differs in their scores is the judge's.
        pairs: The other pairs.
        reworded: How many pairs have one prompt_id and different questions.
        alone: How many rows before, and now, have no partner.
        by_means: Whether the means of all rows were compared, for want of pairs with one question.
        means: Those that are compared, before and now; None if there is none.
        own: The judge's own difference.
        difference: By the judge.
        people: The same as people would score; None with too few labels, or if they cannot tell.
        why_not: Why it is not corrected by labels, if these were enough.
        labels: How many labelled rows of each output there are; with pairs, those of both.
        n: How many independent ones the difference is of.
        groups: The difference within each group, by the judge.
    """

    before: Output
    now: Output
    scale: Scale
    same: list[Pair] = field(default_factory=list, init=False)
    pairs: list[Pair] = field(default_factory=list, init=False)
    difference: Interval | None = field(default=None, init=False)
    people: Interval | None = field(default=None, init=False)
    why_not: str = field(default="", init=False)
    labels: tuple[int, int] = field(default=(0, 0), init=False)
    n: float = field(default=0.0, init=False)
    groups: Sequence[Group] = field(default=(), init=False)

    def __post_init__(self) -> None:
        self.alone = self._match()
        self.own = paired(((pair.change, pair.now.cluster) for pair in self.same), self.scale)
        self.reworded = sum(pair.is_reworded for pair in self.pairs)
        self.by_means = self._have_few_pairs()
        if self.by_means:
            self.pairs = [pair for pair in self.pairs if not pair.is_reworded]
            rows_before = self.before.scored_rows
            rows_now = self.now.scored_rows
            self._compare_means(rows_before, rows_now)
        else:
            rows_before = [pair.before for pair in self.pairs]
            rows_now = [pair.now for pair in self.pairs]
            self._compare_pairs()
        self.means = None
        if rows_before and rows_now:
            self.means = _plain_mean(rows_before), _plain_mean(rows_now)

    def _have_few_pairs(self) -> bool:
        matched = len(self.now.rows) - self.alone[1]
        fewest = min(len(self.before.rows), len(self.now.rows))
        # Ids that number the rows of two samples pair questions that have nothing in common.
        are_numbers = 2 * self.reworded > len(self.same) + len(self.pairs)
        return are_numbers or matched < max(1, _FEW * fewest)

    @property
    def is_cached(self) -> bool:
        """Whether the judge said the same to the letter about all texts that it got twice."""
        return len(self.same) >= _FEWEST_EQUAL and all(
            pair.now.answer is not None and pair.now.answer == pair.before.answer
            for pair in self.same
        )

    @property
    def has_more_unscored(self) -> bool:
        """Whether clearly more rows are unscored now."""
        more = minus(_share_unscored(self.now), _share_unscored(self.before))
        return more is not None and (more.low or 0) > 0

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
    def could_fail(self) -> bool:
        """Whether scores on the scale could be clearly worse."""
        means = self.means
        seen = self.seen
        if means is None or seen is None:
            return False
        low, high = self.scale
        # Where the mean before is near the lowest score already, that is not for want of rows.
        return seen <= max(means[0] - low, (high - low) / 2)

    def _match(self) -> tuple[int, int]:
        """Finds the pairs, and returns how many rows have no partner, before and now."""
        earlier = defaultdict[int, list[OutputRow]](list)
        for row in self.before.rows:
            earlier[row.prompt].append(row)
        alone = 0
        for row in self.now.rows:
            partner = _partner(row, earlier[row.prompt])
            if partner is None:
                alone += 1
            elif row.score is not None and partner.score is not None:
                is_same = partner.texts is not None and partner.texts == row.texts
                kept = self.same if is_same else self.pairs
                kept.append(Pair(partner, row))
        return sum(map(len, earlier.values())), alone

    def _compare_pairs(self) -> None:
        known = [pair for pair in self.pairs if pair.is_labelled]
        now = [pair.now.given for pair in known]
        before = [pair.before.given for pair in known]
        severities = Severities([*now, *before])
        estimate = self._estimate_change(severities)
        if estimate is None:
            return
        self.difference = paired_difference(estimate)
        self.groups = self._groups_of_pairs()
        self.n = estimate.independent
        self.labels = (estimate.labelled, estimate.labelled)
        if estimate.missing:
            return
        candidates = [
            Candidate(pair.now.score or 0, pair.is_labelled, cluster=pair.now.cluster)
            for pair in self.pairs
        ]
        self.why_not = why_uncorrected(severities, now, before, candidates)
        if not self.why_not:
            self.people = estimate.corrected
            self.n = estimate.effective

    def _estimate_change(self, severities: Severities) -> MeanEstimate | None:
        """The mean change of the pairs, corrected by the labels of those that have both."""
        width = self.scale.high - self.scale.low
        change = MeanEstimator(Scale(-width, width), severities)
        for pair in self.pairs:
            given = pair.now.given if pair.is_labelled else ()
            less = pair.before.given if pair.is_labelled else ()
            change.add(pair.change, given=given, less=less, cluster=pair.now.cluster)
        return change.estimate()

    def _groups_of_pairs(self) -> list[Group]:
        changes = defaultdict[str, list[tuple[float, Hashable]]](list)
        for pair in self.pairs:
            if pair.before.group:
                changes[pair.before.group].append((pair.change, pair.now.cluster))
        return [Group(name, len(own), paired(own, self.scale)) for name, own in changes.items()]

    def _compare_means(self, before: Sequence[OutputRow], now: Sequence[OutputRow]) -> None:
        given_before = [row.given for row in before if row.given]
        given = [row.given for row in now if row.given]
        self.labels = (len(given_before), len(given))
        severities = Severities([*given_before, *given])
        parts = self._parts(before, now, severities)
        by_judge = [part.change for part in parts]
        self.groups = [Group(part.group, part.rows, part.change) for part in parts if part.group]
        self.difference = _together(parts, by_judge)
        self.n = sum(min(part.now.independent, part.before.independent) for part in parts)
        if not parts or any(part.now.missing or part.before.missing for part in parts):
            return
        candidates = _candidates(before, "before") + _candidates(now, "now")
        self.why_not = why_uncorrected(severities, given, given_before, candidates)
        if not self.why_not:
            self._correct_means(parts, severities.variance(apart_shares(given, given_before)))

    def _correct_means(self, parts: Sequence["_Part"], variance: float) -> None:
        """The difference as people would score; the variance is that of their severities."""
        self.n = sum(min(part.now.effective, part.before.effective) for part in parts)
        by_people = [minus(part.now.corrected, part.before.corrected) for part in parts]
        more = t_quantile(max(int(self.n) - 1, 1)) ** 2 * variance
        self.people = _together(parts, by_people, more)

    def _parts(
        self, before: Sequence[OutputRow], now: Sequence[OutputRow], severities: Severities
    ) -> list["_Part"]:
        """The groups that both have, each with scores that can be compared; or else all rows."""
        both = {row.group for row in before} & {row.group for row in now}
        parts = []
        for group in sorted(name for name in both if name) or [""]:
            own_before = [row for row in before if group in ("", row.group)]
            own = [row for row in now if group in ("", row.group)]
            mean_before = mean_of(own_before, self.scale, severities)
            mean = mean_of(own, self.scale, severities)
            if mean_before and mean and difference(mean, mean_before):
                parts.append(_Part(group, len(own), mean, mean_before))
        return parts


class _Part(NamedTuple):
    """The means of a group; its name is "" if it is all rows."""

    group: str
    rows: int
    now: MeanEstimate
    before: MeanEstimate

    @property
    def change(self) -> Interval | None:
        """By the judge."""
        return minus(self.now.judge, self.before.judge)


def _together(
    parts: Sequence[_Part], differences: Sequence[Interval | None], more: float = 0.0
) -> Interval | None:
    """The mean difference by the groups' rows; `more` is added to the squares of its ends."""
    rows = sum(part.rows for part in parts)
    mean = 0.0
    below = above = more
    for part, change in zip(parts, differences, strict=True):
        if change is None or change.low is None or change.high is None:
            return None
        weight = part.rows / rows
        mean += weight * change.mean
        below += (weight * (change.mean - change.low)) ** 2
        above += (weight * (change.high - change.mean)) ** 2
    return Interval(mean, mean - sqrt(below), mean + sqrt(above)) if parts else None


def _candidates(rows: Sequence[OutputRow], side: str) -> list[Candidate]:
    return [Candidate(row.score or 0, bool(row.given), side, row.cluster) for row in rows]


def _share_unscored(output: Output) -> Interval | None:
    found = estimate_mean(((row.score is None, row.cluster) for row in output.rows), Scale(0, 1))
    return found.judge if found else None


def _plain_mean(rows: Sequence[OutputRow]) -> float:
    return fmean(row.score or 0 for row in rows)


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
