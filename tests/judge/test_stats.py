"""The corrected mean, compared with sums by hand, SciPy, and simulations with a known truth."""

from typing import NamedTuple

import pytest

from judge.evaluation.distributions import t_quantile
from judge.evaluation.stats import (
    Interval,
    MeanEstimate,
    MeanEstimator,
    difference,
    labelled_shares,
    wilson,
)
from judge.scoring.rubric import Scale
from tests.tables import each

SCALE = Scale(0, 5)
SHARE = Scale(0, 1)


class Row(NamedTuple):
    score: float
    label: float | None = None
    probability: float = 1.0
    cluster: object = None
    weight: float = 1.0


def estimate(*rows: Row, scale: Scale = SCALE) -> MeanEstimate:
    mean = MeanEstimator(scale)
    for row in rows:
        mean.add(**row._asdict())
    return mean.estimate()


def corrected(*rows: Row, scale: Scale = SCALE) -> Interval:
    return estimate(*rows, scale=scale).corrected


def test_corrected_mean_is_the_label_mean_plus_lambda_times_the_score_difference() -> None:
    # Scores 2, 4, 4, 4: mean 3.5, variance (1.5^2 + 3 * 0.5^2) / 3 = 1. The scores 2 and 4 have
    # labels 1 and 4, mean
    # 2.5; covariance (-1 * -1.5 + 1 * 1.5) / 2 = 1.5 = lambda. 2.5 + 1.5 * (3.5 - 3) = 3.25.
    found = estimate(Row(2, 1), Row(4, 4), Row(4), Row(4))
    assert (found.weight, found.corrected.mean) == (pytest.approx(1.5), pytest.approx(3.25))
    assert (found.n, found.labelled, found.judge.mean) == (4, 2, 3.5)


def test_label_is_weighted_by_its_score_and_the_inverse_of_its_probability() -> None:
    # Weights 2 and 1: mean label (2 * 1 + 4) / 3 = 2, mean labelled score 8/3, slope (4 - 1) / (4 -
    # 2) = 1.5 = lambda. 2 + 1.5 * (3.5 - 8/3) = 3.25.
    found = corrected(Row(2, 1, 0.5), Row(4, 4), Row(4), Row(4))
    assert found.mean == pytest.approx(3.25)
    # Of scores that stand for 1.5 and 0.5: mean label (1.5 * 1 + 0.5 * 5) / 2 = 2, mean labelled
    # score (3 + 2) / 2 = 2.5 = that of all.
    scores = [Row(2, weight=1.5), Row(4, weight=0.5)]
    weighed = corrected(scores[0]._replace(label=1), scores[1]._replace(label=5), *scores)
    assert weighed.mean == pytest.approx(2)


def test_score_is_weighted_by_the_number_of_responses_it_stands_for() -> None:
    # Twelve responses have score 2 and four have score 4. A third of the former and all of the
    # latter were drawn, so the mean is 2.5. Weights 1.5 and 0.5; sum of squares 4 * 2.25 * 0.25 + 4
    # * 0.25 * 2.25 = 4.5, over 8^2, times 8 / 7: 9 / 112.
    found = estimate(*[Row(2, weight=1.5), Row(4, weight=0.5)] * 4)
    assert (found.n, found.judge.mean) == (8, 2.5)
    assert found.variance == pytest.approx(9 / 112)


def test_judge_that_contradicts_people_gets_no_weight() -> None:
    assert estimate(Row(5, 1), Row(0, 4), Row(3)).weight == 0


@each(
    ("scale", "rows", "expected"),
    [
        # Labels 1, 2, 3, 4, 5, 5: mean 10/3, which is 2/3 of the scale; s^2 = (80 - 6 * 100/9) / 5
        # = 8/3. The variance of the mean, 4/9, is that of (2/3 * 1/3) / (4/9 / 25) = 12.5 trials.
        # t(5)^2 = 6.608, over 12.5: 0.5286. Half width: sqrt(0.5286 * 2/9 + 0.5286^2 / 4) = 0.4328.
        # (2/3 + 0.2643 -+ 0.4328) / 1.5286 = 0.3259 and 0.8922, times 5.
        (SCALE, [*(Row(3, label) for label in (1, 2, 3, 4, 5, 5)), Row(3)], (10 / 3, 1.629, 4.461)),
        # All 30 labels are a 4: the interval reaches 3 / 30 of the way to each end of the scale.
        (SCALE, [*[Row(4, 4)] * 30, *[Row(4)] * 90], (4, 3.6, 4.1)),
        # The judge takes 3 of 50 labelled replies for bad, as people do, and 6% of 2,000. It may be
        # wrong about 3 / 50 of all still. The interval reached 3 / 50 of the remaining 6% up, to
        # 94.4%.
        (
            SHARE,
            [*[Row(1, 1)] * 47, *[Row(0, 0)] * 3, *[Row(1)] * 1833, *[Row(0)] * 117],
            (0.94, 0.88, 1),
        ),
        # One label has no interval.
        (SCALE, [Row(4, 2), Row(4), Row(3)], (2, None, None)),
        # 2.5 + 1.5 * (4.94 - 3) would be 5.4.
        (SCALE, [Row(2, 1), Row(4, 4), *[Row(5)] * 100], (5, 0, 5)),
    ],
)
def test_interval_of_labels_has_room_for_what_they_cannot_show(
    scale: Scale, rows: list[Row], expected: tuple[float | None, ...]
) -> None:
    assert corrected(*rows, scale=scale) == pytest.approx(expected, abs=1e-3)


def test_interval_leaves_room_for_scores_that_a_small_sample_can_miss() -> None:
    # Scores 0 and 1, six each: near the low end, so that Wilson's upper end is only 0.93. But with
    # twelve scores, up to one in four responses (3 / 12) may be an unseen five: 0.5 + 4.5 / 4.
    found = estimate(*[Row(0), Row(1)] * 6).judge
    assert found == pytest.approx((0.5, 0.2562, 1.625), abs=1e-3)


def test_scores_of_one_thread_count_as_one_observation() -> None:
    # Two threads of three equal scores each tell as much as two scores: t(1) = 12.706 and standard
    # error 1.
    found = estimate(*[Row(1, cluster="a"), Row(3, cluster="b")] * 3).judge
    assert found == pytest.approx((2, 0, 5))
    labels = (1, 2, 3, 4, 5, 5.5)
    twice_each = corrected(*[Row(3, label, cluster=label) for label in labels] * 2)
    assert twice_each == pytest.approx(corrected(*[Row(3, label) for label in labels]))


@each("cluster", [None, "a thread"])
def test_score_added_n_times_at_once_equals_n_scores(cluster: str | None) -> None:
    rows = [Row(score, label, cluster=cluster) for score, label in ((1, None), (4, 3), (2, 2))]
    at_once = MeanEstimator(SCALE)
    for row in rows:
        at_once.add(**row._asdict(), times=3)
    assert at_once.estimate() == estimate(*rows * 3)


@each(
    ("rows", "labelled", "effective", "missing"),
    [
        # Kish: weights 2 (10 labels) and 1 (15): (20 + 15)^2 / (40 + 15) = 22.27.
        ([Row(3, 4, 0.5)] * 10 + [Row(3, 2, 1)] * 15, 25, 1225 / 55, 0),
        ([Row(3, 4, 0.3)] * 19, 19, 19, 1),  # of equal weight
        ([Row(3, 4, cluster=number % 12) for number in range(24)], 24, 12, 8),
        ([Row(3)], 0, 0, 20),
    ],
)
def test_effective_number_of_labels_depends_on_weights_and_clusters(
    rows: list[Row], labelled: int, effective: float, missing: int
) -> None:
    found = estimate(*rows)
    assert (found.labelled, found.missing) == (labelled, missing)
    assert found.effective == pytest.approx(effective)


def test_without_labels_there_is_nothing_to_correct() -> None:
    assert estimate(Row(4), Row(2)).corrected is None
    assert MeanEstimator(SCALE).estimate() is None


@each("probability", [0, 1.01, float("nan")])
def test_invalid_probability_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="is not above 0 and up to 1"):
        MeanEstimator(SCALE).add(3, 3, probability=probability)


@each("df", [1, 2, 3, 30, 31, 200, 201, 10**6])
def test_quantile_of_students_t_equals_scipys(df: int) -> None:
    from scipy.stats import t  # which takes a second of each process that collects the tests

    assert t_quantile(df) == pytest.approx(t.ppf(0.975, df), rel=1e-6)


def test_difference_adds_the_distances_to_the_ends_of_both_means() -> None:
    now, before = (estimate(*map(Row, each)) for each in ([3, 4, 5, 4, 4], [2, 3, 3, 4, 3]))
    # Five scores cover 3 / 5 of the distance to each end: 4 from 1.6 to 4.6, and 3 from 1.2 to 4.2.
    # So below it is hypot(2.4, 1.2) = 2.683282, and above hypot(0.6, 1.8) = 1.897367.
    assert difference(now, before) == pytest.approx((1, 1 - 2.683282, 1 + 1.897367), abs=1e-6)


def test_difference_from_a_single_thread_is_unknown() -> None:
    thread = estimate(*[Row(score, cluster="a") for score in (1, 2, 3, 4, 5)])
    assert difference(thread, estimate(*map(Row, (1, 2, 3, 4, 5)))) is None


@each(
    ("count", "n", "low", "high"),
    [
        # t(19) = 2.093024, so spread = 4.380750 / 19 = 0.230566: (0.75 + 0.115283 -+ 0.237742) /
        # 1.230566
        (15, 20, 0.509961, 0.896356),
        # All 20 of 20: 4.380750 / 20 = 0.219038, so 1 / 1.219038 and 1.
        (20, 20, 0.820319, 1.0),
    ],
)
def test_share_has_wilsons_interval(count: int, n: int, low: float, high: float) -> None:
    assert wilson(count, n) == pytest.approx((count / n, low, high), abs=1e-6)


@each(
    ("others", "labelled_others", "often", "labelled_often", "expected"),
    [
        # 5 labels over 20 + 4 * 4 chances: 5/36 of the others, and four times as many of the rest.
        (20, 3, 4, 2, (5 / 36, 20 / 36)),
        # 4 * 9 / 26 is over 1: all four are taken to be labelled, 5 of the other 10.
        (10, 5, 4, 4, (1 / 2, 1)),
        (10, 0, 4, 0, (1, 1)),
    ],
)
def test_what_is_drawn_four_times_as_often_has_four_times_the_share_of_labels(
    others: int, labelled_others: int, often: int, labelled_often: int, expected: tuple[float, ...]
) -> None:
    rows = [("a", 1, number < labelled_others, 1.0) for number in range(others)]
    rows += [("a", 4, number < labelled_often, 1.0) for number in range(often)]
    shares = labelled_shares(rows)
    assert (shares["a", 1], shares["a", 4]) == pytest.approx(expected)
