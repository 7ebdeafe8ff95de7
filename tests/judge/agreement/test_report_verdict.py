from syrupy.assertion import SnapshotAssertion

from judge.evaluation.agreement.measures import Estimate
from judge.evaluation.agreement.report import verdict


def between(low: float, high: float) -> Estimate:
    return Estimate(0, low, high, 90, 30, "")


VERDICTS: dict[str, Estimate] = {
    # Landis and Koch: below 0 poor, 0 to .20 slight, .21 to .40 fair, .41 to .60 moderate, .61 to
    # .80 substantial.
    "poor to slight": between(-0.01, 0.0),
    "slight": between(-0.004, 0.204),
    "fair": between(0.21, 0.40),
    "moderate": between(0.41, 0.60),
    "substantial": between(0.61, 0.80),
    "almost perfect": between(0.81, 1.0),
    "fair to substantial": between(0.35, 0.75),
    "too few prompts": Estimate(0.9, None, None, 40, 7, "too few to say"),
}


def test_the_verdicts_read_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(f"{which}: {verdict(kappa)}" for which, kappa in VERDICTS.items()) == snapshot
