"""What people would say of all responses: means of a judge's scores, corrected by a few labels."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from judge.evaluation import stats
from judge.evaluation.distributions import error_quantile
from judge.evaluation.selection import SURE, Candidate, chance_of_draw
from judge.evaluation.severity import Given, Severities
from judge.evaluation.stats import MeanEstimate, MeanEstimator
from judge.scoring.rubric import Scale


@dataclass(frozen=True, slots=True)
class Response:
    """One response: the score of each judge, and the labels of people, on the rubric's scale.

    Responses of a `stratum` have the same chance of a label, or `times_drawn` that of the others;
    without one, `probability` is that chance. Those of one `thread`, or else to one prompt, are not
    independent.
    """

    prompt: str
    scores: Mapping[str, float | None]  # by the judge's name; None if the judge left it unscored
    labels: tuple[float, ...]  # one for each person
    group: str | None = None  # a value shared with other responses, such as its language
    blind: Given = ()  # the labels given before the score was seen, with who gave them
    probability: float = 1.0
    thread: str | None = None
    stratum: str | None = None
    times_drawn: int = 1


@dataclass(frozen=True)
class Corrected:
    """The mean of all scores and the share of good ones, each corrected by labels if there are any.

    Attributes:
        good_from: The lowest score that is good.
        severities: By how much each of the people who gave the labels gives more than their
            average, for which both are corrected.
        caveats: Whose average the figures are.
        plus_minus: How far a person's label is from a score in 9 of 10 cases; None below nine
            labels.
        is_unlike: Whether the labelled replies score unlike the others, so that nothing is
            corrected.
    """

    mean: MeanEstimate
    good: MeanEstimate
    good_from: int
    severities: Mapping[str, float]
    caveats: Sequence[str]
    plus_minus: float | None
    is_unlike: bool


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
    shares = stats.labelled_shares(
        (each.stratum, each.times_drawn, bool(each.blind), 1.0) for each, _ in scored
    )
    misses = Counter[tuple[float, float]]()
    candidates = []
    for response, score in scored:
        given = response.blind
        probability = response.probability
        if response.stratum is not None:
            probability = shares[response.stratum, response.times_drawn]
        cluster = response.thread or response.prompt
        of_mean.add(score, given=given, probability=probability, cluster=cluster)
        is_good = float(score >= good_from)
        of_good.add(is_good, given=are_good(given), probability=probability, cluster=cluster)
        if given:
            miss = abs(fmean(label for _, label in given) - score)
            misses[round(miss, 9), probability] += 1
        candidates.append(
            Candidate(score, bool(given), (response.stratum, response.times_drawn), cluster)
        )
    mean = of_mean.estimate()
    good = of_good.estimate()
    if mean is None or good is None:
        return None
    # Replies that were drawn with unequal probabilities should differ from the others.
    is_even = len({probability for _, probability in misses}) == 1
    is_unlike = is_even and chance_of_draw(candidates) < SURE
    if is_unlike:
        mean = replace(mean, corrected=None)
        good = replace(good, corrected=None)
    return Corrected(
        mean=mean,
        good=good,
        good_from=good_from,
        severities=severities.of,
        caveats=[*severities.words()],
        plus_minus=error_quantile(misses),
        is_unlike=is_unlike,
    )
