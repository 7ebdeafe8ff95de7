"""Several processes on one PostgreSQL: killed, frozen, stopped, started later.

Nothing is lost, nothing twice.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.replicas import (
    Scene,
    all_are_delivered,
    ask,
    jobs,
    new_scene,
    processes_hold,
    verdicts,
)

pytestmark = pytest.mark.slow

TAKEOVER_S = 30


@pytest.fixture
async def scene(
    model_server: ModelServer, postgres_url: str, tmp_path: Path
) -> AsyncIterator[Scene]:
    async with new_scene(model_server, postgres_url, tmp_path) as made:
        yield made


async def test_each_case_is_settled_once_whatever_becomes_of_the_replicas(
    scene: Scene, postgres_url: str, tmp_path: Path
) -> None:
    stage = scene.stage
    slack = scene.stage.slack
    killed, frozen, stopped = await scene.start("killed", "frozen", "stopped")
    await slack.connected(3, timeout_s=ONLY_A_HANG_S)
    await ask(stage, 6)
    await processes_hold(postgres_url, [2, 2, 2])
    await slack.until(lambda: len(stage.ours()) == 6)  # a placeholder each

    killed.kill()
    frozen.send_signal(signal.SIGSTOP)
    scene.gate.set()
    await slack.until(
        lambda: verdicts(stage) == 6, timeout_s=TAKEOVER_S
    )  # the survivor's own, and the others'
    frozen.send_signal(signal.SIGCONT)  # an answer of the model is waiting for it

    scene.gate.clear()
    await ask(stage, 4)
    await processes_hold(postgres_url, [2, 2])
    stopped.send_signal(signal.SIGTERM)
    scene.gate.set()
    assert await asyncio.wait_for(stopped.wait(), ONLY_A_HANG_S) == 0
    await slack.until(lambda: verdicts(stage) == 10, timeout_s=ONLY_A_HANG_S)

    frozen.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(frozen.wait(), 40) == 0
    assert len(stage.ours()) == 10
    assert "case_left_to_another" in (tmp_path / "frozen.txt").read_text()
    await all_are_delivered(postgres_url)


async def test_what_a_process_leaves_is_back_in_the_queue_when_it_has_gone(
    scene: Scene, postgres_url: str, tmp_path: Path
) -> None:
    stage = scene.stage
    slack = scene.stage.slack
    leaves, _ = await scene.start("leaves", "stays")
    await slack.connected(2, timeout_s=ONLY_A_HANG_S)
    await ask(stage, 4)
    await processes_hold(postgres_url, [2, 2])
    leaves.send_signal(signal.SIGTERM)
    await slack.until(lambda: len(slack.sockets.open) == 1)
    leaves.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(leaves.wait(), ONLY_A_HANG_S) == 0
    assert await jobs(postgres_url) == {"picked": 2, "queued": 2}
    scene.gate.set()
    await slack.until(lambda: verdicts(stage) == 4, timeout_s=ONLY_A_HANG_S)
    assert len(stage.ours()) == 4
    await all_are_delivered(postgres_url)
