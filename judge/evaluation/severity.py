"""How strict each person is who gives labels, from the replies that several of them labelled."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from statistics import fmean

Given = Sequence[tuple[str, float]]
"""The labels of one reply, each with who gave it: "" if nobody knows."""
Shares = Mapping[str, float]
"""How much each person counts in a mean of labels, or in the difference of two."""

# the variance of chance over that of severity: low, so that a strict person is not taken for chance
_PRIOR = 0.5
_FEWEST = 6  # labels beyond those that it takes to compare the people
_MOST_OPEN = 0.5  # of what nobody knew of the severities before
_ALIKE = 0.05  # by how much a person's share may differ between two sides that are compared


class Severities:
    """By how much each person's labels are above those that other people give to the same replies.

    A label is the reply's level, what this person gives more (`of`), and chance. Levels are free;
    what a person gives more is shrunk towards the average of the `people` who labelled the same
    replies as others. Whether that average is right cannot be seen. `of` is empty, and nothing is
    corrected, where such replies do not show how far the mean of all labels is off: they are too
    few, or have none by somebody who gave many labels.

    Source: Henderson (1975), Biometrics 31(2), for the equations and their error. The ratio of the
    variances is fixed, since a few people do not show it. `python -m bench.severity` prints how
    often the intervals hold.
    """

    def __init__(self, replies: Iterable[Given] = ()) -> None:
        self._replies = [*replies]
        total = defaultdict[str, float](float)
        for given in self._replies:
            _add(total, shares_of(given))
        named = [share for by, share in total.items() if by]
        self.largest = max(named, default=0.0) / max(len(self._replies), 1)
        labels = ({by: value for by, value in given if by} for given in self._replies)
        self._shared = [each for each in labels if len(each) > 1]
        self.people = dict.fromkeys(by for each in self._shared for by in each)
        self.labels = sum(map(len, self._shared))
        self._variance = 0.0
        self.of = dict[str, float]()
        free = self.labels - len(self._shared) - len(self.people) + 1
        if free >= _FEWEST and self._is_told(self._contrast(total)):
            self._find(free)

    def _is_told(self, contrast: Shares) -> bool:
        """Whether the shared replies leave little open of what the labels have in common."""
        return _PRIOR * self._error(contrast) <= _MOST_OPEN * _dot(contrast, contrast)

    def _find(self, free: int) -> None:
        """Finds how much more each person gives; `free` labels tell the variance of one."""
        # as if one more pair of labels were a point apart
        off = defaultdict[str, float](float)
        squares = 0.5
        for given in self._shared:
            rest = _centred(given)
            _add(off, rest)
            squares += _dot(rest, rest)
        self.of = self._solve(off)
        self._variance = (squares - _dot(off, self.of)) / free

    def level(self, given: Given) -> float:
        """The mean label, as if the average of the people had given it."""
        return fmean(value - self.of.get(by, 0.0) for by, value in given)

    def variance(self, shares: Shares) -> float:
        """What the error of the severities adds to the variance of a mean of levels, or of a
        difference of means.
        """
        return self._variance * self._error(self._contrast(shares)) if self.of else 0.0

    def link(self, apart: Shares) -> bool:
        """Whether the difference of two sides is that of their replies: each person counts the
        same on both, or shared replies tell by how much they differ.
        """
        if max(map(abs, apart.values()), default=0.0) <= _ALIKE:
            return True
        open_part = _PRIOR * self._error(apart) / _dot(apart, apart)
        return bool(self.of) and open_part <= _MOST_OPEN

    def words(self, *, is_named: bool = True) -> Iterator[str]:
        """Whose average the figures are, with by how much people give more; a warning if they
        follow one person, or somebody has changed from the first half of the replies to the second.
        """
        middle = len(self._replies) // 2
        if have_drifted(self._replies[middle:], self._replies[:middle]):
            yield (
                "Careful: by the replies that several labelled, a person has become stricter or "
                "kinder in between. No figure is corrected for that."
            )
        if self.of:
            how = f"{self.labels:,} labels of replies that several labelled"
            if is_named:
                most = sorted(self.of, key=lambda by: -abs(self.of[by]))[:5]
                how += f": {', '.join(f'{by} gives {self.of[by]:+z.2f}' for by in most)}"
            yield (
                f"Corrected to the average of {len(self.people)} people, by {how}. Whether that "
                "average is too strict, no figure shows."
            )
        elif self.largest > 0.5:
            yield (
                f"Careful: one person gave {self.largest:.0%} of the labels, and figures follow "
                "how strict they are. Others' labels of about 15 of the same replies would show "
                "that."
            )

    def _contrast(self, shares: Shares) -> dict[str, float]:
        """How far the people's shares are from equal ones."""
        equal = sum(shares.values()) / max(len(self.people), 1)
        return {
            by: shares.get(by, 0.0) - equal * (by in self.people) for by in (*shares, *self.people)
        }

    def _error(self, contrast: Shares) -> float:
        return _dot(contrast, self._solve(contrast))

    def _solve(self, right: Shares) -> dict[str, float]:
        """Solves the equations of the severities, by conjugate gradients."""
        found = dict.fromkeys(right, 0.0)
        rest = right
        way = right
        size = (first := _dot(right, right))
        while size > 1e-20 * first:  # solved but for rounding
            step = defaultdict[str, float](float)
            _add(step, way, _PRIOR)
            for each in self._shared:
                _add(step, _centred({by: way.get(by, 0.0) for by in each}))
            far = size / _dot(way, step)
            found = {by: each + far * way[by] for by, each in found.items()}
            rest = {by: each - far * step[by] for by, each in rest.items()}
            before = size
            size = _dot(rest, rest)
            way = {by: each + size / before * way[by] for by, each in rest.items()}
        return found


NOBODYS = Severities()
"""Without a correction."""


def shares_of(given: Given) -> Shares:
    return {by: number / len(given) for by, number in Counter(by for by, _ in given).items()}


def apart_shares(now: Sequence[Given], before: Sequence[Given]) -> Shares:
    """How much more each person counts in the labels of now than in those of before."""
    apart = defaultdict[str, float](float)
    for side, sign in ((now, 1), (before, -1)):
        for given in side:
            _add(apart, shares_of(given), sign / len(side))
    return apart


def have_drifted(now: Sequence[Given], before: Sequence[Given]) -> bool:
    """Whether a person is stricter or kinder now than before, beside those who share their replies
    on both sides; False where too few replies are shared to tell.
    """
    late = Severities(now)
    early = Severities(before)
    for by in late.of.keys() & early.of.keys():
        alone = {by: 1.0}
        error = sqrt(late.variance(alone) + early.variance(alone))
        if abs(late.of[by] - early.of[by]) > 1.96 * error:
            return True
    return False


def _add(sums: defaultdict[str, float], more: Shares, times: float = 1.0) -> None:
    for by, each in more.items():
        sums[by] += times * each


def _centred(values: Shares) -> Shares:
    mean = fmean(values.values())
    return {by: value - mean for by, value in values.items()}


def _dot(one: Shares, other: Shares) -> float:
    return sum(each * other[by] for by, each in one.items())
