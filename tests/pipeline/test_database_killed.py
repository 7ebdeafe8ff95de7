"""PostgreSQL is killed and started again while the bot works: nothing is lost, nothing twice,
nobody has to help.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.postgres import Cluster, new_database
from tests.replicas import Scene, all_are_delivered, ask, new_scene, processes_hold, verdicts
from tests.stage import CHANNEL

pytestmark = pytest.mark.slow

BACK_S = 45
LEAVES_S = 40
LEAVES_AT_ONCE_S = 90  # a server that is frozen is given up by each query after 10 s


@pytest.fixture
def url(mortal_postgres: Cluster) -> str:
    return new_database(mortal_postgres.server)


@pytest.fixture
async def scene(model_server: ModelServer, url: str, tmp_path: Path) -> AsyncIterator[Scene]:
    async with new_scene(model_server, url, tmp_path) as made:
        yield made


async def test_what_was_accepted_is_settled_once_though_the_database_is_killed(
    scene: Scene, mortal_postgres: Cluster, url: str
) -> None:
    stage = scene.stage
    slack = scene.stage.slack
    processes = await scene.start("first", "second")
    await slack.connected(2, timeout_s=ONLY_A_HANG_S)
    await ask(stage, 6)
    await processes_hold(url, [2, 2])
    await slack.until(lambda: len(stage.ours()) == 4)  # a placeholder for each that is under way

    mortal_postgres.signal(signal.SIGKILL)
    refused = [stage.ask_and_answer(f"Asked in vain {number}?") for number in range(2)]
    vain = [stage.ann.shortcut("score_reply", answer) for _, answer in refused]
    threads = {parent.ts for parent, _ in refused}
    # In these threads: a press that `ask` repeats may have been told of elsewhere that its reply is
    # being scored.
    await slack.until(
        lambda: threads <= {told.thread_ts for told in stage.ann.ephemerals(CHANNEL)},
        timeout_s=ONLY_A_HANG_S,
    )
    assert [request.acked_ms for request in vain] == [None, None]

    mortal_postgres.start()
    scene.gate.set()  # the model's answers to those that waited are late
    await slack.until(lambda: verdicts(stage) == 6, timeout_s=BACK_S)
    await ask(stage, 4)
    await slack.until(lambda: verdicts(stage) == 10, timeout_s=BACK_S)
    await all_are_delivered(url)
    assert len(stage.ours()) == 10
    assert [process.returncode for process in processes] == [None, None]
    for process in processes:
        process.send_signal(signal.SIGTERM)
    assert [await asyncio.wait_for(process.wait(), LEAVES_S) for process in processes] == [0, 0]


@pytest.mark.parametrize("outcome", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_second_signal_ends_a_process_though_the_database_is_away(
    scene: Scene, mortal_postgres: Cluster, url: str, tmp_path: Path, outcome: signal.Signals
) -> None:
    stage = scene.stage
    slack = scene.stage.slack
    (process,) = await scene.start("only")
    await slack.connected(timeout_s=ONLY_A_HANG_S)
    await ask(stage, 3)
    await processes_hold(url, [2])
    mortal_postgres.signal(outcome)
    try:
        process.send_signal(signal.SIGTERM)
        await says(tmp_path / "only.txt", "told to stop")
        process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(process.wait(), LEAVES_AT_ONCE_S)
        assert code in {0, -signal.SIGTERM}  # the signal may come when it has left already
    finally:
        mortal_postgres.signal(signal.SIGKILL)


async def says(file: Path, event: str) -> None:
    """Returns once a process has said so in its log."""
    async with asyncio.timeout(ONLY_A_HANG_S):
        while event not in file.read_text():  # noqa: ASYNC110, ASYNC240 - another process writes it
            await asyncio.sleep(0.05)
