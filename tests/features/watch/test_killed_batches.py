"""Watched replies in batches, with a process killed at each step and with two at once: each is scored and paid once."""

import asyncio
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from bot.slack.manifest import MESSAGE_EVENTS
from tests.batch_server import BatchServer
from tests.features.watch.test_killed_weeks import Weeks, weeks, worth
from tests.forked import Forked
from tests.patience import ONLY_A_HANG_S
from tests.replicas import Scene, all_are_delivered, ask, new_scene, workers_are
from tests.slow.points import BATCHES
from tests.stage import CHANNEL, GOOD

pytestmark = pytest.mark.slow

BATCH = timedelta(hours=1, minutes=1)


DELIVERED = "SELECT count(delivered_at) FROM cases"
IN_LINE = "SELECT count(*) FROM batch_requests WHERE response IS NULL"


async def go_on(played: Weeks, query: str, number: int) -> None:
    """Advances the clock minute by minute until a query finds this number."""
    async with asyncio.timeout(ONLY_A_HANG_S):
        while played.rows(query) != [(number,)]:
            played.pass_on(played.now() + timedelta(minutes=1))
            await played.beat()


async def test_each_reply_is_scored_once_despite_kill_9_at_each_step(tmp_path: Path) -> None:
    async with (
        BatchServer() as model,
        weeks(model, tmp_path, WATCH_BY_BATCH="true", JUDGE_BATCH_HURRY="0.02") as played,
    ):
        model.script(worth)
        ann = played.slack.person("ann")
        ann.command(CHANNEL, "/judge", "watch @helper all alert off")
        await played.slack.until(lambda: ann.ephemerals(CHANNEL))
        for number, point in enumerate(BATCHES, start=1):
            await played.kill()
            played.doom = (str(point),)
            await played.start()
            await go_on(played, DELIVERED, number - 1)
            await played.ask_and_answer(played.now(), 4)
            await go_on(played, IN_LINE, 1)
            assert played.process
            played.process.send_signal(signal.SIGUSR1)
            played.pass_on(played.now() + BATCH)
            async with asyncio.timeout(ONLY_A_HANG_S):
                while played.process.returncode is None:
                    await played.beat()
            assert played.process.returncode == -signal.SIGKILL, f"{point}: {played.said()}"
        await played.start()
        await go_on(played, DELIVERED, len(BATCHES))
        assert played.rows("SELECT count(*), count(DISTINCT message_ts), sum(score = 4) FROM cases") == [
            (len(BATCHES),) * 3
        ]
    assert (len(model.requests), len(model.batches), model.direct) == (len(BATCHES), len(BATCHES), 0)


REPLIES, ASKED = 6, 4
ENOUGH = 8  # a batch has ended after this many looks at it


async def sql(url: str, statement: str) -> list[tuple[Any, ...]]:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        done = await connection.execute(text(statement))
        rows = [tuple(row) for row in done] if done.returns_rows else []
    await engine.dispose()
    return rows


async def comes_to(url: str, query: str, number: int) -> None:
    """Returns once a query finds this number."""
    async with asyncio.timeout(ONLY_A_HANG_S):
        while await sql(url, query) != [(number,)]:  # noqa: ASYNC110 - other processes write it
            await asyncio.sleep(0.05)


async def two_start(scene: Scene, name: str) -> list[Forked]:
    """Starts two workers at the same time."""
    workers = await scene.start(f"{name}-1", f"{name}-2")
    await scene.stage.slack.connected(2, timeout_s=ONLY_A_HANG_S)
    return workers


async def stop(scene: Scene, url: str, workers: list[Forked], passes: str) -> None:
    """Stops the workers and lets time pass, so that all periodic jobs are due."""
    for each in workers:
        each.terminate()
    assert [await asyncio.wait_for(each.wait(), ONLY_A_HANG_S) for each in workers] == [0, 0]
    await scene.stage.slack.until(lambda: not scene.stage.slack.sockets.open, ONLY_A_HANG_S)
    await sql(url, passes)
    await sql(url, "UPDATE pgqueuer_schedules SET next_run = now()")


async def test_two_workers_on_one_database_send_score_and_pay_each_reply_once(
    postgres_url: str, tmp_path: Path
) -> None:
    url, settings = postgres_url, {"WATCH_BY": "events", "WATCH_BY_BATCH": "true"}
    async with BatchServer() as model, new_scene(model, url, tmp_path, [MESSAGE_EVENTS], **settings) as scene:
        stage = scene.stage
        workers = await two_start(scene, "see")
        stage.ann.command(CHANNEL, "/judge", "watch @helper all alert off")
        await stage.told(stage.ann)
        for number in range(REPLIES):
            stage.ask_and_answer(f"Question {number}?", f"Answer {number}.")
        await comes_to(url, "SELECT count(*) FROM replies", REPLIES)
        await stop(scene, url, workers, "UPDATE replies SET rests_at = rests_at - interval '1 hour'")

        workers = await two_start(scene, "take")  # both look for replies that no longer change
        await comes_to(url, "SELECT count(*) FROM batch_requests", REPLIES)
        await stop(scene, url, workers, "UPDATE batch_requests SET created_at = created_at - interval '1 hour'")

        model.gate = asyncio.Event()
        workers = await two_start(scene, "send")
        await model.held()
        await ask(stage, ASKED)
        await workers_are(url, [2, 2])  # while one sends the batch, both score other cases
        scene.gate.set()
        model.script(GOOD)
        model.gate.set()
        await comes_to(url, "SELECT count(*) FROM batches WHERE batch_id IS NOT NULL", 1)
        for _ in range(ENOUGH):
            model.advance(*model.batches)
        await stop(scene, url, workers, "SELECT 1")

        await two_start(scene, "collect")
        await all_are_delivered(url)
        found = await sql(url, "SELECT count(*), count(DISTINCT message_ts), min(score), max(score) FROM cases")
        assert found == [(REPLIES + ASKED, REPLIES + ASKED, 4, 4)]
        assert await sql(url, "SELECT count(*) FROM ratings") == [(REPLIES + ASKED,)]
        assert (len(model.sizes), len(model.batches)) == (1, 1)
        assert (len(model.requests), model.direct) == (REPLIES + ASKED, ASKED)
