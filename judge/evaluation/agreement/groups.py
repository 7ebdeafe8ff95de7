"""Whether groups of responses differ: in what people give them, and in how kind the judge is to
them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import hypot

from judge.evaluation.agreement.measures import MIN_PROMPTS, Statistic, mean_error
from judge.evaluation.agreement.sample import to_sample
from judge.evaluation.agreement.scores import Scores
from judge.evaluation.estimate import Response
from judge.evaluation.selection import Candidate, why_uncorrected
from judge.evaluation.severity import Severities

_SURE = 0.05


@dataclass(frozen=True)
class Kindness:
    """By how much the judge's error in one group is above that in the others.

    Attributes:
        apart: Above 0 the judge is kinder to the group.
        is_clear: Whether it is not chance, though many groups were tested (Holm).
        why_not: Why it cannot be told; empty if it can.
    """

    group: str
    judge: str
    apart: float
    is_clear: bool
    why_not: str = ""


def find_kindness(scores: Scores) -> Sequence[Kindness]:
    """One for each judge and group with labels of enough prompts, within the group and outside.

    Source: Holm (1979), Scandinavian Journal of Statistics 6(2).
    """
    found = sorted(_tested(scores), key=lambda each: each[0])
    kindness = []
    is_clear = True
    for rank, (chance, each) in enumerate(found):
        # From the least likely one on, until one could be chance.
        is_clear = is_clear and chance <= _SURE / (len(found) - rank)
        kindness.append(Kindness(each.group, each.judge, each.apart, is_clear, each.why_not))
    return kindness


def _tested(scores: Scores) -> Iterator[tuple[float, Kindness]]:
    """Each with the chance that it is one."""
    names = dict.fromkeys(each.group for each in scores.responses if each.group is not None)
    # Of two groups, the second differs from the first as much.
    groups = list(names)[:1] if len(names) == 2 else list(names)
    for judge in scores.judges:
        for group in groups:
            inside = [each for each in scores.responses if each.group == group]
            outside = [each for each in scores.responses if each.group != group]
            one = _error(scores, inside, judge)
            other = _error(scores, outside, judge)
            if one is None or other is None:
                continue
            apart = one.value - other.value
            why_not = _why_not(inside, outside)
            chance = 1.0 if why_not else _chance_of(one, other)
            yield chance, Kindness(group, judge, apart, False, why_not)


def _chance_of(one: Statistic, other: Statistic) -> float:
    """How likely they are as far apart by chance."""
    from scipy.stats import t  # type: ignore[import-untyped]

    error = hypot(one.error, other.error)
    if error == 0:
        return 1.0
    freedom = min(one.prompts, other.prompts) - 1
    return 2 * float(t.sf(abs(one.value - other.value) / error, freedom))


def _error(scores: Scores, responses: Sequence[Response], judge: str) -> Statistic | None:
    sample = to_sample(replace(scores, responses=tuple(responses)), judge)
    if sample is None or sample.n_prompts < MIN_PROMPTS:
        return None
    return mean_error(sample)


def _why_not(inside: Sequence[Response], outside: Sequence[Response]) -> str:
    """Where other people labelled the group, their strictness would be taken for kindness."""
    one = [each.blind for each in inside if each.blind]
    other = [each.blind for each in outside if each.blind]
    severities = Severities([*one, *other])
    return why_uncorrected(severities, one, other, list[Candidate]())
