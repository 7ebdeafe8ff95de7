"""What people would say of all responses: means of a judge's scores, corrected by a few labels."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

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
        unlike: The mean score of the labelled replies and that of the others, if they are so
            unlike that nothing is corrected.
    """

    mean: MeanEstimate
    good: MeanEstimate
    good_from: int
    severities: Mapping[str, float]
    caveats: Sequence[str]
    plus_minus: float | None
    unlike: tuple[float, float] | None


class Counted(NamedTuple):
    """A scored reply as it counts in a mean.

    `stratum`, `times_drawn` and `probability` are those of a `Response`. It stands for `weight`
    replies. Those of a `cluster` are not independent.
    """

    score: float
    given: Given = ()
    stratum: Hashable = None
    times_drawn: int = 1
    probability: float = 1.0
    cluster: Hashable = None
    weight: float = 1.0


def corrected_mean(
    replies: Sequence[Counted], scale: Scale
) -> tuple[MeanEstimate | None, Severities]:
    """The mean of all scores, corrected by the labels unless these were chosen by quality; None
    without a score. With the severities of the people who gave them.
    """
    severities = Severities(reply.given for reply in replies if reply.given)
    # A stratum counts by its size, whatever was drawn from it and has been labelled so far.
    shares = stats.labelled_shares(
        (each.stratum, each.times_drawn, bool(each.given), each.weight) for each in replies
    )
    sizes = Counter(reply.cluster for reply in replies)
    weight = sum(reply.weight for reply in replies) / max(len(replies), 1)
    estimator = MeanEstimator(scale, severities)
    for reply in replies:
        probability = reply.probability
        if reply.stratum is not None:
            probability = shares[reply.stratum, reply.times_drawn]
        estimator.add(
            reply.score,
            given=reply.given,
            probability=probability,
            cluster=reply.cluster if sizes[reply.cluster] > 1 else None,
            weight=reply.weight / weight,
        )
    mean = estimator.estimate()
    if mean and _are_chosen(replies):
        mean = replace(mean, corrected=None)
    return mean, severities


def _are_chosen(replies: Sequence[Counted]) -> bool:
    """Whether the labelled replies are too unlike the others for a draw."""
    odds = {reply.probability for reply in replies if reply.given and reply.stratum is None}
    if len(odds) > 1:
        # Replies that were drawn with unequal probabilities should differ from the others.
        return False
    candidates = (
        Candidate(
            value=reply.score,
            has_label=bool(reply.given),
            stratum=(reply.stratum, reply.times_drawn),
            cluster=reply.cluster,
        )
        for reply in replies
    )
    return chance_of_draw(candidates) < SURE


def correct(responses: Iterable[Response], judge: str, scale: Scale) -> Corrected | None:
    """The figures of all responses that a judge scored; None if there are none."""
    good_from = stats.good_from(scale)
    scored = ((response, response.scores.get(judge)) for response in responses)
    replies = [_to_counted(response, score) for response, score in scored if score is not None]
    mean, severities = corrected_mean(replies, scale)
    good, _ = corrected_mean([_as_good(reply, good_from) for reply in replies], Scale(0, 1))
    if mean is None or good is None:
        return None
    unlike = None
    if mean.labelled and mean.corrected is None:
        labelled = fmean(reply.score for reply in replies if reply.given)
        unlike = (labelled, fmean(reply.score for reply in replies if not reply.given))
        good = replace(good, corrected=None)
    return Corrected(
        mean=mean,
        good=good,
        good_from=good_from,
        severities=severities.of,
        caveats=[*severities.words()],
        plus_minus=error_quantile(_misses(replies)),
        unlike=unlike,
    )


def _to_counted(response: Response, score: float) -> Counted:
    return Counted(
        score=score,
        given=response.blind,
        stratum=response.stratum,
        times_drawn=response.times_drawn,
        probability=response.probability,
        cluster=response.thread or response.prompt,
    )


def _as_good(reply: Counted, good_from: int) -> Counted:
    """The reply with 1 instead of each good score and label, and 0 instead of the others."""
    given = [(person, float(label >= good_from)) for person, label in reply.given]
    return reply._replace(score=float(reply.score >= good_from), given=given)


def _misses(replies: Iterable[Counted]) -> Counter[tuple[float, float]]:
    """How often labels are so far from a score that was drawn with that probability."""
    misses = Counter[tuple[float, float]]()
    for reply in replies:
        if reply.given:
            miss = abs(fmean(label for _, label in reply.given) - reply.score)
            misses[round(miss, 9), reply.probability] += 1
    return misses
