"""The agreement of each judge in a file with people: of all responses, by group and by person."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from judge.errors import SetupError
from judge.evaluation.agreement import measures
from judge.evaluation.agreement.groups import Kindness, find_kindness
from judge.evaluation.agreement.measures import MEASURES, Estimate, estimate
from judge.evaluation.agreement.sample import to_sample
from judge.evaluation.agreement.scores import Scores
from judge.evaluation.estimate import Corrected
from judge.scoring.ratings import point
from judge.scoring.rubric import Scale

_KAPPA = "quadratic_weighted_kappa"
_FEW = (_KAPPA, "within_one", "mean_error")
_ERRORS_IN_4_OF_5 = 1.96 + 0.84  # standard errors of a difference that is clear in 4 of 5 cases
_WORDS = (
    (0.80, "almost perfect"),
    (0.60, "substantial"),
    (0.40, "moderate"),
    (0.20, "fair"),
    (-0.01, "slight"),
)


def verdict(kappa: Estimate) -> str:
    """How well the judge agrees with people, in words."""
    if kappa.low is None or kappa.high is None:
        return f"No verdict on the agreement with people: {kappa.note}."
    ends = (
        next((each for above, each in _WORDS if round(end, 2) > above), "poor")
        for end in (kappa.low, kappa.high)
    )
    words = " to ".join(dict.fromkeys(ends))
    return (
        f"Agreement with people is {words} (kappa between {kappa.low:.2f} and {kappa.high:.2f}), "
        "in the words of Landis and Koch (1977), a convention."
    )


@dataclass(frozen=True)
class Comparison:
    """A judge compared with people.

    Attributes:
        part: The group or the person whose labels these are; "" for all.
        unscored: The labelled responses that the judge left without a score.
        replies_to_tell_apart: How many scored replies of each of two assistants would show in 4 of
            5 cases that people give one half a point more; None if the labels do not say whether
            the judge would follow.
        verdict: A sentence on how well the judge agrees with people.
        corrected: What people would say of all responses, labelled or not.
        confusion: The responses with each rounded label (row) and score (column).
    """

    judge: str
    part: str
    responses: int
    prompts: int
    unscored: int
    measures: Mapping[str, Estimate]
    slope: Estimate
    replies_to_tell_apart: int | None
    verdict: str
    corrected: Corrected | None
    confusion: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Report:
    """The figures, ready for JSON as a plain dict.

    Attributes:
        by_group: The largest group first.
        by_person: With the most labels first; blind ones alone.
        not_blind: The labels given after the score was seen.
        highest_label: On the rubric's scale.
    """

    judges: Sequence[str]
    scale: Scale
    with_people: Sequence[Comparison]  # each judge that scored a labelled response
    by_group: Sequence[Comparison]
    by_person: Sequence[Comparison]
    kindness: Sequence[Kindness]
    unlabelled: int
    not_blind: int
    highest_label: float
    repeats: int
    same: int
    own_labels: int
    problems: Sequence[str]


def make_report(scores: Scores) -> Report:
    """All comparisons that the scores allow.

    Raises SetupError if no response has both a score and a label.
    """
    with_people = [*_compare(scores, MEASURES)]
    if not with_people:
        first = f" ({scores.problems[0]})" if scores.problems else ""
        raise SetupError(f"No response has both a score and a label that can be used{first}.")
    responses = scores.responses
    return Report(
        judges=scores.judges,
        scale=scores.scale,
        with_people=with_people,
        by_group=[*_by_group(scores)],
        by_person=[*_by_person(scores)],
        kindness=find_kindness(scores),
        unlabelled=sum(not each.labels for each in responses),
        not_blind=sum(len(each.labels) - len(each.blind) for each in responses),
        highest_label=max(label for each in responses for label in each.labels),
        repeats=scores.repeats,
        same=scores.same,
        own_labels=scores.own_labels,
        problems=scores.problems,
    )


def _by_group(scores: Scores) -> Iterator[Comparison]:
    sizes = Counter(each.group for each in scores.responses if each.group is not None)
    for group, _ in sizes.most_common():
        own = tuple(each for each in scores.responses if each.group == group)
        yield from _compare(replace(scores, responses=own), _FEW, group)


def _by_person(scores: Scores) -> Iterator[Comparison]:
    """Each person who gave blind labels, where several did."""
    sizes = Counter(by for each in scores.responses for by, _ in each.blind if by)
    if len(sizes) < 2:
        return
    for person, _ in sizes.most_common():
        own = []
        for response in scores.responses:
            blind = [(by, label) for by, label in response.blind if by == person]
            labels = tuple(label for _, label in blind)
            own.append(replace(response, labels=labels, blind=blind))
        yield from _compare(replace(scores, responses=tuple(own)), _FEW, person)


def _compare(scores: Scores, chosen: Iterable[str], part: str = "") -> Iterator[Comparison]:
    for judge in scores.judges:
        sample = to_sample(scores, judge)
        if sample is None:
            continue
        estimates = {name: estimate(MEASURES[name](sample)) for name in chosen}
        labelled = [response for response in scores.responses if response.labels]
        slope = estimate(measures.slope(sample))
        corrected = scores.corrected(judge)
        yield Comparison(
            judge=judge,
            part=part,
            responses=len(sample.scores),
            prompts=sample.n_prompts,
            unscored=sum(response.scores.get(judge) is None for response in labelled),
            measures=estimates,
            slope=slope,
            replies_to_tell_apart=_to_tell_apart(slope, corrected, sample.scale),
            verdict=verdict(estimates[_KAPPA]),
            corrected=corrected,
            confusion=measures.confusion(sample).tolist(),
        )


def _to_tell_apart(slope: Estimate, corrected: Corrected | None, scale: Scale) -> int | None:
    """It takes the lower end of the slope, so that what is promised holds on these labels."""
    if corrected is None or slope.low is None or slope.low <= 0:
        return None
    variance = corrected.mean.variance * corrected.mean.independent
    sought = slope.low * point(scale) / 2
    return ceil(2 * variance * (_ERRORS_IN_4_OF_5 / sought) ** 2)
