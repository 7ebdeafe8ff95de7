"""Whether what is promised of more labels comes: `python -m bench.planning`.

It prints the width of the corrected mean and of kappa that 50 more labels are promised to give,
beside what they gave.
"""

from statistics import fmean

import numpy as np

from judge.evaluation.agreement.report import make_report
from judge.evaluation.agreement.scores import Scores
from judge.evaluation.estimate import Response
from judge.evaluation.planning import within
from judge.evaluation.stats import MeanEstimator
from judge.scoring.rubric import Scale

SCALE = Scale(0, 5)
SHAPE = np.array((2, 3, 4, 4, 3, 1)) / 17
WIDTHS = 60
MORE = 50


def widths(labels: int, more: int, generator: np.random.Generator) -> tuple[float, list[float]]:
    """Half the width of the mean and, now and with 25, 50, 100 labels more, of kappa."""
    people = generator.choice(6, 500, p=SHAPE)
    scores = np.clip(people + generator.integers(-2, 3, 500), *SCALE)
    mean = MeanEstimator(SCALE)
    for number, (score, label) in enumerate(zip(scores.tolist(), people.tolist(), strict=True)):
        mean.add(score, label if number < labels else None)
    found = mean.estimate()
    assert found
    pairs = zip(scores.tolist(), people.tolist(), strict=True)
    rows = tuple(
        Response(str(n), {"judge": s}, (float(p),)) for n, (s, p) in enumerate(pairs) if n < labels
    )
    (by,) = make_report(Scores(rows, ("judge",), SCALE, (), 0)).with_people
    kappa = by.estimates["quadratic_weighted_kappa"]
    ends = by.narrowing.split("±")[1:]
    return within(found, more), [
        (kappa.high - kappa.low) / 2,
        *(float(each.strip(" ,.")) for each in ends),
    ]


def main() -> None:
    generator = np.random.default_rng(52)
    for labels in (20, 40, 100):
        promised = [widths(labels, MORE, generator) for _ in range(WIDTHS)]
        came = [widths(labels + MORE, 0, generator) for _ in range(WIDTHS)]
        mean = [fmean(each for each, _ in of) for of in (promised, came)]
        kappa = fmean(each[2] for _, each in promised), fmean(each[0] for _, each in came)
        print(f"{labels} labels and {MORE}: mean ±{mean[0]:.2f}, came ±{mean[1]:.2f};", end=" ")
        print(f"kappa ±{kappa[0]:.2f}, came ±{kappa[1]:.2f}")


if __name__ == "__main__":
    main()
