"""Figures for all responses from a judge's scores and a few people's labels, and how far they may be off."""

from judge.estimate.likeness import SURE, kolmogorov_smirnov
from judge.estimate.mean import MIN_LABELS, Interval, MeanEstimate, MeanEstimator, good_from
from judge.estimate.misses import plus_minus

__all__ = [
    "MIN_LABELS",
    "SURE",
    "Interval",
    "MeanEstimate",
    "MeanEstimator",
    "good_from",
    "kolmogorov_smirnov",
    "plus_minus",
]
