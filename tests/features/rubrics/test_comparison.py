"""What is said of a replay is what its figures allow."""

from dataclasses import replace

import pytest

from bot.features.rubrics.comparison import comparison
from bot.features.rubrics.replay_queries import ReplayedCase
from bot.features.rubrics.text import OFFLINE_RATER, SEEN, TOO_FEW, UNSCORED
from bot.slack.messenger import Post
from judge.scoring.rubric import Scale

BOTH = ("v1", "v2")


def a_replayed(
    number: int, before: int | None, now: int | None, *labels: int, is_blind: bool = True, logged_by: str = "v1"
) -> ReplayedCase:
    scores = {logged_by: 1} | dict(zip(BOTH, (before, now), strict=True))
    return ReplayedCase(number, "Why?", "So.", logged_by, scores, labels, is_blind, str(number))


def compare(*cases: ReplayedCase) -> Post:
    return comparison(7, "`code`", cases, BOTH, Scale(0, 5))


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        (
            [(5, 3, 3)] * 12,
            "2.0 points with the current judge, 0.0 with the new one: 2.0 closer (95% between +1.8 and +2.2)",
        ),
        (
            [(3, 5, 3)] * 12,
            "0.0 points with the current judge, 2.0 with the new one: 2.0 farther away (95% between -2.2 and -1.8)",
        ),
        ([(5, 3, 3), (3, 5, 3)] * 6, "no clear difference (95% between"),
        ([(3, 4, 3), *[(3, 3, 3)] * 24], "no clear difference (95% between"),
        ([(5, 4, 3), *[(3, 3, 3)] * 9], "0.1 closer, which may be chance (95% between"),
        ([(3, 4, 3), *[(3, 3, 3)] * 9], "0.1 farther away, which may be chance (95% between"),
    ],
)
def test_what_is_said_is_what_the_interval_allows(cases: list[tuple[int, int, int]], said: str) -> None:
    rows = [a_replayed(number, before, now, label) for number, (before, now, label) in enumerate(cases)]
    post = compare(*rows)
    assert said in post.text
    assert SEEN not in post.text
    assert [element["value"] for element in post.blocks[-1]["elements"]] == ["7", "7"]


def test_figures_are_paired_by_case() -> None:
    rows = [
        a_replayed(1, 5, 3, 3, logged_by="v0"),  # 2 off before, 0 now: 2 closer
        a_replayed(2, 4, 4, 3, 4),  # people 3.5; 0.5 off both times: 0 closer
        a_replayed(3, 3, 1, 3, is_blind=False),  # 0 off before, 2 now: 2 farther
        a_replayed(4, 2, 4, 5, logged_by="v2"),  # 3 off before, 1 now: 2 closer
        *(a_replayed(number, 5, 3, 3) for number in range(5, 11)),  # 2 closer, six times
        a_replayed(11, 1, None, 1),
        a_replayed(12, None, 1, 1, logged_by="v0"),
        replace(a_replayed(13, 1, 1, 1), scores={"v2": 1}),  # the judge in use could not be asked
    ]
    first, *lines = compare(*rows).text.splitlines()
    assert "on the same 10 labelled replies of this channel, 9 labelled blind. " in first
    assert "Other judges had scored 1 of them before. 3 more have no score by one of the two." in first
    # (2 + 0.5 + 0 + 3 + 12) / 10 and (0 + 0.5 + 2 + 1 + 0) / 10 points; (2 + 0 - 2 + 2 + 12) / 10 closer
    assert lines[0].startswith(
        "• Distance from people's scores: 1.8 points with the current judge, 0.3 with the new one: 1.4 closer ("
    )
    assert lines[1] == "• Same score as people: 1 with the current judge, 7 with the new one"
    # (5 + 4 + 3 + 2 + 30) / 10, (3 + 4 + 1 + 4 + 18) / 10 and (3 + 3.5 + 3 + 5 + 18) / 10
    assert lines[2] == "• Mean: 4.4 with the current judge, 3.0 with the new one, 3.2 by people"
    assert lines[3] == SEEN


def test_below_ten_labelled_replies_there_are_no_figures() -> None:
    rows = [a_replayed(number, 5, 3, 3) for number in range(9)]
    assert compare(*rows).text == TOO_FEW.format(judge="`code`")


def test_what_the_offline_rater_scored_is_no_comparison_of_judges() -> None:
    rows = [a_replayed(number, 5, 3, 3) for number in range(12)]
    first, title, *_ = comparison(7, "`code`", rows, BOTH, Scale(0, 5), is_offline=True).text.splitlines()
    assert first == f":warning: {OFFLINE_RATER}"
    assert title.startswith("*`code` and the rubric in use*")


def test_without_a_score_by_both_it_is_said_that_nothing_compares_them() -> None:
    rows = [a_replayed(number, 3, None, 3) for number in range(10)]
    assert compare(*rows).text == UNSCORED.format(judge="`code`", n=10)
