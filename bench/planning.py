"""Whether what is promised of more labels comes: `python -m bench.planning`.

It prints the width of the corrected mean that 50 more labels are promised to give,
beside what they gave.
"""

from statistics import fmean

import numpy as np

from judge.evaluation.planning import within
from judge.evaluation.stats import MeanEstimator
from judge.scoring.rubric import Scale

SCALE = Scale(0, 5)
SHAPE = np.array((2, 3, 4, 4, 3, 1)) / 17
SAMPLES = 60
MORE = 50


def reach(labels: int, more: int, generator: np.random.Generator) -> float:
    """How far the interval of the mean reaches to each side with so many more labels."""
    people = generator.choice(6, 500, p=SHAPE)
    scores = np.clip(people + generator.integers(-2, 3, 500), *SCALE)
    mean = MeanEstimator(SCALE)
    for number, (score, label) in enumerate(zip(scores.tolist(), people.tolist(), strict=True)):
        mean.add(score, label if number < labels else None)
    found = mean.estimate()
    assert found
    return within(found, more)


def main() -> None:
    generator = np.random.default_rng(52)
    for labels in (20, 40, 100):
        promised = fmean(reach(labels, MORE, generator) for _ in range(SAMPLES))
        came = fmean(reach(labels + MORE, 0, generator) for _ in range(SAMPLES))
        print(f"{labels} labels and {MORE}: mean ±{promised:.2f}, came ±{came:.2f}")


if __name__ == "__main__":
    main()
