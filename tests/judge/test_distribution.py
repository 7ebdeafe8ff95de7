import math
from collections.abc import Mapping
from typing import Any

import pytest

from judge import DeadlineError
from judge.scoring.distribution import find_chances
from judge.scoring.model.completion import Token
from judge.scoring.rubric import Scale
from tests.judge_client import QUESTION, RESPONSE, Ask
from tests.model_server import Answer, Failure, Reply, Script, Stall
from tests.tables import each

Part = tuple[str, Mapping[str, float]]
TEXT = "score: 3\nAs text."
REFUSED = Failure(400, message="'logprobs' is not supported", param="logprobs")
TORN: Part = (" 4", {" 4": 0.5, "4": 0.1, " 5": 0.3, " 2": 0.05, "**": 0.05})


def answer(*parts: str | Part, **fields: Any) -> Answer:
    """An answer in tokens; a part with rivals comes with their probabilities."""
    tokens = [(part, {part: 1.0}) if isinstance(part, str) else part for part in parts]
    content = [
        {
            "token": text,
            "logprob": math.log(rivals[text]),
            "top_logprobs": [
                {"token": rival, "logprob": math.log(chance) if chance else -math.inf}
                for rival, chance in rivals.items()
            ],
        }
        for text, rivals in tokens
    ]
    fields = {"finish_reason": "length"} | fields
    return Answer("".join(text for text, _ in tokens), logprobs={"content": content}, **fields)


def or_text(reply: Reply) -> Script:
    """`reply` if log probabilities are asked for, text otherwise."""
    return lambda request: reply if "logprobs" in request else TEXT


async def test_distribution_is_one_short_request_and_its_score_the_rounded_mean(ask: Ask) -> None:
    verdict = await ask(or_text(answer("score", ":", TORN, "\nIt is a good")), ask="distribution")
    assert verdict.ratings[0].coverage == pytest.approx(0.95)
    # 2 * 0.05 + 4 * 0.6 + 5 * 0.3 = 4.0, of 0.95: 4.21
    assert (verdict.score, verdict.mean) == (4, pytest.approx(4.0 / 0.95))
    assert verdict.probabilities == pytest.approx({2: 0.05 / 0.95, 4: 0.6 / 0.95, 5: 0.3 / 0.95})
    assert (verdict.spread, verdict.justification) == (1, "")
    [request] = ask.server.requests
    assert (request["temperature"], request["top_logprobs"], request["stop"]) == (0, 20, "\n")


@each(
    ("reply", "coverage"),
    [
        (answer("score:", (" 4", {" 4": 0.5, " 5": 0.2, " four": 0.3}), "\nA"), 0.7),
        (answer("score:", (" 4", {" 4": 1.0, " 5": 1.0, " 3": 1.0}), "\nA"), 1.0),
        (answer("The ", ("response", {"response": 0.6, "answer": 0.4})), None),
        (answer("score: ", ("4", {"4": 1.0}), finish_reason="length"), None),  # it may go on
        (Answer("", finish_reason="length", usage=None), None),
    ],
)
async def test_distribution_that_does_not_speak_for_the_score_is_asked_as_text(
    ask: Ask, reply: Answer, coverage: float | None
) -> None:
    ask.server.requests.clear()
    verdict = await ask(or_text(reply), ask="distribution", samples=1)
    assert (verdict.score, verdict.justification, verdict.probabilities) == (3, "As text.", None)
    assert verdict.ratings[0].coverage == (coverage and pytest.approx(coverage))
    times = 2 if reply.text.startswith("The") else 1  # the score may stand below
    assert len(ask.server.requests) == times + 1
    assert verdict.input_tokens == 400 + times * (400 if reply.usage else 0)


async def test_a_number_that_is_all_of_the_answer_is_the_score(ask: Ask) -> None:
    bare = answer(("4", {"4": 0.6, "5": 0.3, "2": 0.1}), finish_reason="stop")
    verdict = await ask(or_text(bare), ask="distribution")
    assert verdict.probabilities == pytest.approx({2: 0.1, 4: 0.6, 5: 0.3})
    assert len(ask.server.requests) == 1


async def test_an_answer_in_which_a_number_is_not_the_score_is_named(ask: Ask) -> None:
    judge = ask.judge(ask="distribution")
    ask.server.script(or_text(answer("In ", "2", " ways.", finish_reason="stop")))
    assert (await judge.score(QUESTION, RESPONSE)).score == 3
    assert judge.shortfalls == ["Model 'm' is asked for text where its first words state no score."]


async def test_server_without_log_probabilities_is_asked_as_text_and_named(ask: Ask) -> None:
    judge = ask.judge(ask="distribution")
    ask.server.script(or_text(REFUSED))
    assert [(await judge.score(QUESTION, RESPONSE)).basis for _ in range(2)] == ["2 of 2"] * 2
    assert sum("top_logprobs" in request for request in ask.server.requests) == 1
    assert judge.shortfalls == [
        "Model 'm' is asked for text where its server refuses log probabilities."
    ]


async def test_failed_request_is_a_failure_and_not_asked_as_text(ask: Ask) -> None:
    with pytest.raises(DeadlineError):
        await ask(or_text(Stall(in_body=True)), ask="distribution", timeout_s=0.3)
    assert all("logprobs" in request for request in ask.server.requests)


def chances(parts: list[str | Part], score: int, scale: Scale) -> dict[int, float]:
    tokens = [
        Token(part, {part: 0.0})
        if isinstance(part, str)
        else Token(part[0], {t: math.log(p) for t, p in part[1].items()})
        for part in parts
    ]
    return find_chances(tokens, score, scale)


ONE: Part = ("1", {"1": 0.6, "9": 0.4})


@each(
    ("parts", "score", "expected"),
    [
        # "10" as one token, so that "1" is 1
        (["score:", (" 10", {" 10": 0.6, " 1": 0.1, " 9": 0.3})], 10, {10: 0.6, 1: 0.1, 9: 0.3}),
        # "10" as "1" and "0": of the 0.6 of a "1", three quarters go on
        (["score: ", ONE, ("0", {"0": 0.75, "\n": 0.2}), "\nA"], 10, {10: 0.45, 1: 0.12, 9: 0.4}),
        # the same, and the number ended at 1
        (["score: ", ONE, ("\n", {"0": 0.25, "\n": 0.75}), "A"], 1, {10: 0.15, 1: 0.45, 9: 0.4}),
        # what would have followed a "1" is not known
        (["score: ", ("9", {"1": 0.2, "9": 0.8}), "\nA"], 9, {9: 0.8}),
        # on a longer scale, of other first digits nothing is known but the number itself
        (
            ["score: ", ("8", {"8": 0.7, "9": 0.3}), ("5", {"5": 0.9, "0": 0.1}), "\nA"],
            85,
            {85: 0.63, 80: 0.07},
        ),
    ],
)
def test_numbers_of_several_digits(
    parts: list[str | Part], score: int, expected: Mapping[int, float]
) -> None:
    assert chances(parts, score, Scale(0, 100 if score > 10 else 10)) == pytest.approx(expected)


def test_token_of_the_score_is_found_among_other_numbers() -> None:
    parts: list[str | Part] = ["Of ", ("4", {"4": 0.9, "1": 0.1}), " claims two hold.\nscore: "]
    assert chances(
        [*parts, ("4", {"4": 0.5, "2": 0.5}), "\nAll ", "4", " are there."], 4, Scale(0, 5)
    ) == pytest.approx({4: 0.5, 2: 0.5})


async def test_a_panels_distributions_are_averaged_over_all_its_models(ask: Ask) -> None:
    sure = answer("score:", (" 4", {" 4": 1.0}), "\n")
    other = answer("score:", (" 5", {" 5": 0.5, " 2": 0.5}), "\n")
    verdict = await ask(
        lambda request: sure if request["model"] == "a" else other,
        model=["a", "b"],
        ask="distribution",
    )
    # 2 * 0.25 + 4 * 0.5 + 5 * 0.25 = 3.75
    assert (verdict.probabilities, verdict.mean) == ({4: 0.5, 2: 0.25, 5: 0.25}, 3.75)


async def test_model_that_thinks_is_asked_as_text_and_named(ask: Ask) -> None:
    judge = ask.judge(samples=1, ask="distribution")
    usage = {"prompt_tokens": 400, "completion_tokens": 16}
    thought = Answer(None, "length", extra={"reasoning": "The user asks"}, usage=usage)
    ask.server.script(or_text(thought))
    assert (await judge.score(QUESTION, RESPONSE)).score == 3
    assert judge.shortfalls == ["Model 'm' is asked for text where it thinks before it answers."]
    assert ask.server.requests[-1]["max_tokens"] == 8192


async def test_score_below_the_first_line_is_looked_for_there_from_then_on(ask: Ask) -> None:
    judge = ask.judge(ask="distribution")
    usage = {"prompt_tokens": 400, "completion_tokens": 8}
    heading = answer("## ", "Verdict", finish_reason="stop", usage=usage)
    whole = answer("## ", "Verdict", "\n", "score:", TORN, "\n", usage=usage)
    ask.server.script(lambda request: heading if "stop" in request else whole)
    first = await judge.score(QUESTION, RESPONSE)
    assert (first.score, first.probabilities is None, first.input_tokens) == (4, False, 800)
    assert (await judge.score(QUESTION, RESPONSE)).score == 4
    sent = [("stop" in request, request["max_tokens"]) for request in ask.server.requests]
    assert sent == [(True, 16), (False, 16), (False, 16)]


async def test_distribution_is_asked_for_without_thinking_unless_an_effort_is_set(ask: Ask) -> None:
    def reply(request: dict[str, Any]) -> Reply:
        thinks = request.get("reasoning_effort") != "none"
        if thinks and "logprobs" in request:
            return Failure(400, message="'logprobs' is not supported while thinking")
        return TEXT if thinks else answer("score:", TORN, finish_reason="stop", usage=None)

    ask.server.script(reply)
    usual = ask.judge(ask="distribution")
    for _ in range(2):
        assert (await usual.score(QUESTION, RESPONSE)).probabilities
    # After a good answer half the tokens are enough.
    assert [request["max_tokens"] for request in ask.server.requests] == [16, 8]
    thinking = ask.judge(ask="distribution", effort="low")
    assert (await thinking.score(QUESTION, RESPONSE)).probabilities is None
    assert thinking.ask == "distribution, effort low"


async def test_model_that_cannot_think_need_not_know_the_effort(ask: Ask) -> None:
    judge = ask.judge(ask="distribution")
    refused = Failure(400, message="Unrecognized request argument: reasoning_effort")
    given = answer("score:", TORN, finish_reason="stop")
    ask.server.script(lambda request: refused if "reasoning_effort" in request else given)
    assert (await judge.score(QUESTION, RESPONSE)).probabilities
    assert judge.shortfalls == []
