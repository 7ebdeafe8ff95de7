import numpy as np
from syrupy.assertion import SnapshotAssertion

from judge.evaluation.agreement.measures import Estimate
from judge.evaluation.agreement.report import make_report, verdict
from judge.evaluation.agreement.scores import Scores
from judge.evaluation.estimate import Response
from judge.scoring.rubric import Scale
from tests.tables import each

KAPPA = Estimate(0.69, 0.64, 0.73, 716, 206, "")


def beside(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high, 1240, 60, "")


def between(low: float, high: float) -> Estimate:
    return Estimate(0, low, high, 90, 30, "")


VERDICTS: dict[str, tuple[Estimate, Estimate | None]] = {
    "better than people": (KAPPA, beside(0.01, 0.2)),
    "perhaps better": (KAPPA, beside(-0.09, 0.2)),
    "hardly worse": (KAPPA, beside(-0.09, -0.01)),
    "worse": (KAPPA, beside(-0.3, -0.01)),
    "not known": (KAPPA, beside(-0.11, 0.2)),
    "labels of one person": (KAPPA, None),
    "too few to compare with people": (KAPPA, Estimate(0.1, None, None, 3, 3, "too few to say")),
    # Landis and Koch: below 0 poor, 0 to .20 slight, .21 to .40 fair, .41 to .60 moderate, .61 to
    # .80 substantial.
    "poor to slight": (between(-0.01, 0.0), None),
    "slight": (between(-0.004, 0.204), None),
    "fair": (between(0.21, 0.40), None),
    "moderate": (between(0.41, 0.60), None),
    "substantial": (between(0.61, 0.80), None),
    "almost perfect": (between(0.81, 1.0), None),
    "fair to substantial": (between(0.35, 0.75), None),
    "too few prompts": (Estimate(0.9, None, None, 40, 7, "too few to say"), None),
    "one score throughout": (Estimate(None, None, None, 40, 40, "one score throughout"), None),
    "no spread": (Estimate(1, None, None, 40, 40, "no spread"), None),
}


def test_the_verdicts_read_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    assert (
        "\n".join(f"{which}: {verdict(*figures)}" for which, figures in VERDICTS.items())
        == snapshot
    )


def labelled(noise: float) -> Scores:
    """200 responses whose quality two people and the judge estimate, each with independent errors."""
    rng = np.random.default_rng(3)
    quality = rng.normal(2.5, 1.2, 200)
    labels = np.clip((quality[:, None] + rng.normal(0, 0.5, (200, 2))).round(), 0, 5)
    judged = np.clip((quality + rng.normal(0, noise, 200)).round(), 0, 5)
    responses = tuple(
        Response(str(n), {"a": score}, tuple(given))
        for n, (score, given) in enumerate(zip(judged.tolist(), labels.tolist(), strict=True))
    )
    return Scores(responses, ("a",), Scale(0, 5), (), 0)


@each(("noise", "said"), [(0.05, "better"), (0.5, "about as well"), (1.5, "less well")])
def test_a_judge_as_accurate_as_a_person_agrees_about_as_well_as_people(
    noise: float, said: str
) -> None:
    (judged,) = make_report(labelled(noise)).with_people
    assert f"Agrees with people {said} " in judged.verdict
