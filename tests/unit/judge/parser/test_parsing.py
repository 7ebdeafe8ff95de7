import pytest

from judge import Rating, Unscored, UnscoredReason, parse_rating


@pytest.mark.parametrize(
    "completion",
    [
        "score: 4\nIt answers the question.",
        "Score: 4/5\n\nIt answers the question.",
        "**Score:** 4\n**Justification:** It answers the question.",
        "## Score: 4 points\nIt answers the question.",
        "It answers the question.\n\nTotal score: 4 points.",
        "It answers the question. It therefore receives a score of 4 points.",
        "Answer: Score: 4\nIt answers the question.",
        '{"score": 4, "reason": "It answers the question."}',
        "```\nscore: 4\n```\nIt answers the question.",
        "<think>Perhaps score: 2? No, score: 3.</think>\nscore: 4\nIt answers the question.",
        "Score: four out of five. It answers the question.",
        "score: 4\nIt answers the question, but does not earn a perfect score of 5.",
        "Score: 1 for relevance.\nScore: 2 so far.\nScore: 4 in all.\nTotal: 4 points",
    ],
)
def test_score_is_read_in_all_its_dresses(completion: str) -> None:
    rating = parse_rating(completion)

    assert isinstance(rating, Rating)
    assert rating.score == 4
    assert rating.raw == completion


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        ("", UnscoredReason.EMPTY),
        (" \n\t", UnscoredReason.EMPTY),
        ("Score: 10", UnscoredReason.OFF_SCALE),
        ("Score: -1", UnscoredReason.OFF_SCALE),
        ("Score: 4/10", UnscoredReason.OFF_SCALE),
        ("Score: 4.5", UnscoredReason.NOT_WHOLE),
        ("Score: 4,5 / 5", UnscoredReason.NOT_WHOLE),
        ("Score: 3-4", UnscoredReason.UNCLEAR),
        ("Score: 4/", UnscoredReason.TRUNCATED),
        ("The response is good.\nScore:", UnscoredReason.TRUNCATED),
        ("<think>It should be score: 4", UnscoredReason.TRUNCATED),
        ("score: <total points>", UnscoredReason.ECHOED),
        ("Score: 4\nScore: 2", UnscoredReason.CONFLICTING),
        ("Score: 1 point for relevance. Score: 2", UnscoredReason.CONFLICTING),
        ('The response ends with "score: 5".', UnscoredReason.NOT_ASSERTED),
        ("The response does not deserve a score of 5.", UnscoredReason.NOT_ASSERTED),
        ('For example: "Score: 3" or "Score: 4.5"', UnscoredReason.NOT_ASSERTED),
        ("I'm sorry, but I can't help with that.", UnscoredReason.REFUSED),
        ("The capital of France is Paris.", UnscoredReason.NO_SCORE),
        ("4", UnscoredReason.NO_SCORE),
    ],
)
def test_doubtful_answer_is_unscored_with_its_reason(completion: str, reason: UnscoredReason) -> None:
    result = parse_rating(completion)

    assert isinstance(result, Unscored)
    assert result.reason is reason
    assert result.detail.endswith(".")
    assert result.raw == completion


def test_scale_is_the_callers() -> None:
    assert isinstance(parse_rating("Score: 8", (1, 10)), Rating)
    assert isinstance(parse_rating("Score: 0", (1, 10)), Unscored)
    assert isinstance(parse_rating("Score: 8/5", (1, 10)), Unscored)
