"""A bad day: Slack limits, fails, accepts posts without answering and drops sockets; the process is
killed at random.

Most answers of the model are slow, so that a placeholder is posted before the verdict.

The seed is CHAOS_SEED; `make chaos` plays ten times as much.
"""

import asyncio
import random
from contextlib import suppress
from pathlib import Path

import pytest

from pocket_slack import Fault, Sandbox
from pocket_slack.deliveries import Delivery
from tests.model_server import Answer, Drop, Failure, Held, ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment, pocket_slack, start
from tests.replicas import PRESSED_AGAIN_S, first, left
from tests.slow.test_kill import NO_LIMITS, ROUNDS, SEED
from tests.stage import ANSWER, GOOD, QUESTION, Stage, is_verdict

pytestmark = pytest.mark.slow

LIVES = 4
CASES_A_LIFE = 16
LONGEST_LIFE_S = 4.0
SLOW_S = 1.2
CALLS = ("chat.postMessage", "chat.postMessage", "chat.update", "conversations.replies")


LOST = (Fault(drop=True, is_applied=True), Fault(status=500, is_applied=True))
NOT_TAKEN = (
    Fault(retry_after_s=1),
    Fault(status=500),
    Fault(drop=True),
    Fault(error="internal_error"),
    Fault(delay_s=0.3),
)


def trouble(chance: random.Random) -> Fault:
    """The fault of the next call of a method; in half of the cases the call takes effect all the
    same.
    """
    return chance.choice(chance.choice((LOST, NOT_TAKEN)))


def slow() -> Answer:
    """An answer so slow that a placeholder is posted before the verdict."""
    gate = asyncio.Event()
    asyncio.get_running_loop().call_later(SLOW_S, gate.set)
    return Held(gate, GOOD)


async def live(stage: Stage, chance: random.Random, number: int) -> list[tuple[str, Delivery]]:
    """Asks for scores while faults occur; returns the timestamp of each thread with its request."""
    asked = []
    for case in range(CASES_A_LIFE):
        stage.slack.workspace.faults.add(chance.choice(CALLS), trouble(chance))
        stage.model.script(chance.choice((GOOD, *(slow() for _ in range(4)), Failure(503), Drop())))
        parent, answer = stage.ask_and_answer(
            f"{QUESTION} ({number}.{case})", f"{ANSWER} ({number}.{case})"
        )
        asked.append((parent.ts, stage.ann.shortcut("score_reply", answer)))
        if chance.random() < 0.2:
            await stage.slack.sockets.drop()
        await asyncio.sleep(chance.random() * LONGEST_LIFE_S / CASES_A_LIFE)
    stage.model.script(GOOD)
    # The process must have accepted a request before it is killed; a stalled disk makes it refuse
    # all of them.
    async with asyncio.timeout(ONLY_A_HANG_S):
        while True:
            with suppress(TimeoutError):
                await stage.slack.until(
                    lambda: any(request.is_acked for _, request in asked), PRESSED_AGAIN_S
                )
                return asked
            asked.append((parent.ts, stage.ann.shortcut("score_reply", answer)))


async def calm(slack: Sandbox, url: str) -> None:
    """Clears the faults, and returns once every case is delivered."""
    slack.workspace.faults.clear()
    async with asyncio.timeout(4 * ONLY_A_HANG_S):
        while await left(url):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)


async def test_faults_and_kills_lose_no_case_and_double_no_verdict(
    model_server: ModelServer, tmp_path: Path, database_url: str
) -> None:
    chance = random.Random(SEED)
    print(f"storm, CHAOS_SEED={SEED}")
    asked: list[tuple[str, Delivery]] = []
    async with pocket_slack() as slack:
        stage = Stage.beside(slack, model_server)
        env = (
            environment(slack, model_server, tmp_path) | NO_LIMITS | {"DATABASE_URL": database_url}
        )
        for number in range(LIVES * ROUNDS):
            process = await start("serve", env, tmp_path)
            reading = asyncio.create_task(process.communicate())
            await slack.connected(timeout_s=ONLY_A_HANG_S)
            asked += await live(stage, chance, number)
            process.kill()
            await reading
            await slack.until(lambda: not slack.sockets.open, ONLY_A_HANG_S)
        process = await start("serve", env, tmp_path)
        reading = asyncio.create_task(process.communicate())
        await slack.connected(timeout_s=ONLY_A_HANG_S)
        await calm(slack, database_url)
        process.terminate()
        await reading
        threads = {ts: [m for m in stage.ours() if m.thread_ts == ts] for ts, _ in asked}
    accepted = [ts for ts, request in asked if request.acked_ms is not None]
    assert len(accepted) >= LIVES * ROUNDS
    assert [ts for ts in accepted if len(threads[ts]) != 1 or not is_verdict(threads[ts][0])] == []
    assert [ts for ts, ours in threads.items() if len(ours) > 1] == []
    assert await first(database_url, "SELECT count(*) - count(DISTINCT message_ts) FROM cases") == 0
    if database_url.startswith("sqlite"):
        assert await first(database_url, "PRAGMA integrity_check") == "ok"
