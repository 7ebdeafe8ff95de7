"""What people would say of all responses: means of a judge's scores, corrected by a few labels."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from judge.evaluation import stats
from judge.evaluation.planning import MORE_LABELS, within
from judge.evaluation.severity import Given, Severities
from judge.evaluation.stats import Interval, MeanEstimate, MeanEstimator
from judge.scoring.rubric import Scale


@dataclass(frozen=True)
class ScoredReply:
    """A score, and the labels that correct it: see `MeanEstimator.add`.

    Replies of a `stratum` have the same chance of a label; without one, `probability` is that
    chance.
    """

    score: float
    labels: Given  # those given blind
    probability: float = 1.0
    cluster: str | None = None
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
        unlike: In which of `score` and `length` the labelled replies differ from the others, with
            the p of the test.
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


def correct(replies: Iterable[ScoredReply], scale: Scale) -> Corrected | None:
    """The figures of these replies by one judge; None if there are none."""
    known = list(replies)
    good_from = stats.good_from(scale)

    def are_good(given: Given) -> Given:
        return [(person, float(label >= good_from)) for person, label in given]

    labelled = [reply for reply in known if reply.labels]
    severities = Severities(reply.labels for reply in labelled)
    of_mean = MeanEstimator(scale, severities)
    of_good = MeanEstimator(Scale(0, 1), Severities(are_good(reply.labels) for reply in labelled))
    # A stratum counts by its size, whatever was drawn from it and has been labelled so far.
    shares = stats.labelled_shares((reply.stratum, bool(reply.labels), 1.0) for reply in known)
    misses = Counter[tuple[float, float]]()
    for reply in known:
        probability = reply.probability if reply.stratum is None else shares[reply.stratum]
        of_mean.add(reply.score, given=reply.labels, probability=probability, cluster=reply.cluster)
        of_good.add(
            float(reply.score >= good_from),
            given=are_good(reply.labels),
            probability=probability,
            cluster=reply.cluster,
        )
        if reply.labels:
            miss = abs(fmean(label for _, label in reply.labels) - reply.score)
            misses[round(miss, 9), probability] += 1
    mean = of_mean.estimate()
    good = of_good.estimate()
    if mean is None or good is None:
        return None
    # Replies that were drawn with unequal probabilities should differ from the others.
    is_even = len({probability for _, probability in misses}) == 1
    unlike = _unlike(known) if is_even else {}
    return Corrected(mean, good, good_from, severities, stats.error_quantile(misses), unlike)


def _unlike(replies: Iterable[ScoredReply]) -> dict[str, float]:
    """In what the replies with a label differ from those without one, with the p of the test."""
    found = {}
    for name in ("score", "length"):
        values = {True: Counter[float](), False: Counter[float]()}
        for reply in replies:
            value = getattr(reply, name)
            if value is not None:
                values[bool(reply.labels)][value] += 1
        p = stats.kolmogorov_smirnov(values[True], values[False])
        if p < 0.05:  # ties make it larger than needed
            found[name] = p
    return found
