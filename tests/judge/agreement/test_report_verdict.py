import numpy as np

from judge.evaluation.agreement.measures import Estimate
from judge.evaluation.agreement.report import beside_people, make_report, verdict
from judge.evaluation.agreement.sample import Sample
from judge.evaluation.agreement.scores import Response, Scores
from judge.scoring.rubric import Scale
from tests.tables import each

NONE = np.nan
KAPPA = Estimate(0.69, 0.64, 0.73, 716, 206, "")


def beside(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high, 1240, 60, "")


@each(
    ("low", "high", "said"),
    [
        (0.01, 0.2, "Agrees with people better than people do with each other"),
        (-0.09, 0.2, "Agrees with people about as well as people do with each other"),
        (-0.09, -0.01, "Agrees with people about as well as people do with each other"),
        (-0.3, -0.01, "Agrees with people less well than people do with each other"),
        (-0.11, 0.2, "Too few labels to say if it agrees with people as well as people do with each other"),
    ],
)
def test_the_judge_is_compared_with_people_who_labelled_the_same_responses(low: float, high: float, said: str) -> None:
    assert verdict(KAPPA, beside(low, high)).startswith(f"{said} (kappa ")


def test_the_verdict_gives_its_figures() -> None:
    figures = "(kappa +0.05, between -0.05 and +0.15; 1,240 responses)."
    assert verdict(KAPPA, beside(-0.05, 0.15)).endswith(figures)


@each("known", [None, Estimate(0.1, NONE, NONE, 3, 3, "too few to say")])
def test_with_labels_of_one_person_the_verdict_puts_kappa_into_words(known: Estimate | None) -> None:
    assert verdict(KAPPA, known) == (
        "Agreement with people is substantial (kappa between 0.64 and 0.73), "
        "in the words of Landis and Koch (1977), a convention."
    )


@each(
    ("low", "high", "words"),
    [
        # Their table: below 0 poor, 0 to .20 slight, .21 to .40 fair, .41 to .60 moderate, .61 to .80 substantial.
        (-0.01, 0.0, "poor to slight"),
        (-0.004, 0.204, "slight"),
        (0.21, 0.40, "fair"),
        (0.41, 0.60, "moderate"),
        (0.61, 0.80, "substantial"),
        (0.81, 1.0, "almost perfect"),
        (0.35, 0.75, "fair to substantial"),
    ],
)
def test_kappa_is_described_in_the_words_of_landis_and_koch(low: float, high: float, words: str) -> None:
    assert verdict(Estimate(0, low, high, 90, 30, ""), None).startswith(f"Agreement with people is {words} (kappa")


@each(
    ("kappa", "why"),
    [
        (Estimate(0.9, NONE, NONE, 40, 7, "too few to say"), "7 prompts, and 20 are needed"),
        (Estimate(NONE, NONE, NONE, 40, 40, "one score throughout"), "one score throughout"),
        (Estimate(1, NONE, NONE, 40, 40, "no spread"), "no spread"),
    ],
)
def test_without_an_interval_there_is_no_verdict(kappa: Estimate, why: str) -> None:
    assert verdict(kappa, None) == f"No verdict on the agreement with people: {why}."


def people(noise: float) -> Sample:
    """200 responses whose quality two people and the judge estimate, each with independent errors."""
    rng = np.random.default_rng(3)
    quality = rng.normal(2.5, 1.2, 200)
    labels = np.clip((quality[:, None] + rng.normal(0, 0.5, (200, 2))).round(), 0, 5)
    return Sample(np.arange(200), np.clip((quality + rng.normal(0, noise, 200)).round(), 0, 5), labels, Scale(0, 5))


@each(("noise", "said"), [(0.05, "better"), (0.5, "about as well"), (1.5, "less well")])
def test_a_judge_as_accurate_as_a_person_agrees_about_as_well_as_people(noise: float, said: str) -> None:
    sample = people(noise)
    assert f"Agrees with people {said} " in verdict(KAPPA, beside_people(sample))


def test_people_are_not_compared_if_each_response_has_one_label() -> None:
    assert beside_people(Sample(np.arange(3), np.ones(3), np.ones((3, 1)), Scale(0, 5))) is None


def test_judges_get_no_verdict_against_each_other() -> None:
    responses = tuple(Response(str(n), {"a": n % 6, "b": n % 5}, (n % 4,)) for n in range(30))
    report = make_report(Scores(responses, ("a", "b"), Scale(0, 5), (), 0)).to_dict()
    assert "Agreement with people is" in report["with_people"][0]["verdict"]
    assert report["between_judges"][0]["verdict"] is None
    assert report["with_people"][0]["beside_people"] is None
