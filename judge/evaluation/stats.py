"""Means of scores, corrected by labels (prediction-powered), and their differences.

Labels must be given blind, to responses that were drawn at random, each with a known probability:
no formula corrects labels of responses that a person picked. Memory grows with the different labels
and clusters, not with the scores.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, hypot, log, sqrt
from operator import mul, sub
from typing import NamedTuple

from judge.evaluation.distributions import t_quantile, wilson_ends
from judge.evaluation.severity import NOBODYS, Given, Severities, shares_of
from judge.scoring.rubric import Scale

_DUST = 1e-9
_TAIL = 0.025


MIN_LABELS = 20
"""With fewer labels of equal weight, an interval may cover less than its 95%."""


def good_from(scale: Scale) -> int:
    """The lowest score that is called good: 4 on a scale from 0 to 5."""
    return round(scale.low + 0.8 * (scale.high - scale.low))


def low_to(scale: Scale) -> int:
    """The highest score that is called low: 2 on a scale from 0 to 5."""
    return floor(scale.low + 0.4 * (scale.high - scale.low))


class Interval(NamedTuple):
    """A mean with its 95% interval; the ends are None if there is only one value."""

    mean: float
    low: float | None
    high: float | None

    @property
    def is_clear(self) -> bool:
        """Whether a difference leaves out 0."""
        return (self.low or 0) * (self.high or 0) > 0

    @property
    def sizes(self) -> list[float]:
        """How large a clear difference is, whatever its sign: at least and at most."""
        return sorted((abs(self.low or 0), abs(self.high or 0)))


@dataclass(frozen=True)
class MeanEstimate:
    """The mean of all scores, corrected by the labels."""

    scale: Scale
    judge: Interval  # the plain mean; its interval says nothing of how far the judge is from people
    n: int  # scores
    variance: float  # of the judge's mean
    independent: int  # scores behind it, where those of a cluster count as one
    corrected: Interval | None = None  # as people would score; None without a label
    labelled: int = 0  # scores with a label
    effective: float = 0.0  # labels of equal weight, each a cluster, that say as much (Kish)
    weight: float = 0.0  # lambda, of the scores: 0 if they say nothing about the labels
    by_scores: float = 0.0  # the part of the next that more labels do not make smaller
    corrected_variance: float = 0.0

    def interval(self, tail: float, *, is_corrected: bool = False) -> Interval:
        """The judge's mean, or the corrected one, with an interval that misses with probability
        `tail` on each side.
        """
        if is_corrected and self.corrected:
            mean = self.corrected.mean
            n = self.effective
            return _interval(self.scale, mean, self.corrected_variance, n, tail, is_corrected=True)
        return _interval(self.scale, self.judge.mean, self.variance, self.independent, tail)

    @property
    def missing(self) -> int:
        return max(MIN_LABELS - floor(self.effective), 0)


class _Sums(NamedTuple):
    n: float = 0
    f: float = 0
    labels: float = 0
    w: float = 0
    wf: float = 0
    wff: float = 0
    wy: float = 0
    wfy: float = 0

    @property
    def weight(self) -> float:
        variance = self.wff - self.wf**2 / self.w
        if variance <= _DUST:
            return 0.0
        return max((self.wfy - self.wf * self.wy / self.w) / variance, 0.0)

    @property
    def corrected_mean(self) -> float:
        return self.wy / self.w + self.weight * (self.f / self.n - self.wf / self.w)


def _spread(clusters: Mapping[_Sums, int], mean: float) -> float:
    return sum(number * (each.f - mean * each.n) ** 2 for each, number in clusters.items())


def _jackknife(total: _Sums, without: Sequence[tuple[_Sums, int]]) -> float:
    n = sum(number for _, number in without)
    if n < 2:
        return 0.0
    mean = total.corrected_mean
    return (n - 1) / n * sum(times * (sums.corrected_mean - mean) ** 2 for sums, times in without)


class MeanEstimator:
    """Takes scores one by one, some with a label, and estimates their mean as people would score.

    The mean is PPI++: lambda * mean(all scores) + mean(label - lambda * score). Lambda is the slope
    of labels over scores, which makes the estimate most precise; labels weigh 1 / probability. The
    variance comes from a jackknife over the labelled clusters, which fits lambda again each time.
    The interval is Wilson's, by Student's t, for the number of trials with the lowest or highest
    score that would have that variance. It extends further towards the more distant end of the
    scale, where a few rare scores may be missing. To each end it covers at least 3 / labels of the
    distance, because that share of the responses may have the lowest or highest score although no
    label shows it. A corrected share reaches 3 / labels to each side: the judge may be wrong about
    so many, by the whole scale.

    Source: Angelopoulos, Duchi, Zrnic, "PPI++" (arXiv 2311.01453), who take lambda's variance from
    all scores; Wilson (1927), JASA 22; Dean and Pagano (2015), Survey Methodology 41(2), for
    Wilson's interval with other variances; Hanley and Lippman-Hand (1983), JAMA 249(13), for 3 / n;
    Kish (1965) for unequal weights.
    """

    def __init__(self, scale: Scale, severities: Severities = NOBODYS) -> None:
        # to be set before the first of the labels that `given` takes
        self._scale = scale
        self.severities = severities
        self._count = 0
        self._by = defaultdict[str, float](float)
        # sums of each score without a cluster
        self._single = Counter[_Sums]()
        self._clusters = defaultdict[Hashable, list[float]](lambda: [0.0] * len(_Sums._fields))

    def add(
        self,
        score: float,
        label: float | None = None,
        *,
        given: Given = (),
        less: Given = (),
        probability: float = 1.0,
        cluster: Hashable = None,
        weight: float = 1.0,
        times: int = 1,
    ) -> None:
        """Takes one score and its label, or the same several times.

        Args:
            given: Instead of a label, those of named people, corrected by `severities`; of a
                difference, minus `less`.
            probability: That of the response's draw for a label, above 0. Only the proportions
                matter.
            cluster: Shared with scores that depend on this one, such as a thread; None if it is
                independent.
            weight: The number of responses that the score represents, scaled so that the weights
                add up to the number of scores.
        """
        if not 0 < probability <= 1:
            raise ValueError(f"probability {probability:g} is not above 0 and up to 1")
        self._count += times
        sums = [weight, weight * score]
        w = weight / probability
        for each, sign in ((given, 1), (less, -1)):
            if each:
                label = (label or 0) + sign * self.severities.level(each)
                for by, share in shares_of(each).items():
                    self._by[by] += sign * share * w * times
        if label is not None:
            sums += [1, w, w * score, w * score * score, w * label, w * score * label]
        if cluster is None:
            self._single[_Sums(*sums)] += times
        else:
            known = self._clusters[cluster]
            for at, more in enumerate(sums):
                known[at] += times * more

    def estimate(self) -> MeanEstimate | None:
        """The estimate from the scores taken so far; None without a score."""
        clusters = Counter(self._single)
        clusters.update(_Sums(*sums) for sums in self._clusters.values())
        if not clusters:
            return None
        numbers = clusters.values()
        total = _Sums(*(sum(map(mul, column, numbers)) for column in zip(*clusters, strict=True)))
        labelled = {each: number for each, number in clusters.items() if each.labels}
        others = {each: number for each, number in clusters.items() if not each.labels}
        n = clusters.total()
        mean = total.f / total.n
        rest = _spread(others, mean) / total.n**2
        spread = (rest + _spread(labelled, mean) / total.n**2) * n / max(n - 1, 1)
        interval = _interval(self._scale, mean, spread, n)
        found = MeanEstimate(self._scale, interval, self._count, spread, n)
        return self._corrected(found, total, labelled, rest) if labelled else found

    def _corrected(
        self, found: MeanEstimate, total: _Sums, labelled: Mapping[_Sums, int], rest: float
    ) -> MeanEstimate:
        """The estimate with what the labels say; `rest` is the spread of the other clusters."""
        squares = sum(each.w**2 * number for each, number in labelled.items())
        effective = sum(each.w * number for each, number in labelled.items()) ** 2 / squares
        by_people = self.severities.variance(
            {by: share / total.w for by, share in self._by.items()}
        )
        by_scores = total.weight**2 * rest + by_people
        without = [(_Sums(*map(sub, total, each)), number) for each, number in labelled.items()]
        variance = _jackknife(total, without) + by_scores
        return replace(
            found,
            corrected=_interval(
                self._scale, total.corrected_mean, variance, effective, is_corrected=True
            ),
            labelled=int(total.labels),
            effective=round(effective, 9),
            weight=total.weight,
            corrected_variance=variance,
            by_scores=by_scores,
        )


def estimate_mean(scores: Iterable[tuple[float, Hashable]], scale: Scale) -> MeanEstimate | None:
    """The mean of scores, each with its cluster; None without one."""
    mean = MeanEstimator(scale)
    for score, cluster in scores:
        mean.add(score, cluster=cluster)
    return mean.estimate()


def _interval(
    scale: Scale,
    mean: float,
    variance: float,
    n: float,
    tail: float = _TAIL,
    *,
    is_corrected: bool = False,
) -> Interval:
    """Wilson's interval, for the number of trials with the lowest or highest score that has the
    same variance.
    """
    low, high = scale
    width = high - low
    mean = min(max(mean, low), high)
    if n + _DUST < 2:
        return Interval(mean, None, None)
    share = (mean - low) / width
    part = variance / width**2
    t = t_quantile(floor(n + _DUST) - 1, tail)
    under, over = wilson_ends(share, t**2 * part / max(share * (1 - share), part, _DUST))
    # Scores near an end that no label shows may be that many.
    least = min(_least(n, tail), 1)
    below = above = least
    if not (is_corrected and width == 1):
        below *= mean - low
        above *= high - mean
    lowest = min(low + under * width, mean - below)
    highest = max(low + over * width, mean + above)
    return Interval(mean, max(lowest, low), min(highest, high))


def labelled_shares(
    rows: Iterable[tuple[Hashable, float, bool, float]],
) -> Mapping[tuple[Hashable, float], float]:
    """The share of labelled rows in each stratum, and among those rows of it that are drawn as many
    times as often as others; each row is its stratum, those times, whether it is labelled, and its
    weight.

    It replaces the chance of being drawn, since people label more of what was drawn in one stratum,
    such as a channel's week, than in another. It is 1 if no row has a label. Source: Holt and Smith
    (1979), JRSS A 142(1).
    """
    sizes = defaultdict[Hashable, dict[float, float]](dict)
    labelled = defaultdict[Hashable, float](float)
    for stratum, times, is_labelled, weight in rows:
        by_times = sizes[stratum]
        by_times[times] = by_times.get(times, 0.0) + weight
        labelled[stratum] += weight * is_labelled
    shares = dict[tuple[Hashable, float], float]()
    for stratum, by_times in sizes.items():
        left = labelled[stratum]
        chances = sum(times * size for times, size in by_times.items())
        # Those that are drawn most often first: all of them may have a label.
        for times, size in sorted(by_times.items(), reverse=True):
            share = min(1.0, times * left / chances)
            shares[stratum, times] = share or 1.0
            left -= share * size
            chances -= times * size
    return shares


def difference(now: MeanEstimate, before: MeanEstimate, tail: float = _TAIL) -> Interval | None:
    """How far the judge's mean `now` is above that of `before`; None if one has only a single score
    or cluster.

    The distances from each mean to the ends of its own interval are added as squares, the lower one
    of `now` with the upper one of `before` and the reverse (MOVER). So a few scores near an end of
    the scale are compared with many without a false alarm, where Welch's t has one in up to 24% of
    unchanged weeks. `tail` is the error probability on each side. Source: Zou and Donner (2008),
    Statistics in Medicine 27(10).
    """
    return minus(now.interval(tail), before.interval(tail))


def minus(one: Interval | None, other: Interval | None) -> Interval | None:
    """How far `one` is above `other`, by the distances to their ends as in `difference`; None if
    one is not there or has no ends.
    """
    if one is None or one.low is None or one.high is None:
        return None
    if other is None or other.low is None or other.high is None:
        return None
    mean = one.mean - other.mean
    below = hypot(one.mean - one.low, other.high - other.mean)
    return Interval(mean, mean - below, mean + hypot(one.high - one.mean, other.mean - other.low))


def paired(changes: Iterable[tuple[float, Hashable]], scale: Scale) -> Interval | None:
    """The mean difference of pairs of scores on `scale`, each with its cluster; None without a
    pair.
    """
    found = estimate_mean(changes, Scale(scale.low - scale.high, scale.high - scale.low))
    return paired_difference(found) if found else None


def paired_difference(found: MeanEstimate) -> Interval:
    """The mean of differences that were taken as scores, by Student's t.

    The interval extends at least 3 / n to each side.
    """
    mean = found.judge.mean
    n = found.independent
    if n + _DUST < 2:
        return Interval(mean, None, None)
    error = sqrt(max(found.variance, 0.0))
    half = max(t_quantile(floor(n + _DUST) - 1) * error, 3 / n)
    return Interval(mean, mean - half, mean + half)


def _least(n: float, tail: float) -> float:
    """The share of the distance to an end of the scale that an interval covers at least: 3 / n at
    95%.
    """
    return 3 / n * log(2 * tail) / log(2 * _TAIL)


def wilson(count: float, n: float) -> Interval:
    """`count` as a share of `n`, with Wilson's 95% interval by Student's t.

    If the share is 0 or 1, the sample shows no error, and `n` replaces `n - 1`.
    """
    share = count / n
    if n + _DUST < 2:
        return Interval(share, None, None)
    t = t_quantile(floor(n + _DUST) - 1)
    return Interval(share, *wilson_ends(share, t**2 / (n - 1 if 0 < count < n else n)))
