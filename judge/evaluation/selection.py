"""Whether labels may correct a figure: not if the replies were chosen rather than drawn, nor a
difference if its two sides are other people's.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from math import sqrt
from statistics import NormalDist, fmean
from typing import NamedTuple

from judge.evaluation.severity import Given, Severities, apart_shares, have_drifted

SURE = 0.05
"""Below this p-value labels correct nothing: correcting by chosen labels misleads more than not
correcting at all."""
UNLIKE = "the labelled replies score unlike the others, so they do not stand for them"


class Candidate(NamedTuple):
    """A reply that could have been labelled; `value` is what a person who chooses may go by."""

    value: float
    has_label: bool
    stratum: Hashable = None
    cluster: Hashable = None  # shared with replies that were perhaps labelled together


def chance_of_draw(replies: Iterable[Candidate]) -> float:
    """How likely labels that were drawn within strata have a mean value as far from that of all.

    It compares means, so that equal values cost it no power, as they cost the Kolmogorov-Smirnov
    test. Source: Mantel (1963), JASA 58(303); the variance of clusters is taken if it is larger.
    """
    strata = defaultdict[Hashable, list[Candidate]](list)
    for reply in replies:
        strata[reply.stratum].append(reply)
    sums = [_apart(all_replies) for all_replies in strata.values()]
    apart = sum(each.apart for each in sums)
    variance = sum(each.variance for each in sums)
    error = sqrt(max(variance, sum(each.by_clusters for each in sums)))
    return 2 * NormalDist().cdf(-abs(apart) / error) if error > 0 else 1.0


class _Apart(NamedTuple):
    """How far the labelled replies of a stratum are from its mean, all together, and the variance of
    that if they were drawn, by replies and by clusters.
    """

    apart: float = 0.0
    variance: float = 0.0
    by_clusters: float = 0.0


def _apart(replies: Sequence[Candidate]) -> _Apart:
    n = len(replies)
    labelled = [reply for reply in replies if reply.has_label]
    if n < 2 or not labelled:
        return _Apart()
    mean = fmean(reply.value for reply in replies)
    spread = sum((reply.value - mean) ** 2 for reply in replies) / (n - 1)
    left = 1 - len(labelled) / n
    sums = defaultdict[Hashable, float](float)
    for at, reply in enumerate(labelled):
        key = at if reply.cluster is None else (reply.cluster,)
        sums[key] += reply.value - mean
    squares = sum(each**2 for each in sums.values())
    return _Apart(sum(sums.values()), len(labelled) * left * spread, left * squares)


def why_uncorrected(
    severities: Severities,
    now: Sequence[Given],
    before: Sequence[Given],
    candidates: Iterable[Candidate],
) -> str:
    """Why labels do not correct a difference; empty if they do.

    Args:
        severities: Of the people who gave the labels of both sides.
        now: The labels of one side.
        before: Those of the other.
        candidates: The replies of both sides, labelled or not.
    """
    if not severities.link(apart_shares(now, before)):
        shared = "too few replies" if severities.people else "no reply"
        return f"each side has other people's labels, and they share {shared}"
    if have_drifted(now, before):
        return "by the replies that several labelled, a person has become stricter or kinder"
    if chance_of_draw(candidates) < SURE:
        return UNLIKE
    return ""
