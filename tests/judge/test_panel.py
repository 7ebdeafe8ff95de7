"""Ratings that are not asked for could not have changed the score."""

from collections.abc import Sequence
from itertools import combinations_with_replacement

from hypothesis import given
from hypothesis import strategies as st

from judge import Rating, Rubric, Unscored, UnscoredReason, load_rubric
from judge.scoring.panel import ratings_needed
from judge.scoring.ratings import Result, combine
from tests.tables import each

ADDITIVE = load_rubric("additive-5").prompt
Answer = int | None
SCALES = [(0, 5), (1, 10), (0, 3), (1, 2), (0, 100)]


def score(answers: Sequence[Answer], scale: tuple[int, int]) -> int | None:
    """The score of the verdict on these ratings; None among `answers` is an unusable rating."""
    results = [_result(answer) for answer in answers]
    rubric = Rubric("r", ADDITIVE.replace("0 and 5", "{} and {}".format(*scale)))
    return combine(results, model="m", rubric=rubric).score


def _result(answer: Answer) -> Result:
    if answer is None:
        return Unscored(reason=UnscoredReason.NO_SCORE, detail="", raw="")
    return Rating(score=answer, justification="", raw="")


def needed(answers: Sequence[Answer], samples: int, scale: tuple[int, int] = (0, 5)) -> int:
    return ratings_needed(
        [each for each in answers if each is not None], len(answers), samples, scale
    )


@st.composite
def sequences(draw: st.DrawFn) -> tuple[list[Answer], tuple[int, int]]:
    """The answers of a model that is asked for all ratings, with few different scores so that many
    are equal.
    """
    scale = draw(st.sampled_from(SCALES))
    scores = draw(st.lists(st.integers(*scale), min_size=1, max_size=4))
    answers = st.lists(st.sampled_from([*scores, None]), min_size=1, max_size=9)
    return draw(answers), scale


@given(sequences())
def test_stopping_early_gives_the_score_of_all_ratings(
    case: tuple[list[Answer], tuple[int, int]],
) -> None:
    answers, scale = case
    asked = 0
    while more := needed(answers[:asked], len(answers), scale):
        asked += more
    assert asked <= len(answers)
    assert score(answers[:asked], scale) == score(answers, scale)


@each("samples", [1, 2, 3, 4, 5])
def test_no_skipped_rating_could_change_the_score(samples: int) -> None:
    """Tries all combinations, on the scale from 0 to 5."""
    values: list[Answer] = [None, *range(6)]
    for asked in range(1, samples):
        for answers in combinations_with_replacement(values, asked):
            if needed(answers, samples) == 0:
                ends = {
                    score([*answers, *rest], (0, 5)) for rest in _rests(values, samples - asked)
                }
                assert ends == {score(answers, (0, 5))}, answers


@each("samples", [3, 5, 7])
def test_no_fewer_ratings_could_settle_the_score(samples: int) -> None:
    """Tries all combinations of usable ratings, for odd numbers of ratings."""
    for asked in range(1, samples):
        for answers in combinations_with_replacement(range(4), asked):
            for fewer in range(needed(answers, samples, (0, 3))):
                for more in combinations_with_replacement(range(4), fewer):
                    known = [*answers, *more]
                    ends = {
                        score([*known, *rest], (0, 3))
                        for rest in _rests(range(4), samples - len(known))
                    }
                    assert len(ends) > 1, known


def _rests(values: Sequence[Answer], count: int) -> Sequence[tuple[Answer, ...]]:
    return list(combinations_with_replacement(values, count))
