import math
from collections.abc import Mapping

import pytest
from openai import AsyncOpenAI

from judge import Judge, Rating, parse_rating
from judge.scoring.chances import weigh_score
from judge.scoring.model import Token
from judge.scoring.rubric import Scale
from tests.model_server import Answer, ModelServer
from tests.tables import each

SCALE = Scale(0, 5)


def weigh(parts: list[str | tuple[str, Mapping[str, float]]], scale: Scale = SCALE) -> float | None:
    """The weighted score of an answer in `parts`; a part with rivals comes with their probabilities."""
    tokens = [
        Token(part, {part: 0.0})
        if isinstance(part, str)
        else Token(part[0], {text: math.log(chance) for text, chance in part[1].items()})
        for part in parts
    ]
    rating = parse_rating("".join(token.text for token in tokens), scale)
    assert isinstance(rating, Rating)
    return weigh_score(tokens, rating, scale)


def test_scores_are_weighted_by_their_probabilities() -> None:
    # 4 * 0.6 + 5 * 0.3 + 3 * 0.1 = 4.2
    weighted = weigh(["score", ":", " ", ("4", {"4": 0.6, "5": 0.3, "3": 0.1}), "\nGood."])
    assert weighted == pytest.approx(4.2)


def test_spellings_of_one_score_are_added_up() -> None:
    # (4 * (0.5 + 0.25) + 2 * 0.25) / 1 = 3.5
    weighted = weigh(["score:", (" 4", {" 4": 0.5, "4": 0.25, " 2": 0.25}), "\nGood."])
    assert weighted == pytest.approx(3.5)


def test_tokens_that_are_not_a_score_are_left_out() -> None:
    # 9 is off the scale: (4 * 0.4 + 3 * 0.1) / 0.5 = 3.8
    weighted = weigh(["score: ", ("4", {"4": 0.4, "3": 0.1, "9": 0.2, "**": 0.2, "four": 0.1}), "\nGood."])
    assert weighted == pytest.approx(3.8)


def test_token_of_the_score_is_found_among_other_numbers() -> None:
    weighted = weigh(
        [
            "Of ",
            ("4", {"4": 0.9, "1": 0.1}),
            " claims two hold.\nscore: ",
            ("4", {"4": 0.5, "2": 0.5}),
            "\nAll ",
            ("4", {"4": 1.0}),
            " are there.",
        ]
    )
    assert weighted == pytest.approx(3.0)


def test_score_in_several_tokens_has_no_weight() -> None:
    assert weigh(["Score: 1", "0", "\nGood."], Scale(0, 10)) is None


def test_score_with_an_unknown_probability_has_no_weight() -> None:
    # The mean of the rivals alone would be 0, for a rating of 5.
    assert weigh(["score: ", ("5", {"0": 0.2}), "\nGood."]) is None


def test_first_digit_of_a_two_digit_scale_has_no_weight() -> None:
    # "1" may be the beginning of "10".
    assert weigh(["score: ", ("7", {"7": 0.6, "1": 0.4}), "\nGood."], Scale(1, 10)) is None


def test_whole_numbers_as_tokens_are_weighted_on_a_two_digit_scale() -> None:
    assert weigh(["score: ", ("7", {"7": 0.5, "10": 0.5}), "\nGood."], Scale(1, 10)) == pytest.approx(8.5)


@each(("fours", "padding", "expected"), [(49, 0, 3.9), (50, 0, None), (0, 49_991, 3.9), (0, 49_992, None)])
def test_answer_that_is_too_long_has_no_weight(fours: int, padding: int, expected: float | None) -> None:
    # 4 * 0.9 + 3 * 0.1 = 3.9
    weighted = weigh(["score:", (" 4", {" 4": 0.9, " 3": 0.1}), "\n", *["so", " 4"] * fours, "x" * padding])
    assert weighted == (expected and pytest.approx(expected))


def logprobs(*tokens: tuple[str, Mapping[str, float]]) -> dict[str, list[dict[str, object]]]:
    """The field `logprobs` as OpenAI sends it."""
    return {
        "content": [
            {
                "token": text,
                "logprob": 0.0,
                "bytes": None,
                "top_logprobs": [
                    {"token": rival, "logprob": math.log(chance), "bytes": None} for rival, chance in rivals.items()
                ],
            }
            for text, rivals in tokens
        ]
    }


async def test_verdict_has_the_mean_weighted_score(model_server: ModelServer, client: AsyncOpenAI) -> None:
    sure = logprobs(("score: ", {}), ("4", {"4": 1.0}), ("\nGood.", {}))
    torn = logprobs(("score: ", {}), ("4", {"4": 0.5, "1": 0.5}), ("\nGood.", {}))
    model_server.script(
        lambda request: Answer("score: 4\nGood.", logprobs=sure if request["model"] == "sure" else torn)
    )
    verdict = await Judge(models=["sure", "torn"], client=client, logprobs=True).score("a?", "b")
    # (4 + 2.5) / 2
    assert verdict.weighted_score == pytest.approx(3.25)
    assert (model_server.requests[0]["logprobs"], model_server.requests[0]["top_logprobs"]) == (True, 20)


async def test_sampled_token_counts_even_if_it_is_not_in_the_top_list(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    given = logprobs(("score: ", {}), ("5", {"0": 0.1, "4": 0.3}), ("\nGood.", {}))
    given["content"][1]["logprob"] = math.log(0.6)
    model_server.script(Answer("score: 5\nGood.", logprobs=given))
    verdict = await Judge("m", client=client, samples=1, logprobs=True).score("a?", "b")
    # 5 * 0.6 + 4 * 0.3 + 0 * 0.1 = 4.2
    assert (verdict.score, verdict.weighted_score) == (5, pytest.approx(4.2))


async def test_score_of_a_second_answer_is_weighted(model_server: ModelServer, client: AsyncOpenAI) -> None:
    model_server.script("Hm.", Answer("4", logprobs=logprobs(("4", {"4": 0.9, "3": 0.1}))))
    verdict = await Judge("m", client=client, samples=1, logprobs=True).score("a?", "b")
    # 4 * 0.9 + 3 * 0.1 = 3.9
    assert (verdict.score, verdict.weighted_score) == (4, pytest.approx(3.9))


async def test_log_probabilities_are_not_requested_by_default(model_server: ModelServer, client: AsyncOpenAI) -> None:
    given = logprobs(("score: ", {}), ("4", {"4": 1.0}), ("\nGood.", {}))
    model_server.script(Answer("score: 4\nGood.", logprobs=given))
    verdict = await Judge("m", client=client, samples=1).score("a?", "b")
    assert verdict.weighted_score is None
    assert "logprobs" not in model_server.requests[0]


async def test_one_rating_without_log_probabilities_leaves_the_verdict_without_a_weighted_score(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    given = logprobs(("score: ", {}), ("4", {"4": 1.0}), ("\nGood.", {}))
    model_server.script(lambda request: Answer("score: 4\nGood.", logprobs=given if request["model"] == "a" else None))
    verdict = await Judge(models=["a", "b"], client=client, logprobs=True).score("a?", "b")
    assert verdict.score == 4
    assert verdict.weighted_score is None
