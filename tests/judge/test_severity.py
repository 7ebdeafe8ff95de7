"""How strict people are, from the replies that several of them labelled."""

import pytest

from judge.evaluation.severity import Severities, apart_shares, have_drifted
from judge.evaluation.stats import MeanEstimator
from judge.scoring.rubric import Scale
from tests.tables import each

ALONE = [[("ann", 2.0)]] * 20
SHARED = [[("ann", 2.0), ("ben", 4.0)]] * 10


def test_a_person_is_compared_with_those_who_labelled_the_same_replies() -> None:
    # Ten pairs of labels, each a point off their middle: 5a + 5a + 0.5a = 10, so a = 20 / 21. Of 9
    # free labels, 0.5 and ten times 2 are left, less what the severities explain: (20.5 - 20 * 20 /
    # 21) / 9 = 61 / 378.
    found = Severities([*ALONE, *SHARED])
    assert found.of == pytest.approx({"ann": -20 / 21, "ben": 20 / 21})
    assert found.level(ALONE[0]) == pytest.approx(2 + 20 / 21)
    assert found.level(SHARED[0]) == pytest.approx(3)
    # Ann gave 5 / 6 of the labels, a third more than half: 2 * (1 / 3)**2 / 10.5 of the variance of
    # a label.
    assert found.variance({"ann": 5 / 6, "ben": 1 / 6}) == pytest.approx(61 / 378 * 2 / 9 / 10.5)
    assert found.variance({"ann": 0.5, "ben": 0.5}) == pytest.approx(0)


@each(
    "replies",
    [
        [*ALONE, *SHARED[:6]],  # too few are shared
        [*SHARED, *[[("cat", 1.0)]] * 40],  # most are by somebody who shares none
        [*SHARED, *[[("", 1.0)]] * 40],  # most have no name
    ],
)
def test_nothing_is_corrected_where_the_shared_replies_do_not_tell(
    replies: list[list[tuple[str, float]]],
) -> None:
    found = Severities(replies)
    assert (found.of, found.level(ALONE[0]), found.variance({"ann": 1.0})) == ({}, 2, 0)


def test_the_error_of_the_severities_widens_the_corrected_mean() -> None:
    of = Severities([*ALONE, *SHARED])
    means = [MeanEstimator(Scale(0, 5), of) for _ in range(2)]
    for number in range(30):
        given = [("ann", 1.0 + number % 3), ("ben", 3.0)][: 1 + number % 2]
        means[0].add(3, given=given)
        means[1].add(3, of.level(given))
    found, without = (mean.estimate() for mean in means)
    more = of.variance({"ann": 0.75, "ben": 0.25})
    assert found.corrected.mean == pytest.approx(without.corrected.mean)
    assert found.corrected_variance == pytest.approx(without.corrected_variance + more)
    assert found.by_scores == pytest.approx(more)


def test_people_who_labelled_both_sides_alike_do_not_blur_a_difference() -> None:
    mean = MeanEstimator(Scale(-5, 5), Severities([*ALONE, *SHARED]))
    for number in range(20):
        mean.add(number % 2, given=[("ann", 2.0 + number % 2)], less=[("ann", 1.0)])
    found = mean.estimate()
    assert found.corrected.mean == pytest.approx(1.5)
    assert found.by_scores == pytest.approx(0)


@each(
    ("now", "before", "is_linked"),
    [
        (ALONE, ALONE, True),  # by one person
        (ALONE, [[("ben", 2.0)]] * 20, False),
        ([*ALONE, *SHARED], [[("ben", 2.0)]] * 20, True),
        ([*ALONE, *SHARED[:3]], [[("ben", 2.0)]] * 20, False),  # too few are shared
        ([*ALONE, *SHARED], [[("cat", 2.0)]] * 20, False),
    ],
)
def test_two_sides_are_linked_by_the_same_people_or_by_shared_replies(
    now: list[list[tuple[str, float]]], before: list[list[tuple[str, float]]], is_linked: bool
) -> None:
    assert Severities([*now, *before]).link(apart_shares(now, before)) == is_linked


def shared(ann: float, number: int) -> list[list[tuple[str, float]]]:
    return [[("ann", ann + n % 2), ("ben", 3.0)] for n in range(number)]


@each(
    ("ann", "number", "has_drifted"),
    [(1.5, 12, True), (2.5, 12, False), (1.5, 3, False)],  # the last are too few to tell
)
def test_a_person_who_has_become_stricter_beside_the_other_is_noticed(
    ann: float, number: int, has_drifted: bool
) -> None:
    late = shared(ann, number)
    early = shared(2.5, 12)
    assert have_drifted(late, early) == has_drifted
    said = next(Severities([*early, *late]).words())
    assert said.startswith("Careful: by the replies" if has_drifted else "Corrected to the average")
