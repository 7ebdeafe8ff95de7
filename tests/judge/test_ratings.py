from dataclasses import replace

from judge import Rating, Rubric, Unscored, UnscoredReason, load_rubric
from judge.scoring.ratings import Result, Verdict, combine, with_short_raw
from tests.tables import each

ADDITIVE = load_rubric("additive-5").prompt


def rating(score: int, tokens: int | None = 10) -> Rating:
    used = {"input_tokens": tokens, "output_tokens": tokens}
    return Rating(score=score, justification=f"because {score}", raw="", **used)


def unusable(reason: UnscoredReason = UnscoredReason.NO_SCORE) -> Unscored:
    return Unscored(reason=reason, detail="A sentence.", raw="raw text")


def verdict(*results: Result, scale: tuple[int, int] = (0, 5)) -> Verdict:
    rubric = Rubric("r", ADDITIVE.replace("0 and 5", "{} and {}".format(*scale)))
    return combine(results, model="m", rubric=rubric)


def test_score_is_the_median_with_mean_and_spread() -> None:
    seen = verdict(rating(5), rating(2), rating(4))
    # median of 2, 4, 5; mean 11 / 3; spread 5 - 2
    assert (seen.score, seen.mean, seen.spread) == (4, 11 / 3, 3)
    assert seen.justification == "because 4"
    assert seen.unscored is None


def test_half_of_the_ratings_is_not_a_majority() -> None:
    seen = verdict(rating(4), unusable())
    assert seen.score is None
    assert seen.justification == ""
    assert seen.unscored.reason is UnscoredReason.NO_MAJORITY
    assert seen.unscored.detail == "Only 1 of 2 ratings have a usable score (no score)."


@each(
    ("scores", "scale", "score"),
    [
        ((5, 1, 3), (0, 5), None),  # only the 3 is within a point of the median 3
        ((3, 1, 3), (0, 5), 3),
        ((1, 5), (0, 5), None),
        # both are within a point of 4; the score is the lower of the two middle ones
        ((3, 5), (0, 5), 3),
        ((60, 80, 95), (0, 100), 80),  # here a point is a fifth of the scale
        ((59, 81, 103), (0, 105), None),
        ((1, 2, 3), (1, 3), 2),  # a point is never less than 1
    ],
)
def test_score_needs_a_majority_near_the_median(
    scores: tuple[int, ...], scale: tuple[int, int], score: int | None
) -> None:
    seen = verdict(*map(rating, scores), scale=scale)
    assert seen.score == score
    assert (seen.unscored is None) == (score is not None)


def test_split_verdict_lists_the_ratings() -> None:
    seen = verdict(rating(5), rating(1), unusable(), rating(3))
    assert seen.unscored.reason is UnscoredReason.SPLIT
    assert seen.unscored.detail == "The ratings do not agree: 5, 1 and 3."
    assert (seen.justification, seen.mean, seen.spread) == ("", 3, 4)


def test_verdict_takes_the_reason_that_all_ratings_share() -> None:
    seen = verdict(unusable(UnscoredReason.REFUSED), unusable(UnscoredReason.REFUSED))
    assert seen.unscored.reason is UnscoredReason.REFUSED
    assert not seen.is_scored


def test_tokens_are_summed_over_the_known_counts() -> None:
    assert verdict(rating(4, 10), rating(4, None), rating(4, 7)).input_tokens == 17
    assert verdict(rating(4, None)).output_tokens is None


def test_a_long_answer_is_kept_in_part_from_both_ends() -> None:
    text = "a" * 10_000 + "b" * 10_000
    assert with_short_raw(replace(rating(4), raw=text)).raw == text
    kept = with_short_raw(replace(rating(4), raw=f"{text}b")).raw
    assert (kept[9_990:10_010].split(), len(kept)) == (["aaaaaaa", "[…]", "bbbbbbbb"], 19_999)
