"""Whether what is promised of more labels, and of gains that would show, comes: `python -m
bench.planning`.

First the width of the corrected mean and of kappa that 50 more labels are promised to give, beside
what they gave. Then, for `judge align`, the gain that is said to show in 4 of 5 tests, and the
share of tests that show it. There, a part of the scores is a point too high before the change, and
others are off by a point before and after it.
"""

from itertools import product
from statistics import fmean

import numpy as np

from judge.evaluation.agreement.report import make_report
from judge.evaluation.agreement.scores import Response, Scores
from judge.evaluation.planning import to_be_seen, within
from judge.evaluation.stats import MeanEstimator, paired
from judge.scoring.rubric import Scale

SCALE, SHAPE = Scale(0, 5), np.array((2, 3, 4, 4, 3, 1)) / 17
WIDTHS, TESTS, MORE = 60, 400, 50


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


def gains(number: int, part: float, noise: float, generator: np.random.Generator) -> np.ndarray:
    """By how much each score comes closer to people's."""
    people = generator.choice(6, number, p=SHAPE)
    off = generator.choice((-1, 0, 1), (2, number), p=(noise, 1 - 2 * noise, noise))
    before = np.clip(people + off[0] + (generator.random(number) < part), *SCALE)
    return np.asarray(np.abs(before - people) - np.abs(np.clip(people + off[1], *SCALE) - people))


def main() -> None:
    generator = np.random.default_rng(52)
    for labels in (20, 40, 100):
        promised = [widths(labels, MORE, generator) for _ in range(WIDTHS)]
        came = [widths(labels + MORE, 0, generator) for _ in range(WIDTHS)]
        mean = [fmean(each for each, _ in of) for of in (promised, came)]
        kappa = fmean(each[2] for _, each in promised), fmean(each[0] for _, each in came)
        print(f"{labels} labels and {MORE}: mean ±{mean[0]:.2f}, came ±{mean[1]:.2f};", end=" ")
        print(f"kappa ±{kappa[0]:.2f}, came ±{kappa[1]:.2f}")
    for tail, number, noise in product((0.025, 0.05 / 6), (18, 36, 60, 90), (0.1, 0.25)):

        def test(
            part: float, number: int = number, noise: float = noise, tail: float = tail
        ) -> tuple[bool, float]:
            each = gains(number, part, noise, generator).tolist()
            found = paired(((gain, at) for at, gain in enumerate(each)), SCALE, tail)
            assert found
            return (found.low or 0) > 0, to_be_seen(found, tail, number) or 0

        promised_gain = fmean(
            seen for is_clear, seen in (test(0) for _ in range(TESTS)) if not is_clear
        )
        reached = [
            (abs(gains(20_000, part, noise, generator).mean() - promised_gain), part)
            for part in np.linspace(0, 1, 41)
        ]
        far, part = min(reached)
        shown = (
            f"{fmean(test(part)[0] for _ in range(TESTS)):.0%} show it"
            if far < 0.02
            else "no part gains that here"
        )
        print(
            (
                f"{1 - 2 * tail:.1%}, {number} threads, {noise:.0%} a point off: "
                f"{promised_gain:.2f}, {shown}"
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
