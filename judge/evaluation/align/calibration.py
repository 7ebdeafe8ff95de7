"""Calibration: a non-decreasing map from the mean of the judge's ratings to people's labels; no prompt changes."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from judge.evaluation.align.asking import CaseScores
from judge.evaluation.align.cases import LabelledCase, to_digest
from judge.scoring.rubric import Calibration, Rubric

_FOLDS = 5
_LEAST = 4  # threads with a score
_SAME = 1e-9


class Pair(NamedTuple):
    """The mean of the judge's ratings of a case, people's label for it, and its thread."""

    mean: float
    label: float
    thread: str


def propose(rubric: Rubric, learned: Sequence[LabelledCase], scores: CaseScores) -> tuple[Rubric | None, str]:
    """The rubric with a calibration that brings the scores closer to people's; None and the reason if none does."""
    rows = [(one, each) for each in learned if (one := scores.get(each.id)) and one.mean is not None]
    pairs = [Pair(one.mean or 0, each.label, each.thread) for one, each in rows]
    if len({each.thread for each in pairs}) >= _LEAST:
        after = cross_fitted(pairs)
        gains = (
            abs((one.score or 0) - each.label) - abs(score - each.label)
            for (one, each), score in zip(rows, after, strict=True)
        )
        if sum(gains) > 0:
            return rubric.calibrated(fit(pairs)), ""
    return None, "On the labels to learn from, it does not bring the scores closer to people's."


def fit(pairs: Sequence[Pair]) -> Calibration:
    """The non-decreasing map that is closest to the labels by least squares.

    Source: pool adjacent violators, Barlow and Brunk (1972), JASA 67. Each run of equal values keeps its two ends.
    """
    labels = defaultdict[float, list[float]](list)
    for each in pairs:
        labels[each.mean].append(each.label)
    runs: list[tuple[list[float], list[float]]] = []  # means of the judge, and the labels that they share
    for mean in sorted(labels):
        run = [mean], labels[mean]
        while runs and fmean(runs[-1][1]) >= fmean(run[1]) - _SAME:
            before = runs.pop()
            run = before[0] + run[0], before[1] + run[1]
        runs.append(run)
    points = {round(end, 2): round(fmean(given), 2) for means, given in runs for end in (means[0], means[-1])}
    return Calibration(tuple(points.items()))


def cross_fitted(pairs: Sequence[Pair]) -> Sequence[int]:
    """Each pair's score by a map that was fitted to the pairs of other threads, in five folds of threads by hash."""
    threads = sorted({each.thread for each in pairs}, key=to_digest)
    folds = {thread: number % _FOLDS for number, thread in enumerate(threads)}
    maps = [fit([each for each in pairs if folds[each.thread] != fold]) for fold in range(_FOLDS)]
    return [maps[folds[each.thread]].score(each.mean) for each in pairs]
