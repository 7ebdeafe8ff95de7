"""Calibration: a map from the mean of the judge's ratings to people's labels, in steps or a line;
no prompt changes.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import isnan
from statistics import fmean, pstdev

from judge.evaluation.align.asking import CaseScores
from judge.evaluation.align.cases import LabelledCase, to_digest
from judge.evaluation.kappa import Moments
from judge.scoring.rubric import Calibration, Rubric, Scale

_FOLDS = 5

Pairs = Sequence[tuple[float, float]]
"""The judge's means with people's labels."""
Fit = Callable[[Pairs, Scale], Calibration]


def propose(
    rubric: Rubric, learned: Sequence[LabelledCase], scores: CaseScores
) -> tuple[Rubric | None, str, CaseScores]:
    """The rubric with a calibration that brings the scores closer to people's, or None and the
    reason.

    Also, the scores by calibrations that were fitted to other threads. Of those that bring these
    closer, the one with the highest kappa is taken: the one that is closest may be close because it
    gives hardly more than the middle.
    """
    rows = [
        (one, each) for each in learned if (one := scores.get(each.id)) and one.mean is not None
    ]
    pairs, threads = (
        [(one.mean or 0, each.label) for one, each in rows],
        [each.thread for _, each in rows],
    )
    found: list[tuple[float, Fit, Sequence[int]]] = []
    fits: tuple[Fit, ...] = steps, line
    for fit in fits if len(set(threads)) >= 4 else ():  # threads with a score
        after = cross_fitted(fit, pairs, threads, rubric.scale)
        gains = (
            abs((one.score or 0) - each.label) - abs(score - each.label)
            for (one, each), score in zip(rows, after, strict=True)
        )
        if sum(gains) > 0:
            kappa = Moments.of(
                (score, each.label) for (_, each), score in zip(rows, after, strict=True)
            ).kappa
            found.append((-1 if isnan(kappa) else kappa, fit, after))
    if not found:
        return (
            None,
            "On the labels to learn from, it does not bring the scores closer to people's.",
            {},
        )
    _, fit, after = max(found, key=lambda each: each[0])
    fitted = {
        each.id: one._replace(score=score) for (one, each), score in zip(rows, after, strict=True)
    }
    return rubric.calibrated(fit(pairs, rubric.scale)), "", fitted


def steps(pairs: Pairs, _: Scale) -> Calibration:
    """The non-decreasing map from means of ratings that is closest to people's labels by least
    squares.

    Source: pool adjacent violators, Barlow and Brunk (1972), JASA 67. Each run of equal values
    keeps its two ends.
    """
    labels = defaultdict[float, list[float]](list)
    for mean, label in pairs:
        labels[mean].append(label)
    runs: list[
        tuple[list[float], list[float]]
    ] = []  # means of the judge, and the labels that they share
    for mean in sorted(labels):
        run = [mean], labels[mean]
        while runs and fmean(runs[-1][1]) >= fmean(run[1]) - 1e-9:  # equal but for rounding, too
            before = runs.pop()
            run = before[0] + run[0], before[1] + run[1]
        runs.append(run)
    points = {
        round(end, 2): round(fmean(given), 2)
        for means, given in runs
        for end in (means[0], means[-1])
    }
    return Calibration(tuple(points.items()))


def line(pairs: Pairs, scale: Scale) -> Calibration:
    """The line through both means that gives the judge people's spread, but never a smaller one
    than it has.

    A smaller one brings any vague judge closer to people, though it tells good from bad no better.
    """
    means, labels = zip(*pairs, strict=True)
    x, y, slope = fmean(means), fmean(labels), max(pstdev(labels) / (pstdev(means) or 1), 1.0)
    ends = ((min(max(x + (end - y) / slope, scale.low), scale.high)) for end in scale)
    points = {round(each, 2): y + slope * (each - x) for each in sorted({*scale, *ends})}
    return Calibration(
        tuple((each, round(min(max(to, scale.low), scale.high), 2)) for each, to in points.items())
    )


def cross_fitted(fit: Fit, pairs: Pairs, threads: Sequence[str], scale: Scale) -> Sequence[int]:
    """Each pair's score by a map that was fitted to the pairs of other threads, in five folds of
    threads by hash.
    """
    fold_of = {
        thread: number % _FOLDS for number, thread in enumerate(sorted(set(threads), key=to_digest))
    }
    folds = [fold_of[thread] for thread in threads]
    maps = [
        fit([pair for pair, own in zip(pairs, folds, strict=True) if own != fold], scale)
        for fold in range(_FOLDS)
    ]
    return [maps[own].score(mean) for (mean, _), own in zip(pairs, folds, strict=True)]
