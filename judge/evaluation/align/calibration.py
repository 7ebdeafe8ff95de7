"""Calibration: a non-decreasing map from the mean of the judge's ratings to people's labels; no prompt changes."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from judge.evaluation.align.asking import CaseScores
from judge.evaluation.align.cases import LabelledCase, to_digest
from judge.scoring.rubric import Calibration, Rubric

_FOLDS = 5
_LEAST = 4  # threads with a score
_SAME = 1e-9


def propose(rubric: Rubric, learned: Sequence[LabelledCase], scores: CaseScores) -> tuple[Rubric | None, str]:
    """The rubric with a calibration that brings the scores closer to people's; None and the reason if none does."""
    rows = [(one, each) for each in learned if (one := scores.get(each.id)) and one.mean is not None]
    pairs, threads = [(one.mean or 0, each.label) for one, each in rows], [each.thread for _, each in rows]
    if len(set(threads)) >= _LEAST:
        after = cross_fitted(pairs, threads)
        gains = (
            abs((one.score or 0) - each.label) - abs(score - each.label)
            for (one, each), score in zip(rows, after, strict=True)
        )
        if sum(gains) > 0:
            return rubric.calibrated(fit(pairs)), ""
    return None, "On the labels to learn from, it does not bring the scores closer to people's."


def fit(pairs: Sequence[tuple[float, float]]) -> Calibration:
    """The non-decreasing map from means of ratings that is closest to people's labels by least squares.

    Source: pool adjacent violators, Barlow and Brunk (1972), JASA 67. Each run of equal values keeps its two ends.
    """
    labels = defaultdict[float, list[float]](list)
    for mean, label in pairs:
        labels[mean].append(label)
    runs: list[tuple[list[float], list[float]]] = []  # means of the judge, and the labels that they share
    for mean in sorted(labels):
        run = [mean], labels[mean]
        while runs and fmean(runs[-1][1]) >= fmean(run[1]) - _SAME:
            before = runs.pop()
            run = before[0] + run[0], before[1] + run[1]
        runs.append(run)
    points = {round(end, 2): round(fmean(given), 2) for means, given in runs for end in (means[0], means[-1])}
    return Calibration(tuple(points.items()))


def cross_fitted(pairs: Sequence[tuple[float, float]], threads: Sequence[str]) -> Sequence[int]:
    """Each pair's score by a map that was fitted to the pairs of other threads, in five folds of threads by hash."""
    fold_of = {thread: number % _FOLDS for number, thread in enumerate(sorted(set(threads), key=to_digest))}
    folds = [fold_of[thread] for thread in threads]
    maps = [fit([pair for pair, own in zip(pairs, folds, strict=True) if own != fold]) for fold in range(_FOLDS)]
    return [maps[own].score(mean) for (mean, _), own in zip(pairs, folds, strict=True)]
