"""What is said of a replay is what its figures allow."""

from dataclasses import replace

import pytest

from bot.features.rubrics.figures import ReplayFigures, replay_figures
from bot.features.rubrics.text import comparison
from bot.store.rubrics import ReplayedCase
from judge.rubric import Scale

SCALE = Scale(0, 5)


BOTH = ("v1", "v2")


def a_replayed(
    number: int, before: int | None, now: int | None, *labels: int, is_blind: bool = True, logged_by: str = "v1"
) -> ReplayedCase:
    scores = {logged_by: 1} | dict(zip(BOTH, (before, now), strict=True))
    return ReplayedCase(number, "Why?", "So.", logged_by, scores, labels, is_blind, str(number))


def figures(*cases: ReplayedCase) -> ReplayFigures | None:
    return replay_figures(cases, *BOTH, SCALE)


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ([(5, 3, 3)] * 12, "2.0 in use, 0.0 with the new one: 2.0 closer (95% between +1.8 and +2.2)"),
        ([(3, 5, 3)] * 12, "0.0 in use, 2.0 with the new one: 2.0 farther away (95% between -2.2 and -1.8)"),
        ([(5, 3, 3), (3, 5, 3)] * 6, "no closer, and that may be chance (95% between"),
        ([(3, 4, 3), *[(3, 3, 3)] * 24], "no closer, and that may be chance (95% between"),
        ([(5, 4, 3), (3, 3, 3)] * 2, "0.5 closer, and that may be chance (95% between"),
        ([(3, 4, 3), (3, 3, 3)] * 2, "0.5 farther away, and that may be chance (95% between"),
        ([(5, 3, 3)], "2.0 in use, 0.0 with the new one: too few to say more"),
    ],
)
def test_what_is_said_is_what_the_interval_allows(cases: list[tuple[int, int, int]], said: str) -> None:
    rows = [a_replayed(number, before, now, label) for number, (before, now, label) in enumerate(cases)]
    post = comparison(7, "`code`", figures(*rows), len(rows))
    assert said in post.text
    assert "lean towards it" not in post.text
    assert [element["value"] for element in post.blocks[-1]["elements"]] == ["7", "7"]


def test_labels_of_those_who_had_seen_the_score_are_said_to_lean() -> None:
    rows = [a_replayed(1, 5, 3, 3, logged_by="v0"), a_replayed(2, 5, 3, 3, is_blind=False), a_replayed(3, 5, None, 3)]
    text = comparison(7, "`code`", figures(*rows), len(rows)).text
    assert "on the same 2 labelled replies of this channel, 1 labelled blind. " in text
    assert "Both were asked about 1 that other judges had scored. 1 more got no score by one of the two." in text
    assert "lean towards it" in text
    assert "Nothing compares `code` with the judge in use" in comparison(7, "`code`", None, 0).text


def test_figures_are_paired_by_case() -> None:
    found = figures(
        a_replayed(1, 5, 3, 3, logged_by="v0"),  # 2 off before, 0 now: 2 closer
        a_replayed(2, 4, 4, 3, 4),  # people 3.5; 0.5 off both times: 0 closer
        a_replayed(3, 3, 1, 3, is_blind=False),  # 0 off before, 2 now: 2 farther
        a_replayed(4, 2, 4, 5, logged_by="v2"),  # 3 off before, 1 now: 2 closer
        a_replayed(5, 1, None, 1),
        a_replayed(6, None, 1, 1, logged_by="v0"),
        replace(a_replayed(7, 1, 1, 1), scores={"v2": 1}),  # the judge in use could not be asked
    )
    assert found is not None
    assert (found.n, found.blind, found.of_others, found.unscored) == (4, 3, 1, 3)
    assert (found.same_before, found.same_now) == (1, 1)
    assert found.off_before == pytest.approx((2 + 0.5 + 0 + 3) / 4)
    assert found.off_now == pytest.approx((0 + 0.5 + 2 + 1) / 4)
    assert found.closer.mean == pytest.approx((2 + 0 - 2 + 2) / 4)
    assert (found.mean_before, found.mean_now, found.mean_people) == pytest.approx((3.5, 3.0, (3 + 3.5 + 3 + 5) / 4))
    assert figures(a_replayed(1, 3, None, 3)) is None
    assert figures() is None
