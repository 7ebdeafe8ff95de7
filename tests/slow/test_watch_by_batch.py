"""Watched replies in batches, by a real process that is killed at each step: each scored once, nothing paid twice."""

import asyncio
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from tests.batch_server import BatchServer
from tests.patience import ONLY_A_HANG_S
from tests.slow.points import BATCHES
from tests.slow.test_weeks import Weeks, weeks, worth
from tests.stage import CHANNEL

pytestmark = pytest.mark.slow

BATCH = timedelta(hours=1, minutes=1)


DELIVERED = "SELECT count(delivered_at) FROM cases"
IN_LINE = "SELECT count(*) FROM batch_requests WHERE response IS NULL"


async def go_on(played: Weeks, query: str, number: int) -> None:
    """Lets minute after minute pass until a query finds this number."""
    async with asyncio.timeout(ONLY_A_HANG_S):
        while played.rows(query) != [(number,)]:
            played.pass_on(played.now() + timedelta(minutes=1))
            await played.beat()


async def test_each_reply_is_scored_once_by_kill_9_at_each_step(tmp_path: Path) -> None:
    async with BatchServer() as model, weeks(model, tmp_path, WATCH_BY_BATCH="true") as played:
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
