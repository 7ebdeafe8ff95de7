"""What people would say of all responses: means of a judge's scores, corrected by a few labels."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from judge.evaluation import stats
from judge.evaluation.distributions import error_quantile
from judge.evaluation.planning import MORE_LABELS, within
from judge.evaluation.selection import SURE, Candidate, chance_of_draw
from judge.evaluation.severity import Given, Severities
from judge.evaluation.stats import Interval, MeanEstimate, MeanEstimator
from judge.scoring.rubric import Scale


@dataclass(frozen=True, slots=True)
class Response:
    """One response: the score of each judge, and the labels of people, on the rubric's scale.

    Responses of a `stratum` have the same chance of a label; without one, `probability` is that
    chance. Those of one `thread`, or else to one prompt, are not independent.
    """

    prompt: str
    scores: Mapping[str, float | None]  # by the judge's name; None if the judge left it unscored
    labels: tuple[float, ...]  # one for each person
    group: str | None = None  # a value shared with other responses, such as its language
    blind: Given = ()  # the labels given before the score was seen, with who gave them
    probability: float = 1.0
    thread: str | None = None
    stratum: str | None = None
    length: int | None = None


@dataclass(frozen=True)
class Corrected:
    """The mean of all scores and the share of good ones, each corrected by labels if there are any.

    Attributes:
        good_from: The lowest score that is good.
        severities: Of the people who gave the labels, which both are corrected for.
        plus_minus: How far a person's label is from a score in 9 of 10 cases; None below nine
            labels.
        unlike: In which of `score` and `length` the labelled replies differ from all, with the
            chance of drawing such ones. If it is the score, nothing is corrected.
    """

    mean: MeanEstimate
    good: MeanEstimate
    good_from: int
    severities: Severities
    plus_minus: float | None
    unlike: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain dicts, lists and numbers, ready for `json.dumps`."""
        return {
            **_figures(self.mean),
            "n": self.mean.n,
            "labelled": self.mean.labelled,
            "effective": self.mean.effective,
            "within_by_more_labels": {more: within(self.mean, more) for more in MORE_LABELS},
            "good": {"from": self.good_from, **_figures(self.good)},
            "plus_minus": self.plus_minus,
            "severities": self.severities.of,
            "unlike": self.unlike,
        }


def _figures(mean: MeanEstimate) -> dict[str, Any]:
    return {
        **_ends(mean.corrected),
        "judge": _ends(mean.judge),
        "judge_weight": mean.weight,
        "labels_only": _ends(mean.labels_only),
    }


def _ends(interval: Interval | None) -> dict[str, float | None]:
    return interval._asdict() if interval else dict.fromkeys(Interval._fields)


def correct(responses: Iterable[Response], judge: str, scale: Scale) -> Corrected | None:
    """The figures of all responses that a judge scored; None if there are none."""
    scored = [
        (response, score)
        for response in responses
        if (score := response.scores.get(judge)) is not None
    ]
    good_from = stats.good_from(scale)

    def are_good(given: Given) -> Given:
        return [(person, float(label >= good_from)) for person, label in given]

    labelled = [response.blind for response, _ in scored if response.blind]
    severities = Severities(labelled)
    of_mean = MeanEstimator(scale, severities)
    of_good = MeanEstimator(Scale(0, 1), Severities(map(are_good, labelled)))
    # A stratum counts by its size, whatever was drawn from it and has been labelled so far.
    shares = stats.labelled_shares((each.stratum, bool(each.blind), 1.0) for each, _ in scored)
    misses = Counter[tuple[float, float]]()
    for response, score in scored:
        given = response.blind
        probability = response.probability
        if response.stratum is not None:
            probability = shares[response.stratum]
        cluster = response.thread or response.prompt
        of_mean.add(score, given=given, probability=probability, cluster=cluster)
        is_good = float(score >= good_from)
        of_good.add(is_good, given=are_good(given), probability=probability, cluster=cluster)
        if given:
            miss = abs(fmean(label for _, label in given) - score)
            misses[round(miss, 9), probability] += 1
    mean = of_mean.estimate()
    good = of_good.estimate()
    if mean is None or good is None:
        return None
    # Replies that were drawn with unequal probabilities should differ from the others.
    is_even = len({probability for _, probability in misses}) == 1
    unlike = _unlike(scored) if is_even else {}
    if "score" in unlike:
        mean = replace(mean, corrected=None, labels_only=None)
        good = replace(good, corrected=None, labels_only=None)
    return Corrected(mean, good, good_from, severities, error_quantile(misses), unlike)


def _unlike(scored: Iterable[tuple[Response, float]]) -> dict[str, float]:
    """In what the responses with a label differ from all, with the chance of drawing such ones."""
    by_score = []
    by_length = []
    for response, score in scored:
        has_label = bool(response.blind)
        cluster = response.thread or response.prompt
        by_score.append(Candidate(score, has_label, response.stratum, cluster))
        if response.length is not None:
            candidate = Candidate(response.length, has_label, response.stratum, cluster)
            by_length.append(candidate)
    chances = {"score": chance_of_draw(by_score), "length": chance_of_draw(by_length)}
    return {name: chance for name, chance in chances.items() if chance < SURE}
