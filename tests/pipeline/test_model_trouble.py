"""The model is down, slow, refusing, out of quota or talking nonsense: an honest "unscored", and
nothing lost.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Connection, event
from structlog.testing import capture_logs

from bot.domain.case import CaseStatus
from bot.pipeline.judging import SLOW_S
from bot.pipeline.pipeline import CasePipeline
from bot.pipeline.text import slow
from bot.store.errors import NoAnswerError
from bot.store.writer import after_commit
from tests.gestures import calls
from tests.model_server import Drop, Failure, Held, Script, Stall
from tests.patience import ONLY_A_HANG_S
from tests.stage import CHANNEL, GOOD, SCORED, Stage, StageFactory, is_verdict, shown

AT_ONCE = timedelta()


def updates(stage: Stage) -> list[str]:
    """The texts that our message was changed to, one after the other."""
    return [entry.data["args"]["text"] for entry in calls(stage, "chat.update")]


@pytest.mark.usefixtures("no_placeholder")
async def test_no_score_is_said_at_once_and_logged(stage: Stage) -> None:
    scripts: list[tuple[Script, str, str]] = [
        (Failure(401, code="invalid_api_key"), "rejects the app's key", "KeyRejectedError"),
        ("score: 2\nscore: 4", "gave no score I can rely on", "conflicting"),
    ]
    for number, (script, sentence, reason) in enumerate(scripts, 1):
        stage.model.script(script)
        verdict = await stage.verdict(stage.ask_for_score())
        assert sentence in verdict.text
        assert f"case {number}" in shown(verdict)
        recorded = await stage.log.cases.verdict(number)
        assert (recorded.score, recorded.unscored_reason) == (None, reason)
    assert (len(stage.ours()), updates(stage)) == (2, [])


async def test_a_model_that_does_not_answer_is_given_up(open_stage: StageFactory) -> None:
    stage = await open_stage(judge_timeout_s=0.5, model_pauses=[AT_ONCE, AT_ONCE])
    stage.model.script(Drop())
    verdict = await stage.verdict(stage.ask_for_score())
    assert verdict.text.startswith("Unscored: ")
    assert "Try again in a few minutes" in verdict.text
    for number in (1, 2):
        assert any(f"(retry {number} of 2)" in text for text in updates(stage))


async def test_a_person_who_waits_alone_is_told_once_that_it_takes_longer(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage(verdict_visibility="me", model_pauses=[AT_ONCE, AT_ONCE])
    stage.model.script(Failure(429, headers={"retry-after": "300"}))
    stage.ask_for_score()
    await stage.told(stage.ann, count=2)
    first, last = stage.ann.ephemerals(CHANNEL)
    assert "I will try again" in first.text
    assert last.text.startswith("Unscored: ")


async def test_who_waits_for_a_slow_model_reads_their_place_in_line(
    open_stage: StageFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CasePipeline, "slow_s", 0.2)
    stage = await open_stage(judge_concurrency=2)
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    for number in range(1, 4):
        _, answer = stage.ask_and_answer(answer=f"Answer {number}.")
        await stage.score(answer)
        await stage.slack.until(lambda number=number: len(updates(stage)) == number)
    assert updates(stage) == [slow(place).text for place in (0, 1, None)]
    gate.set()
    await stage.slack.until(lambda: sum(is_verdict(each) for each in stage.ours()) == 3)


async def test_ratings_that_came_in_time_are_kept_for_the_next_try(
    open_stage: StageFactory, let_pass: Callable[[float], None]
) -> None:
    stage = await open_stage(judge_samples=3, judge_timeout_s=20, model_pauses=[AT_ONCE])
    stage.model.script("score: 2\nFair.", Stall(), "score: 4\nGood.")
    parent = stage.ask_for_score()
    await stage.model.asked(2)  # the second rating only once the first has come
    let_pass(200)
    assert (await stage.verdict(parent)).text.startswith(SCORED)
    assert any("model is not answering. I will try again" in text for text in updates(stage))
    recorded = await stage.log.cases.verdict(1)
    assert [rating.score for rating in recorded.ratings] == [2, 4, 4]


async def test_who_waits_for_a_busy_model_is_told_alone_where_the_placeholder_is_gone(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage(judge_timeout_s=0.5, model_pauses=[timedelta(hours=1)])
    stage.model.script(Failure(503))
    stage.slack.fail("chat.update", error="message_not_found")
    stage.ask_for_score()
    assert "I will try again in 60 minutes" in shown(await stage.told(stage.ann))


@pytest.mark.parametrize("is_recorded", [False, True], ids=["lost", "recorded"])
@pytest.mark.usefixtures("no_placeholder")
async def test_a_verdict_is_paid_once_though_the_database_is_late(
    stage: Stage, *, is_recorded: bool
) -> None:
    """The first time it is recorded, the database does not answer: it has not done it, or its
    answer is lost.
    """
    engine = stage.log.database.engine.sync_engine
    late = list[str]()

    async def run_out_of_time() -> None:
        raise NoAnswerError

    @event.listens_for(engine, "before_cursor_execute")
    def record(connection: Connection, _: object, statement: str, *__: object) -> None:
        if "INSERT INTO ratings" in statement and not late:
            late.append(statement)
            if not is_recorded:
                raise NoAnswerError
            after_commit(connection, run_out_of_time)

    stage.ask_for_score()
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert len(late) == len(stage.model.requests) == 1


async def test_a_model_that_hangs_is_in_the_log_after_ten_seconds(
    stage: Stage, let_pass: Callable[[float], None]
) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    with capture_logs() as logged:
        parent = stage.ask_for_score()
        await stage.model.asked(1)
        let_pass(SLOW_S)
        async with asyncio.timeout(ONLY_A_HANG_S):
            while not [each for each in logged if each["event"] == "model_slow"]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        gate.set()
        await stage.verdict(parent)
