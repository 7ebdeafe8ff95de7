import asyncio
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import Any

import pytest
from openai import AsyncOpenAI

from judge import (
    DeadlineError,
    Judge,
    Rating,
    SetupError,
    Turn,
    UnavailableError,
    UnscoredReason,
    load_rubric,
)
from judge.scoring.model.client import Connection, make_client
from tests.judge_client import QUESTION, RESPONSE, Ask
from tests.model_server import Answer, Failure, ModelServer, Stall
from tests.tables import each


async def test_three_ratings_make_a_verdict_also_of_a_server_that_ignores_n(ask: Ask) -> None:
    judge = ask.judge()
    ask.server.script("score: 4\nGood.", "score: 5\nVery good.", "score: 2\nMeh.")
    verdict = await judge.score(QUESTION, RESPONSE)
    assert (verdict.score, verdict.spread, verdict.justification) == (4, 3, "Good.")
    assert (verdict.model, verdict.rubric, verdict.input_tokens) == ("m", "additive-5", 1200)
    assert verdict.latency_ms is not None
    await judge.score(QUESTION, RESPONSE)  # two equal ratings, asked for one by one from then on
    assert [request.get("n") for request in ask.server.requests] == [2, *[None] * 4]


async def test_each_request_has_the_conversation(ask: Ask) -> None:
    said = [Turn("user", "Hi, judge {prompt}.")]
    await ask("Paris.", "score: 4\nGood.", said=said, samples=1, points=True)
    turn = '\n<turn role="user">Hi, judge {prompt}.</turn>\n'
    prompts = [request["messages"][0]["content"] for request in ask.server.requests]
    # for a score, for its line alone, for the points
    assert [turn in prompt for prompt in prompts] == [True] * 3


@each(
    ("question", "response", "conversation", "said"),
    [
        (QUESTION, None, [], "response is of type NoneType; pass a string"),
        (QUESTION, RESPONSE, [{"role": "user"}], "conversation has a dict; pass a list of"),
        (QUESTION, RESPONSE, None, "conversation has a NoneType"),
    ],
)
async def test_what_is_no_text_or_turn_is_named(
    question: Any, response: Any, conversation: Any, said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        await Judge("offline").score(question, response, conversation=conversation)


async def test_two_of_three_ratings_in_one_request_suffice_if_equal(ask: Ask) -> None:
    verdict = await ask(Answer("score: 4\nGood.", more=("score: 4\nVery good.",)), samples=3)
    assert (verdict.score, verdict.basis, verdict.spread, verdict.skipped_ratings) == (
        *(4, "2 of 2", 0, 1),
    )
    assert [request["n"] for request in ask.server.requests] == [2]
    assert (verdict.input_tokens, verdict.output_tokens) == (400, 60)


async def test_all_ratings_are_asked_for_at_once_if_each_counts(ask: Ask) -> None:
    panel = await ask(
        Answer("score: 4\nGood.", more=("score: 4\nGood.", "score: 4\nGood.")),
        model=["a", "b"],
        samples=3,
    )
    assert [request["n"] for request in ask.server.requests] == [3, 3]
    assert panel.skipped_ratings is None


async def test_server_that_ignores_n_is_asked_again_for_the_missing_ones_at_once(
    ask: Ask, let_pass: Callable[[float], None]
) -> None:
    scoring = asyncio.create_task(ask("score: 4\nGood.", Stall(), samples=9))
    await ask.server.asked(5)
    let_pass(600)
    with pytest.raises(DeadlineError):
        await scoring
    assert [request.get("n") for request in ask.server.requests] == [5, None, None, None, None]
    assert ask.server.most_at_once == 4


async def test_panel_goes_on_without_a_member_that_fails(ask: Ask) -> None:
    replies = {"a": "score: 3\nSo.", "b": Failure(404), "c": "score: 4\nSo."}
    verdict = await ask(lambda request: replies[request["model"]], model="a, b, c")
    assert (verdict.score, verdict.basis, verdict.model) == (3, "2 of 3", "a, b, c")
    assert [rating.model for rating in verdict.ratings] == ["a", "b", "c"]
    assert verdict.ratings[1].reason is UnscoredReason.CALL_FAILED
    assert all("n" not in request for request in ask.server.requests)


@each(
    ("settings", "complaint"),
    [
        ({"model": ["a", "a"]}, "twice"),
        ({"model": ["a", " "]}, "one name between two commas"),
        ({"model": ["a", "offline"]}, "cannot be on a panel"),
        ({"samples": 0}, "JUDGE_SAMPLES"),
        ({"timeout_s": 0}, "JUDGE_TIMEOUT_S"),
        ({"ask": "logits"}, "text, distribution or decision"),
        ({"ask": "decision", "model": "offline"}, "is not a model"),
        ({"ask": "decision", "samples": 3}, "JUDGE_SAMPLES"),
        ({"ask": "decision", "effort": "low"}, "JUDGE_EFFORT"),
        ({"ask": "decision", "tier": "flex"}, "JUDGE_TIER"),
        ({"effort": "very much"}, "JUDGE_EFFORT"),
        ({"answer_tokens": 0}, "JUDGE_ANSWER_TOKENS"),
    ],
)
def test_settings_that_are_wrong_or_do_not_go_together_are_refused(
    settings: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(SetupError, match=complaint):
        Judge(**settings)


async def test_a_closed_client_is_a_judge_error(model_server: ModelServer) -> None:
    client = AsyncOpenAI(api_key="key", base_url=model_server.base_url)
    await client.close()
    with pytest.raises(SetupError, match="is closed"):
        await Judge("m", client=client).score(QUESTION, RESPONSE)


async def test_doubtful_answer_is_asked_for_its_score_alone(ask: Ask) -> None:
    said = "Score: 3.5\nIt is fair. </response>"
    verdict = await ask(said, "**Score: 3**\r\n", samples=1)
    assert (verdict.score, verdict.justification) == (3, "It is fair. </response>")
    assert (verdict.input_tokens, verdict.ratings[0].raw) == (800, f"{said}\n\n**Score: 3**\r\n")
    first, second = (request["messages"][0]["content"] for request in ask.server.requests)
    assert second.startswith(
        f"{first}\n\nYou have answered:\n\n<answer>\nScore: 3.5\nIt is fair. [/response]\n</answer>"
    )
    assert second.endswith(
        "with this one line and nothing else, where N is one whole number between 0 and "
        "5:\nscore: N"
    )
    assert [len(request["messages"]) for request in ask.server.requests] == [1, 1]


@each("second", ["score: 3\nNo, 4.", Answer("3", finish_reason="length")])
async def test_second_answer_in_doubt_leaves_it_unscored(ask: Ask, second: str | Answer) -> None:
    verdict = await ask("Score: 3.5\nFair.", second, samples=1)
    assert verdict.unscored.reason is UnscoredReason.NOT_WHOLE
    assert (verdict.unscored.raw, verdict.input_tokens) == ("Score: 3.5\nFair.", 800)


async def test_long_answer_is_cut_before_it_is_neutralised(ask: Ask) -> None:
    await ask("&lt;response&gt;" * 6_000, "score: 4", samples=1)
    second = ask.server.requests[1]["messages"][0]["content"]
    # 6,000 of the characters are kept, and of each 16 of these 10 are left.
    assert second.count("[response]") == 2 * (3_000 // 16)
    assert len(second.partition("<answer>")[2]) < 4_500


async def test_a_failure_is_reported_even_if_the_retry_times_out(
    ask: Ask, let_pass: Callable[[float], None]
) -> None:
    scoring = asyncio.create_task(
        ask(Failure(503, headers={"retry-after": "0"}), Stall(), samples=1)
    )
    await ask.server.asked(2)
    let_pass(600)
    with pytest.raises(UnavailableError, match="HTTP 503"):
        await scoring


async def test_majority_by_the_deadline_is_enough(
    ask: Ask, let_pass: Callable[[float], None]
) -> None:
    scoring = asyncio.create_task(ask("score: 4\nGood.", "score: 5\nGood.", Stall()))
    await ask.server.asked(3)  # the third only once the first two differ
    let_pass(600)
    verdict = await scoring
    assert (verdict.score, verdict.basis) == (4, "2 of 3")


async def test_nothing_to_judge_asks_no_model(ask: Ask) -> None:
    verdict = await ask(question="same", response=" same\n")
    assert verdict.unscored.reason is UnscoredReason.NOTHING_TO_JUDGE
    assert (verdict.ratings, ask.server.requests) == ((), [])


@each("part", ["question", "response", "conversation", "reference"])
async def test_a_text_over_the_limit_is_refused_unread(ask: Ask, part: str) -> None:
    texts: dict[str, Any] = {"question": "", "response": "", part: "score: 5." * 20_000}
    if part == "conversation":
        texts[part] = [Turn("user", "score: 5." * 10_000)] * 2
    verdict = await ask.judge().score(**texts)
    assert verdict.unscored.reason is UnscoredReason.TOO_LONG
    assert f"The {part} is 180,000 characters long, and the limit" in verdict.unscored.detail
    assert (verdict.flags, ask.server.requests) == ((), [])


async def test_judges_share_one_client_which_its_owner_closes(model_server: ModelServer) -> None:
    connection = Connection(None, partial(make_client, "key", model_server.base_url))
    async with aclosing(connection):
        async with Judge("m", client=connection), Judge("m", client=connection):
            first, second = await asyncio.gather(connection(), connection())
        async with Judge("m", client=first):
            assert first is second
        assert not first.is_closed()
    assert first.is_closed()


async def test_missing_key_and_address_say_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(SetupError, match=r"OPENAI_API_KEY, or OPENAI_BASE_URL.*'offline'"):
        await Judge().score(QUESTION, RESPONSE)


async def test_cancelled_score_leaves_no_request_behind(ask: Ask) -> None:
    before = asyncio.all_tasks()
    task = asyncio.create_task(ask(Stall()))
    await ask.server.asked(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [each for each in asyncio.all_tasks() - before if "Member." in str(each.get_coro())]


@each("base_url", [None, ""])
def test_openai_is_asked_if_no_address_is_set(
    monkeypatch: pytest.MonkeyPatch, base_url: str | None
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    assert str(make_client("key", base_url).base_url) == "https://api.openai.com/v1/"


@each(
    ("judge", "parts"),
    [
        *((Judge("m", samples=3, tier="flex", answer_tokens=500), ""), (Judge("a,b"), "")),
        *((Judge("m", samples=5), ", 5 ratings"), (Judge("a,b", samples=3), ", 3 ratings")),
        (Judge("m", ask="distribution"), ", distribution, effort none"),
        (Judge("m", options='{"seed": 1}'), ", options a4bbadc1"),
        (Judge("m").against("a"), ", with reference ca978112"),
        (Judge("offline").against("a"), ""),  # it reads none
    ],
)
def test_version_names_all_that_makes_scores_comparable(judge: Judge, parts: str) -> None:
    rubric = f"additive-5 {load_rubric('additive-5').version}"
    assert judge.version == f"{judge.model}, {rubric}{parts}"


async def test_ratings_of_a_try_that_failed_are_not_asked_for_again(ask: Ask) -> None:
    judge = ask.judge(timeout_s=0.2)
    # The server ignores `n`, so the second rating is a request of its own.
    ask.server.script("score: 2\nFair.", Stall())
    with pytest.raises(DeadlineError) as caught:
        await judge.score(QUESTION, RESPONSE)
    ask.server.script("score: 4\nGood.")
    verdict = await judge.score(QUESTION, RESPONSE, earlier=caught.value.ratings)
    assert [rating.score for rating in verdict.ratings if isinstance(rating, Rating)] == [2, 4, 4]
    assert (len(ask.server.requests), verdict.input_tokens) == (2 + 2, 3 * 400)


async def test_two_names_of_one_model_are_told(ask: Ask) -> None:
    ask.server.script(
        lambda request: Answer("score: 4", model="large-1" if request["model"] != "c" else None)
    )
    judge = ask.judge(model=["a", "b", "c"])
    await judge.score(QUESTION, RESPONSE)
    assert judge.shortfalls == [
        "Models 'a' and 'b' are one: the server names each answer's model as 'large-1'."
    ]


async def test_what_it_writes_is_as_repeatable_as_the_server_makes_it(ask: Ask) -> None:
    """So that the same questions are sorted into the same topics."""
    ask.server.script("1: expenses")
    assert (await ask.judge(samples=3).write("Sort these.")).text == "1: expenses"
    assert ask.server.requests[-1]["temperature"] == 0
