"""Ratings that are not asked for could not have changed the score."""

from itertools import combinations_with_replacement

from judge import Rating, Unscored, UnscoredReason, load_rubric
from judge.scoring.model.chat import ChatModel
from judge.scoring.model.client import Connection
from judge.scoring.panel import Member
from judge.scoring.ratings import Result, combine
from judge.scoring.rubric import Scale
from tests.tables import each

ADDITIVE = load_rubric("additive-5")
VALUES = (None, *range(6))


def results(*answers: int | None) -> list[Result]:
    """The ratings with these scores; None is an unusable one."""
    return [
        Unscored(reason=UnscoredReason.NO_SCORE, detail="")
        if answer is None
        else Rating(score=answer, justification="", raw="")
        for answer in answers
    ]


def score(*answers: int | None) -> int | None:
    return combine(results(*answers), model="m", rubric=ADDITIVE).score


@each("samples", [1, 2, 3, 4, 5])
def test_no_skipped_rating_could_change_the_score(samples: int) -> None:
    member = Member(ChatModel("m", Connection(None)), samples, Scale(0, 5), stops=True)
    for asked in range(1, samples):
        for answers in combinations_with_replacement(VALUES, asked):
            if member.needed(results(*answers)) == 0:
                rests = combinations_with_replacement(VALUES, samples - asked)
                assert {score(*answers, *rest) for rest in rests} == {score(*answers)}, answers


@each(
    ("answers", "needed"),
    [((), 2), ((4,), 1), ((4, 4), 0), ((4, 5), 1), ((4, None), 1), ((None, None), 0)],
)
def test_of_three_ratings_as_many_are_asked_for_as_lack_to_two_equal_ones(
    answers: tuple[int | None, ...], needed: int
) -> None:
    member = Member(ChatModel("m", Connection(None)), 3, Scale(0, 5), stops=True)
    assert member.needed(results(*answers)) == needed
