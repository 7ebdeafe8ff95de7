"""Watched replies scored through the provider's batches: each once, at half the price, whatever is lost on the way."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy import func, select

from bot.domain.case import CaseStatus
from bot.domain.watch import LATE, ReplyOutcome
from bot.pipeline.batches import BatchJudging
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.store.batches import EVERY
from bot.store.schema import batch_requests, batches
from judge.scoring.model import make_client
from tests.batch_server import BatchServer, Course
from tests.features.watch.watching import alarm, outcomes, say, seen, take_finished
from tests.gestures import scored
from tests.model_server import Failure, Reply
from tests.stage import GOOD, Stage, StageFactory

SETTINGS: dict[str, Any] = {"watch_by": "events", "watch_by_batch": True}
ENOUGH = 8  # looks at a batch, which comes a step further with each


@pytest.fixture
async def model_server() -> AsyncIterator[BatchServer]:
    async with BatchServer() as server:
        yield server


@pytest.fixture
async def stage(open_stage: StageFactory, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setenv("JUDGE_BATCH_HURRY", "0.02")
    opened: Stage = await open_stage(manifest=load_manifest(parts=[MESSAGE_EVENTS]), **SETTINGS)
    await say(opened, "@helper all alert off")
    return opened


async def ask(stage: Stage, number: int) -> None:
    """Returns once so many replies are cases whose requests are in line."""
    for n in range(number):
        stage.ask_and_answer(answer=f"Answer {n}.")
    await seen(stage, number)
    await take_finished(stage)
    await in_line(stage, number)


async def in_line(stage: Stage, number: int) -> None:
    async def are_there() -> bool:
        return await count(stage, batch_requests) >= number

    await stage.eventually(are_there)


async def count(stage: Stage, table: Any) -> int:
    return int(await stage.log.database.value(select(func.count()).select_from(table)))


async def work(stage: Stage, times: int = ENOUGH, later: timedelta = EVERY) -> None:
    """The periodic job, so often and so much later."""
    async with make_client("test", stage.model.base_url) as client:
        team_id = stage.slack.workspace.team_id
        judging = BatchJudging(stage.log.batches, team_id, client, lambda: datetime.now(UTC) + later)
        for _ in range(times):
            await judging.work()


def asked(server: BatchServer) -> list[str]:
    prompts = [request["messages"][-1]["content"] for request in server.requests]
    return sorted(prompt.rpartition("<response>")[2].partition("</response>")[0] for prompt in prompts)


async def test_replies_wait_an_hour_and_are_scored_from_one_batch(stage: Stage, model_server: BatchServer) -> None:
    await ask(stage, 3)
    await work(stage, later=timedelta(minutes=50))
    assert model_server.batches == {}
    await work(stage)
    cases = [await stage.reaches(number, CaseStatus.DELIVERED) for number in (1, 2, 3)]
    assert [case.score for case in cases] == [4, 4, 4]
    assert (asked(model_server), len(model_server.batches)) == (["Answer 0.", "Answer 1.", "Answer 2."], 1)
    assert (await outcomes(stage)) == {ReplyOutcome.TAKEN: 3}
    await stage.log.batches.trim(stage.slack.workspace.team_id)
    assert (await count(stage, batch_requests), await count(stage, batches)) == (0, 0)


async def test_what_people_ask_for_does_not_wait(stage: Stage, model_server: BatchServer) -> None:
    await scored(stage)
    assert (model_server.direct, model_server.batches) == (1, {})


@pytest.mark.parametrize("step", ["uploaded", "created", "download"])
async def test_a_lost_answer_of_the_provider_costs_nothing(stage: Stage, model_server: BatchServer, step: str) -> None:
    await ask(stage, 2)
    model_server.lose, model_server.stale_lists = step, 3
    await work(stage)
    assert model_server.lose == ""
    for number in (1, 2):
        await stage.reaches(number, CaseStatus.DELIVERED)
    assert (asked(model_server), len(model_server.batches)) == (["Answer 0.", "Answer 1."], 1)


async def test_no_line_of_a_file_holds_up_the_batches(stage: Stage, model_server: BatchServer) -> None:
    model_server.courses = [Course(has_stranger=True)]
    model_server.script("score: 4\nGood \ud83d.")
    await ask(stage, 2)
    await work(stage)
    assert [(await stage.reaches(number, CaseStatus.DELIVERED)).score for number in (1, 2)] == [4, 4]


@pytest.mark.parametrize(("hours", "sent"), [(1, 1), (8, 2)])
async def test_a_file_without_the_answers_that_were_counted_is_read_again_for_six_hours(
    stage: Stage, model_server: BatchServer, hours: int, sent: int
) -> None:
    await ask(stage, 2)
    model_server.faults["file"] = [web.HTTPOk(text="<html>Log in!</html>")]
    for later in (hours, hours + 1):
        await work(stage, later=timedelta(hours=later))
    for number in (1, 2):
        await stage.reaches(number, CaseStatus.DELIVERED)
    assert len(model_server.batches) == sent


async def test_a_restart_goes_on_with_the_same_batch(
    stage: Stage, open_stage: StageFactory, model_server: BatchServer
) -> None:
    await ask(stage, 2)
    await work(stage, 2)
    assert stage.stop_bot
    await stage.stop_bot()
    again: Stage = await open_stage(manifest=load_manifest(parts=[MESSAGE_EVENTS]), **SETTINGS)
    # Another workspace of the pocket Slack's; the store and the provider are the same.
    again.slack.workspace.team_id = stage.slack.workspace.team_id
    await work(again)
    answered = await again.log.database.value(select(func.count(batch_requests.c.response)))
    assert (answered, asked(model_server), len(model_server.batches)) == (2, ["Answer 0.", "Answer 1."], 1)


async def test_what_a_batch_leaves_is_asked_again_an_hour_later(stage: Stage, model_server: BatchServer) -> None:
    model_server.courses = [Course("expired", answered=1), Course()]
    await ask(stage, 2)
    await work(stage)
    assert len(model_server.batches) == 1
    await work(stage, later=2 * EVERY)
    for number in (1, 2):
        await stage.reaches(number, CaseStatus.DELIVERED)
    assert (asked(model_server), len(model_server.batches)) == (["Answer 0.", "Answer 1."], 2)


async def test_a_failure_of_the_server_is_asked_again_and_a_doubtful_answer_once_more(
    stage: Stage, model_server: BatchServer
) -> None:
    def answer(request: dict[str, Any]) -> Reply:
        return next(replies)

    replies: Any = iter([Failure(500), "No idea.", GOOD])
    model_server.script(answer)
    await ask(stage, 1)
    await work(stage)
    await work(stage, later=2 * EVERY)
    await in_line(stage, 2)
    await work(stage, later=2 * EVERY)
    assert (await stage.reaches(1, CaseStatus.DELIVERED)).score == 4
    assert [len(lines) for lines in model_server.sent] == [1, 1, 1]


async def test_a_watch_is_not_called_silent_while_its_batches_may_still_come(stage: Stage) -> None:
    await say(stage, "@helper all alert here")
    await ask(stage, 3)
    await alarm(stage, timedelta(hours=5))
    assert stage.ours() == []
    await alarm(stage, LATE + timedelta(hours=5))
    (told,) = stage.ours()
    assert "has no score from the last 30 hours, although 3 replies were drawn" in told.text
