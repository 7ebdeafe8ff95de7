"""Calibration: a non-decreasing map from the mean of the judge's ratings to people's labels; no prompt changes."""

from collections.abc import Sequence
from typing import NamedTuple

from judge.evaluation.align.cases import to_digest
from judge.scoring.rubric import Calibration, Scale

_FOLDS = 5


class Pair(NamedTuple):
    """The mean of the judge's ratings of a case, people's label for it, and its thread."""

    mean: float
    label: float
    thread: str


def fit(pairs: Sequence[Pair], scale: Scale) -> Calibration:
    """The non-decreasing map that is closest to the labels by least squares.

    Source: isotonic regression, Barlow and Brunk (1972), JASA 67, as in scikit-learn.
    """
    from sklearn.isotonic import IsotonicRegression  # type: ignore[import-untyped]

    model = IsotonicRegression(y_min=scale.low, y_max=scale.high)
    model.fit([each.mean for each in pairs], [each.label for each in pairs])
    points = dict(zip(model.X_thresholds_.round(2).tolist(), model.y_thresholds_.round(2).tolist(), strict=True))
    return Calibration(tuple(points.items()))


def cross_fitted(pairs: Sequence[Pair], scale: Scale) -> Sequence[int]:
    """Each pair's score by a map that was fitted to the pairs of other threads, in five folds of threads by hash."""
    threads = sorted({each.thread for each in pairs}, key=to_digest)
    folds = {thread: number % _FOLDS for number, thread in enumerate(threads)}
    maps = [fit([each for each in pairs if folds[each.thread] != fold], scale) for fold in range(_FOLDS)]
    return [maps[folds[each.thread]].score(each.mean) for each in pairs]
