"""Our programs as a shell starts them: in the test's process, or in their own."""

import asyncio
import os
import pwd
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.slack.manifest import load_manifest
from bot.store import Store
from pocket_slack import Limits, Sandbox, Workspace
from tests import bot_command
from tests.forked import forked
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S, UNHURRIED
from tests.stage import CHANNEL

JUDGE_BOT = Path(sys.executable).parent / "judge-bot"


OPERATOR = f"os:{pwd.getpwuid(os.getuid()).pw_name}"


@asynccontextmanager
async def pocket_slack(
    limits: Limits = UNHURRIED, parts: Sequence[str] = (), *, validates: bool = False
) -> AsyncIterator[Sandbox]:
    """A Slack that by default has no `blocks.validate`, so that doctor asks it once and not for
    each of 200 screens.
    """
    workspace = Workspace(load_manifest(parts=parts), limits=limits)
    people = [workspace.add_user("ann"), workspace.add_user("ben"), workspace.add_bot("helper")]
    workspace.add_channel(CHANNEL, [*people, workspace.bot])
    async with Sandbox(workspace) as slack:
        if not validates:
            slack.fail("blocks.validate", error="unknown_method", times=100)
        yield slack


def environment(slack: Sandbox, model: ModelServer, folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "SLACK_API_URL": slack.api_url,
        "OPENAI_BASE_URL": model.base_url,
        "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/log.db",
        "JUDGE_SAMPLES": "1",
        "LOG_FORMAT": "json",
        # Given these, Bolt would turn OAuth on and refuse every payload.
        "SLACK_CLIENT_ID": "1.2",
        "SLACK_CLIENT_SECRET": "unused",
    }


async def start(
    command: str, env: dict[str, str], folder: Path, *options: str, stdin: int | None = None
) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        str(JUDGE_BOT),
        command,
        *options,
        env=env,
        cwd=folder,
        stdin=stdin,
        stdout=pipe,
        stderr=pipe,
    )


async def run(
    command: str, env: dict[str, str], folder: Path, *options: str
) -> tuple[int, str, str]:
    """A command's result. It runs in the test's process, unless it serves until a signal comes."""
    if command not in {"serve", "demo"}:
        return await bot_command.run("judge-bot", (command, *options), env, folder)
    return await run_process(command, env, folder, *options)


async def run_process(
    command: str, env: dict[str, str], folder: Path, *options: str
) -> tuple[int, str, str]:
    """A command's result, run in its own process."""
    with TemporaryDirectory() as said:
        out, err = Path(said, "out"), Path(said, "err")
        async with forked(
            "tests.forked", command, *options, env=env, output=out, errors=err, folder=folder
        ) as process:
            code = await asyncio.wait_for(process.wait(), ONLY_A_HANG_S)
        return code, out.read_text(), err.read_text()  # noqa: ASYNC240 - it has ended


async def command(
    name: str, database_url: str, folder: Path, *options: str
) -> tuple[int, str, str]:
    """A command's result, run by a user whose environment names another user."""
    env = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": database_url,
        "USER": "nobody",
        "LOGNAME": "nobody",
    }
    return await run(name, env, folder, *options)


async def with_log(database_url: str, work: Callable[[Store], Awaitable[object]]) -> None:
    log = await Store.open(database_url)
    await work(log)
    await log.close()
