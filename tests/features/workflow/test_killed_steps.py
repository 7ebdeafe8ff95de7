"""The process is killed at every critical point of a step, and started again: see
`tests/slow/test_kill.py`.
"""

import asyncio
import signal
from pathlib import Path

import pytest

from bot.features.workflow.handlers import FUNCTION_SCORE_REPLY
from tests.features.workflow.test_workflow import WORKFLOW_STEP
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment, pocket_slack
from tests.slow.points import STEPS, Point
from tests.slow.test_kill import NO_LIMITS, ROUNDS, doomed, settled
from tests.stage import ANSWER, GOOD, QUESTION

pytestmark = pytest.mark.slow


async def test_every_workflow_step_ends_exactly_once_despite_kill_9(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    async with pocket_slack([WORKFLOW_STEP]) as slack:
        env = (
            environment(slack, model_server, tmp_path)
            | NO_LIMITS
            | {"ERRORS": str(tmp_path / "errors.txt")}
        )
        ann, executions = slack.person("ann"), slack.workspace.executions
        for number, point in enumerate(STEPS * ROUNDS):
            async with doomed(point, env) as process:
                await slack.connected(timeout_s=ONLY_A_HANG_S)
                await slack.until(lambda: not executions.running, ONLY_A_HANG_S)
                await settled(tmp_path / "log.db", number)
                process.send_signal(signal.SIGUSR1)
                texts = {"question": f"{QUESTION} ({number})", "response": ANSWER}
                ann.run_step(FUNCTION_SCORE_REPLY, {"user_id": ann.id} | texts)
                code = await asyncio.wait_for(process.wait(), ONLY_A_HANG_S)
                assert code == -signal.SIGKILL, (
                    f"{point}: {(tmp_path / 'errors.txt').read_text()[-3000:]}"
                )
            await slack.until(lambda: not slack.sockets.open, ONLY_A_HANG_S)
        async with doomed(Point("ack", "before", 10**6), env):
            await slack.until(lambda: not executions.running, ONLY_A_HANG_S)
            await settled(tmp_path / "log.db", len(STEPS * ROUNDS))
        ended = [
            entry.data
            for entry in slack.workspace.journal.of("call")
            if "functions." in entry.data["method"]
        ]
        done = [data["args"]["function_execution_id"] for data in ended if data["answer"]["ok"]]
        assert sorted(done) == sorted(executions.all)
        assert {data["method"] for data in ended} == {"functions.completeSuccess"}
        assert {each.status for each in executions.all.values()} == {"completed"}
