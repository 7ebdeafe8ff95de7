import json

from judge import Rating, Unscored, UnscoredReason
from judge.ratings import Result, Verdict, combine


def rating(score: int, tokens: int | None = 10) -> Rating:
    return Rating(score=score, justification=f"because {score}", raw="", input_tokens=tokens, output_tokens=tokens)


def unusable(reason: UnscoredReason = UnscoredReason.NO_SCORE) -> Unscored:
    return Unscored(reason=reason, detail="A sentence.", raw="raw text")


def verdict(*results: Result) -> Verdict:
    return combine(results, model="m", rubric="r", rubric_version="00000000")


def test_score_is_the_median_with_mean_and_spread() -> None:
    seen = verdict(rating(5), rating(2), rating(4))

    # median of 2, 4, 5; mean 11 / 3; spread 5 - 2
    assert (seen.score, seen.mean, seen.spread) == (4, 11 / 3, 3)
    assert seen.justification == "because 4"
    assert seen.unscored is None


def test_even_number_of_ratings_gives_the_lower_middle() -> None:
    assert verdict(rating(4), rating(3)).score == 3
    assert verdict(rating(5), rating(2), rating(3), rating(5)).score == 3


def test_two_usable_of_three_make_a_verdict() -> None:
    seen = verdict(rating(4), unusable(), rating(5))

    assert (seen.score, seen.mean, len(seen.ratings)) == (4, 4.5, 3)


def test_half_of_the_ratings_is_no_majority() -> None:
    seen = verdict(rating(4), unusable())

    assert seen.score is None
    assert seen.justification == ""
    assert seen.unscored is not None
    assert seen.unscored.reason is UnscoredReason.NO_MAJORITY
    assert seen.unscored.detail == "Only 1 of 2 ratings have a usable score (no score)."


def test_reason_that_all_ratings_share_is_the_verdicts() -> None:
    seen = verdict(unusable(UnscoredReason.REFUSED), unusable(UnscoredReason.REFUSED))

    assert seen.unscored is not None
    assert seen.unscored.reason is UnscoredReason.REFUSED
    assert not seen.is_scored


def test_tokens_are_summed_over_what_is_known() -> None:
    assert verdict(rating(4, 10), rating(4, None), rating(4, 7)).input_tokens == 17
    assert verdict(rating(4, None)).output_tokens is None


def test_verdict_survives_json() -> None:
    fields = json.loads(json.dumps(verdict(rating(4), unusable(), rating(4)).to_dict()))

    assert fields["score"] == 4
    assert fields["ratings"][1]["reason"] == "no_score"
    assert fields["unscored"] is None
