"""A stronger model that is asked if the first one's ratings are of little use."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from openai import AsyncOpenAI

from judge import Rating, Rubric, UnavailableError, Unscored, UnscoredReason, Verdict, load_rubric
from tests.judge_client import Ask, to_ask
from tests.model_server import Answer, Failure, ModelServer, Reply, Script, Stall
from tests.patience import ONLY_A_HANG_S

SAID = {score: f"score: {score}\nSo." for score in range(6)}


def of_two(small: Sequence[Reply], big: Sequence[Reply]) -> Script:
    """The answers of two models, which both reject `n`."""
    left = {"small": list(small), "big": list(big)}

    def answer(request: dict[str, Any]) -> Reply:
        if "n" in request:
            return Failure(400, param="n", message="Unsupported value: 'n'")
        return left[request["model"]].pop(0)

    return answer


@pytest.fixture
def ask(model_server: ModelServer, client: AsyncOpenAI) -> Ask:
    return to_ask(model_server, client, model="small", escalate_to="big")


def scores(verdict: Verdict) -> list[tuple[str, int | None]]:
    return [
        (each.model, each.score if isinstance(each, Rating) else None) for each in verdict.ratings
    ]


def asked_of(server: ModelServer, model: str) -> int:
    return sum(request["model"] == model and "n" not in request for request in server.requests)


async def test_the_stronger_models_verdict_counts_if_ratings_differ_by_two(ask: Ask) -> None:
    verdict = await ask(of_two([SAID[3], SAID[5], SAID[4]], ["score: 2\nWrong.", SAID[2]]))
    assert (verdict.score, verdict.justification, verdict.model) == (2, "Wrong.", "big")
    assert (verdict.escalation, verdict.spread, verdict.mean, verdict.basis) == (
        "small > big",
        0,
        2.0,
        "2 of 2",
    )
    assert Counter(scores(verdict)) == {
        ("small", 3): 1,
        ("small", 5): 1,
        ("small", 4): 1,
        ("big", 2): 2,
    }


async def test_all_ratings_are_requested_at_once_because_each_can_cause_escalation(
    model_server: ModelServer, ask: Ask
) -> None:
    verdict = await ask(of_two([SAID[4], SAID[4], SAID[2]], [SAID[3], SAID[3]]))
    assert (verdict.score, verdict.model) == (3, "big")
    assert model_server.requests[0]["n"] == 3


async def test_tokens_are_summed_over_both_models(ask: Ask) -> None:
    verdict = await ask(of_two([SAID[3], SAID[5], SAID[4]], [SAID[2], SAID[2]]))
    assert (verdict.input_tokens, verdict.output_tokens, verdict.skipped_ratings) == (2000, 300, 1)
    assert verdict.latency_ms == sum(rating.latency_ms or 0 for rating in verdict.ratings)


async def test_ratings_within_one_point_do_not_escalate(
    model_server: ModelServer, ask: Ask
) -> None:
    verdict = await ask(of_two([SAID[4], SAID[5], SAID[4]], []))
    assert (verdict.score, verdict.model, verdict.escalation) == (4, "small", "small > big")
    assert asked_of(model_server, "big") == 0


@pytest.mark.parametrize(
    ("small", "reason"),
    [
        ([SAID[1], SAID[5], SAID[3]], "split"),
        (["Paris."] * 3 + ["No."] * 3, "no score"),
        ([SAID[4], "Paris.", "Paris.", "No.", "No."], "no majority"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_stronger_model_is_asked_if_the_first_has_no_reliable_score(
    ask: Ask, small: list[Reply], reason: str
) -> None:
    verdict = await ask(of_two(small, [SAID[2], SAID[2]]))
    assert (verdict.score, verdict.unscored, verdict.model) == (2, None, "big"), reason


REFUSED = Answer(None, refusal="I would rather not.")
FILTERED = Failure(400, code="content_filter", message="The response was filtered")


@pytest.mark.parametrize("small", [[REFUSED] * 6, [FILTERED] * 3], ids=["refused", "filtered"])
async def test_a_refusal_does_not_escalate(
    model_server: ModelServer, ask: Ask, small: list[Reply]
) -> None:
    verdict = await ask(of_two(small, []))
    assert not verdict.is_scored
    assert asked_of(model_server, "big") == 0


async def test_an_outage_of_the_first_model_does_not_escalate(
    model_server: ModelServer, ask: Ask
) -> None:
    with pytest.raises(UnavailableError):
        await ask(of_two([Failure(503, headers={"retry-after": "999"})] * 3, []))
    assert asked_of(model_server, "big") == 0


async def test_the_first_verdict_stands_if_the_stronger_model_fails(ask: Ask) -> None:
    verdict = await ask(of_two([SAID[3], SAID[5], SAID[4]], [Failure(404), Failure(404)]))
    assert (verdict.score, verdict.model, verdict.spread, verdict.basis) == (
        4,
        "small",
        2,
        "3 of 3",
    )
    assert scores(verdict)[3:] == [("big", None), ("big", None)]
    failed = verdict.ratings[3]
    assert isinstance(failed, Unscored)
    assert failed.reason is UnscoredReason.CALL_FAILED
    assert "no model 'big'" in failed.detail
    assert "check JUDGE_ESCALATE_TO" in failed.detail


async def test_the_first_verdict_stands_if_the_stronger_model_writes_no_score(ask: Ask) -> None:
    verdict = await ask(of_two([SAID[3], SAID[5], SAID[4]], ["Paris.", "Paris.", "No.", "No."]))
    assert (verdict.score, verdict.model) == (4, "small")
    assert verdict.input_tokens == 3 * 400 + 4 * 400


async def test_there_is_no_score_if_the_stronger_models_ratings_split(ask: Ask) -> None:
    verdict = await ask(of_two([SAID[3], SAID[5], SAID[4]], [SAID[1], SAID[5], SAID[3]]))
    assert verdict.unscored is not None
    assert (verdict.unscored.reason, verdict.model) == (UnscoredReason.SPLIT, "big")


async def test_both_models_share_the_deadline(
    model_server: ModelServer, ask: Ask, let_pass: Callable[[float], None]
) -> None:
    scoring = asyncio.create_task(ask(of_two([SAID[3], SAID[5], SAID[4]], [Stall(), Stall()])))
    async with asyncio.timeout(ONLY_A_HANG_S):
        while asked_of(model_server, "big") < 1:  # noqa: ASYNC110 - the server tells of requests of any model
            await asyncio.sleep(0.01)
    let_pass(600)
    verdict = await scoring
    assert (verdict.score, verdict.model) == (4, "small")
    late = verdict.ratings[-1]
    assert isinstance(late, Unscored)
    assert "raise JUDGE_TIMEOUT_S, or choose a faster JUDGE_ESCALATE_TO" in late.detail


async def test_a_panel_can_escalate_to_a_stronger_model(ask: Ask) -> None:
    said = {"a": SAID[1], "b": SAID[4], "c": SAID[5], "big": SAID[3]}
    verdict = await ask(lambda request: said[request["model"]], model="a,b,c")
    assert (verdict.score, verdict.model, verdict.escalation) == (3, "big", "a, b, c > big")
    assert scores(verdict)[3:] == [("big", 3), ("big", 3)]


async def test_a_point_is_a_fifth_of_a_longer_scale(model_server: ModelServer, ask: Ask) -> None:
    ten = Rubric(
        "ten", load_rubric("additive-5").prompt.replace("between 0 and 5", "between 0 and 10")
    )
    verdict = await ask(of_two(["score: 5\nSo.", "score: 8\nSo.", "score: 8\nSo."], []), rubric=ten)
    assert (verdict.score, verdict.model) == (8, "small")
    assert asked_of(model_server, "big") == 0
