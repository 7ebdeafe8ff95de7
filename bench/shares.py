"""How often `judge agreement`'s 95% interval of the share of good responses holds the truth: `python
-m bench.shares`.

Of 2,000 responses, 90, 96 or 99% are good. Judges take some good ones for bad, and some bad ones
for good. Of two figures for each number of labels, the first is the share of samples whose
interval holds the truth, and the second how wide it is.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from judge.evaluation.stats import Interval, MeanEstimate, MeanEstimator
from judge.scoring.rubric import Scale

SAMPLES = 1000
RESPONSES = 2000
LABELS = (20, 40, 50, 100, 200)
GOOD = (0.9, 0.96, 0.99)
JUDGES = {
    "strict, 1% wrong": (0.99, 1),
    "2%": (0.98, 1),
    "5%": (0.95, 1),
    "kind": (1, 0.5),
    "vague": (0.9, 0.8),
}
"""The shares of the good and of the bad responses that are taken for what they are."""


def estimates(
    good: float, right: tuple[float, float], labels: int, generator: np.random.Generator
) -> Iterator[MeanEstimate]:
    cells = {(1, 1): good * right[0], (0, 1): good * (1 - right[0])}
    cells |= {(1, 0): (1 - good) * (1 - right[1]), (0, 0): (1 - good) * right[1]}
    for _ in range(SAMPLES):
        mean = MeanEstimator(Scale(0, 1))
        drawn, others = (
            generator.multinomial(n, [*cells.values()]) for n in (labels, RESPONSES - labels)
        )
        for (score, label), with_label, without in zip(
            cells, drawn.tolist(), others.tolist(), strict=True
        ):
            mean.add(score, label, times=with_label)
            mean.add(score, times=without)
        found = mean.estimate()
        assert found is not None
        yield found


def cover(good: float, intervals: Sequence[Interval | None]) -> tuple[float, float]:
    """How many of the intervals hold the truth, and their mean width."""
    ends = [(each.low or 0, each.high or 0) for each in intervals if each]
    return float(np.mean([low <= good <= high for low, high in ends])), float(
        np.mean([high - low for low, high in ends])
    )


def main() -> None:
    generator = np.random.default_rng(52)
    print(f"{'good, judge':<24}", *(f"{n:>7} labels" for n in LABELS))
    for good, (name, right) in product(GOOD, JUDGES.items()):
        cells = []
        for labels in LABELS:
            found = [*estimates(good, right, labels, generator)]
            held, width = cover(good, [each.corrected for each in found])
            cells.append(f"{100 * held:>4.0f} {width:.2f} ")
        print(f"{good:<5}{name:<19}", *cells, flush=True)


if __name__ == "__main__":
    main()
