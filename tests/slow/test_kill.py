"""A real process is killed at every critical point and started again; no case is lost and nothing
happens twice.

A test run takes each point once. `make chaos` takes each ten times, in an order drawn from
CHAOS_SEED.
"""

import asyncio
import os
import random
import signal
import sqlite3
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import pytest

from pocket_slack import Message
from tests.forked import Forked, forked
from tests.model_server import Held, ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment, pocket_slack
from tests.slow.points import POINTS, SLOW, TEXTS, Point
from tests.stage import ANSWER, CHANNEL, GOOD, QUESTION, Stage, is_verdict

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("CHAOS_ROUNDS", "1"))
SEED = int(os.environ.get("CHAOS_SEED", "1"))
NO_LIMITS = {"MAX_CASES_PER_USER_PER_HOUR": "0", "MAX_CASES_PER_DAY": "0"}


def doomed(point: Point, env: dict[str, str]) -> AbstractAsyncContextManager[Forked]:
    """The bot in a separate process, which is killed on exit if it still runs."""
    return forked("tests.slow.doomed", str(point), env=env, output=Path(env["ERRORS"]))


def ask(stage: Stage, point: Point, number: int) -> None:
    """Asks for a score in the way that the point names."""
    if point.request != TEXTS:
        _, answer = stage.ask_and_answer(f"{QUESTION} ({number})", f"{ANSWER} ({number})")
        stage.ann.shortcut("score_reply", answer)
    else:
        stage.ann.command(CHANNEL, "/judge", f"{QUESTION} ({number}) | {ANSWER} ({number})")


async def settled(path: Path, count: int) -> None:
    """Returns once the store holds `count` cases, all delivered."""
    query = "SELECT count(*), count(delivered_at) FROM cases"
    with closing(sqlite3.connect(path)) as log:
        async with asyncio.timeout(ONLY_A_HANG_S):
            while log.execute(query).fetchone() != (count, count):  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.02)


def verdicts(stage: Stage) -> list[Message]:
    return [message for message in stage.ours() if is_verdict(message)]


async def test_kill_9_loses_no_case_and_doubles_no_verdict(
    model_server: ModelServer, tmp_path: Path
) -> None:
    points = POINTS * ROUNDS
    random.Random(SEED).shuffle(points)
    print(f"{len(points)} kills, CHAOS_SEED={SEED}")
    model_server.script(GOOD)
    async with pocket_slack() as slack:
        env = (
            environment(slack, model_server, tmp_path)
            | NO_LIMITS
            | {"ERRORS": str(tmp_path / "errors.txt")}
        )
        stage = Stage.beside(slack, model_server)
        for number, point in enumerate(points):
            async with doomed(point, env) as process:
                # The process first settles what the one before it has left.
                await slack.connected(timeout_s=ONLY_A_HANG_S)
                await settled(tmp_path / "log.db", number)
                process.send_signal(signal.SIGUSR1)
                gate = asyncio.Event()
                model_server.script(Held(gate, GOOD) if point.request == SLOW else GOOD)
                ask(stage, point, number)
                if point.step == "chat_update":
                    await slack.until(
                        lambda: stage.ours() and stage.ours()[-1].text.startswith("Scoring"),
                        ONLY_A_HANG_S,
                    )
                    gate.set()
                code = await asyncio.wait_for(process.wait(), ONLY_A_HANG_S)
                assert code == -signal.SIGKILL, (
                    f"{point}: {(tmp_path / 'errors.txt').read_text()[-3000:]}"
                )
            gate.set()
            await slack.until(lambda: not slack.sockets.open, ONLY_A_HANG_S)
        async with doomed(Point("ack", "before", 10**6), env):
            await settled(tmp_path / "log.db", len(points))

        texts = sum(point.request == TEXTS for point in points)
        assert len(verdicts(stage)) == len(points)
        assert (
            len(stage.ours()) == len(points) + texts
        )  # each case has one verdict, and one message with the texts if they were typed
    with closing(sqlite3.connect(tmp_path / "log.db")) as log:
        assert (
            log.execute("SELECT count(*), count(DISTINCT reply_ts) FROM cases").fetchone()
            == (len(points),) * 2
        )
        assert log.execute("SELECT count(*) FROM ratings").fetchone() == (len(points),)
        assert log.execute("PRAGMA integrity_check").fetchone() == ("ok",)
