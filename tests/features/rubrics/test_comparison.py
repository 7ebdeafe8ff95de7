"""What is said of a replay is what its figures allow."""

from dataclasses import replace

import pytest

from bot.features.rubrics.comparison import comparison
from bot.features.rubrics.text import NOTHING, SEEN, UNSCORED
from bot.slack.messenger import Post
from bot.store.rubrics import ReplayedCase
from judge.rubric import Scale

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
        a_replayed(5, 1, None, 1),
        a_replayed(6, None, 1, 1, logged_by="v0"),
        replace(a_replayed(7, 1, 1, 1), scores={"v2": 1}),  # the judge in use could not be asked
    ]
    first, *lines = compare(*rows).text.splitlines()
    assert "on the same 4 labelled replies of this channel, 3 labelled blind. " in first
    assert "Both were asked about 1 that other judges had scored. 3 more got no score by one of the two." in first
    # (2 + 0.5 + 0 + 3) / 4 and (0 + 0.5 + 2 + 1) / 4 points; (2 + 0 - 2 + 2) / 4 closer
    assert lines[0].startswith("• Points away from people's scores: 1.4 in use, 0.9 with the new one: 0.5 closer, and")
    assert lines[1] == "• The same score as people: 1 in use, 1 with the new one"
    assert lines[2] == "• Mean: 3.5 in use, 3.0 with the new one, 3.6 by people"  # (3 + 3.5 + 3 + 5) / 4
    assert lines[3] == SEEN


def test_without_a_score_by_both_it_is_said_that_nothing_compares_them() -> None:
    assert compare(a_replayed(1, 3, None, 3)).text == UNSCORED.format(judge="`code`", n=1)
    assert compare().text == NOTHING.format(judge="`code`")
