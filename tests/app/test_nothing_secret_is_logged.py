"""A whole run through working and failing paths, in a process: its output holds no secret and no
judged text.
"""

import asyncio
import signal
from pathlib import Path

import pytest

from bot.slack import ids
from pocket_slack import Sandbox
from tests.model_server import Failure, ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.postgres import Cluster
from tests.programs import environment, pocket_slack, start
from tests.stage import CHANNEL, GOOD, PASSWORD, Stage

pytestmark = pytest.mark.slow

KEY = "sk-the-models-key"
SIGNING = "the-signing-secret"
QUESTION = "Where is Waldo?"
RESPONSE = "Behind the sofa."
JUSTIFICATION = GOOD.splitlines()[1]


def secrets(slack: Sandbox) -> list[str]:
    password = ["Tr0ub4dor", "r%e", PASSWORD]
    return [
        slack.bot_token,
        slack.app_token,
        KEY,
        SIGNING,
        *password,
        "Waldo",
        "sofa",
        JUSTIFICATION,
    ]


async def test_no_secret_and_no_text_is_in_the_log_of_a_whole_run(
    model_server: ModelServer, database_server: Cluster, database_name: str, tmp_path: Path
) -> None:
    async with pocket_slack() as slack:
        stage = Stage.beside(slack, model_server)
        env = environment(slack, model_server, tmp_path) | {
            "OPENAI_API_KEY": KEY,
            "SLACK_SIGNING_SECRET": SIGNING,
            "DATABASE_URL": f"postgresql://ann:{PASSWORD}@127.0.0.1:{database_server.port}/{database_name}",
        }
        process = await start("serve", env, tmp_path)
        said = b""

        async def hears(event: bytes) -> None:
            nonlocal said
            async with asyncio.timeout(ONLY_A_HANG_S):
                said += await process.stderr.readuntil(event)

        await slack.connected()
        await hears(b"queue_opened")
        model_server.script(GOOD)
        ask(stage, 1)
        await hears(b"case_settled")
        quoting = Failure(401, message=f"Incorrect API key {KEY} for {QUESTION} {RESPONSE}")
        model_server.script(quoting, GOOD)
        ask(stage, 2)
        await hears(b"judge_failed")
        await hears(b"case_settled")
        slack.fail("chat.postMessage", drop=True)
        ask(stage, 3)
        await hears(b"case_interrupted")
        window = {
            "id": "V1",
            "type": "modal",
            "callback_id": ids.VIEW_TEXTS,
            "private_metadata": RESPONSE,
        }
        user = {"id": stage.ann.id, "name": RESPONSE, "team_id": slack.workspace.team_id}
        payload = {
            "type": "view_submission",
            "team": slack.workspace.team(),
            "user": user,
            "view": window,
        }
        slack.workspace.deliveries.send("interactive", payload)
        await hears(b"listener_failed")
        database_server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ann'"
        )
        await hears(b"queue_interrupted")
        process.send_signal(signal.SIGTERM)
        out, rest = await process.communicate()
        heard = (out + said + rest).decode()
    assert [secret for secret in secrets(slack) if secret in heard] == []


def ask(stage: Stage, number: int) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND, f"{QUESTION} {number} | {RESPONSE} {number}")
