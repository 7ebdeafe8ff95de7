"""The agreement of each judge in a file with people: of all responses, by group and by person."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import ceil, isnan
from typing import Any

from judge.errors import SetupError
from judge.evaluation.agreement import measures
from judge.evaluation.agreement.groups import Kindness, find_kindness
from judge.evaluation.agreement.measures import MEASURES, MIN_PROMPTS, Estimate, estimate
from judge.evaluation.agreement.sample import Sample, to_sample
from judge.evaluation.agreement.scores import Scores
from judge.evaluation.estimate import Corrected
from judge.evaluation.labelled import mean_labels
from judge.evaluation.stats import Interval
from judge.scoring.ratings import point

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


def verdict(kappa: Estimate, beside: Estimate | None) -> str:
    """How well the judge agrees with people, compared with how well people agree with each other,
    if that is known.

    It says "about as well" only if the interval rules out that the judge is behind by 0.1 or more.
    An interval that is wide because there are few labels gives no answer. If nothing is known of
    people, it puts kappa into words.
    """
    if beside is None or isnan(beside.low):
        return _in_words(kappa)
    figures = (
        f"(kappa {beside.value:+.2f}, between {beside.low:+.2f} and {beside.high:+.2f}; "
        f"{beside.n:,} responses)"
    )
    if beside.low > 0:
        return f"Agrees with people better than people do with each other {figures}."
    if beside.low > -0.1:  # half the step between the words above
        return f"Agrees with people about as well as people do with each other {figures}."
    if beside.high < 0:
        return f"Agrees with people less well than people do with each other {figures}."
    return (
        "Too few labels to say if it agrees with people as well as people do with each other "
        f"{figures}."
    )


def _in_words(kappa: Estimate) -> str:
    if isnan(kappa.value):
        return f"No verdict on the agreement with people: {kappa.note}."
    if isnan(kappa.low):
        few = kappa.prompts < MIN_PROMPTS
        why = f"{kappa.prompts} prompts, and {MIN_PROMPTS} are needed" if few else kappa.note
        return f"No verdict on the agreement with people: {why}."
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

    `unscored` counts the labelled responses that the judge left without a score; `corrected` is
    what people would say of all responses, labelled or not.
    """

    judge: str
    sample: Sample
    estimates: dict[str, Estimate]
    unscored: int = 0
    corrected: Corrected | None = None

    @cached_property
    def beside_people(self) -> Estimate | None:
        """The kappa of the judge with one person, minus that of one person with another, over the
        same responses.

        None if no response has several labels.
        """
        if self.sample.labels.shape[1] < 2:
            return None
        return estimate(measures.beside_people(self.sample))

    @cached_property
    def slope(self) -> Estimate:
        return estimate(measures.slope(self.sample))

    @property
    def replies_to_tell_apart(self) -> int | None:
        """How many scored replies of each of two assistants would show in 4 of 5 cases that people
        give one half a point more; None if the labels do not say whether the judge would follow.

        It takes the lower end of the slope, so that what is promised holds on these labels.
        """
        mean = self.corrected.mean if self.corrected else None
        if mean is None or not self.slope.low > 0:
            return None
        variance = mean.variance * mean.independent
        sought = self.slope.low * point(self.sample.scale) / 2
        return ceil(2 * variance * (_ERRORS_IN_4_OF_5 / sought) ** 2)

    @property
    def calibration(self) -> Sequence[tuple[int, Interval]]:
        """What people give on average at each of the judge's scores."""
        sample = self.sample
        columns = sample.scores.tolist(), sample.label.tolist(), sample.prompts.tolist()
        return [
            (score, found.judge)
            for score, found in mean_labels(zip(*columns, strict=True), sample.scale)
        ]

    @property
    def verdict(self) -> str:
        """A sentence on how well the judge agrees with people."""
        return verdict(self.estimates[_KAPPA], self.beside_people)

    def to_dict(self) -> dict[str, Any]:
        return {
            "judge": self.judge,
            "responses": len(self.sample.scores),
            "prompts": self.sample.n_prompts,
            "unscored": self.unscored,
            "slope": self.slope.to_dict(),
            "replies_to_tell_apart": self.replies_to_tell_apart,
            "verdict": self.verdict,
            "beside_people": self.beside_people.to_dict() if self.beside_people else None,
            "corrected": self.corrected.to_dict() if self.corrected else None,
            "measures": {name: each.to_dict() for name, each in self.estimates.items()},
            "confusion": measures.confusion(self.sample).tolist(),
        }


@dataclass(frozen=True)
class Report:
    scores: Scores
    with_people: Sequence[Comparison]  # each judge that scored a labelled response
    by_group: Sequence[tuple[str, Comparison]]  # largest group first
    by_person: Sequence[tuple[str, Comparison]]  # with the most labels first; blind ones alone
    kindness: Sequence[Kindness]

    @property
    def unlabelled(self) -> int:
        return sum(not response.labels for response in self.scores.responses)

    @property
    def not_blind(self) -> int:
        """The labels given after the score was seen."""
        return sum(len(each.labels) - len(each.blind) for each in self.scores.responses)

    def to_dict(self) -> dict[str, Any]:
        return {
            "scale": list(self.scores.scale),
            "with_people": [each.to_dict() for each in self.with_people],
            "by_group": [{"group": group, **each.to_dict()} for group, each in self.by_group],
            "by_person": [{"person": who, **each.to_dict()} for who, each in self.by_person],
            "kindness": [asdict(each) for each in self.kindness],
            "unlabelled": self.unlabelled,
            "not_blind": self.not_blind,
            "repeats": self.scores.repeats,
            "problems": list(self.scores.problems),
        }


def make_report(scores: Scores) -> Report:
    """All comparisons that the scores allow.

    Raises SetupError if no response has both a score and a label.
    """
    with_people = [
        replace(comparison, corrected=scores.corrected(comparison.judge))
        for comparison in _compare(scores, MEASURES)
    ]
    if not with_people:
        first = f" ({scores.problems[0]})" if scores.problems else ""
        raise SetupError(f"No response has both a score and a label that can be used{first}.")
    by_group: list[tuple[str, Comparison]] = []
    sizes = Counter(each.group for each in scores.responses if each.group is not None)
    for group, _ in sizes.most_common():
        own = replace(
            scores, responses=tuple(each for each in scores.responses if each.group == group)
        )
        by_group += [
            (group, replace(each, corrected=own.corrected(each.judge)))
            for each in _compare(own, _FEW)
        ]
    return Report(
        scores=scores,
        with_people=with_people,
        by_group=by_group,
        by_person=[*_by_person(scores)],
        kindness=find_kindness(scores),
    )


def _by_person(scores: Scores) -> Iterator[tuple[str, Comparison]]:
    """Each person who gave blind labels, where several did."""
    sizes = Counter(by for each in scores.responses for by, _ in each.blind if by)
    if len(sizes) < 2:
        return
    for person, _ in sizes.most_common():
        own = []
        for response in scores.responses:
            labels = tuple(label for by, label in response.blind if by == person)
            own.append(replace(response, labels=labels))
        for compared in _compare(replace(scores, responses=tuple(own)), _FEW):
            yield person, compared


def _compare(scores: Scores, chosen: Iterable[str]) -> Iterator[Comparison]:
    for judge in scores.judges:
        if sample := to_sample(scores, judge):
            estimates = {name: estimate(MEASURES[name](sample)) for name in chosen}
            labelled = [response for response in scores.responses if response.labels]
            unscored = sum(response.scores.get(judge) is None for response in labelled)
            yield Comparison(judge, sample, estimates, unscored)
