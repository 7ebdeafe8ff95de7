"""What strangers at the HTTP port cost: `python -m bench.strangers [FILES]`, the most files that the bot may have open.

The bot is a real process in HTTP mode. The attacks come from a process of their own, one after the other; beside
each, signed `/judge help` commands come from a third, a new connection for each, one after the other. Printed are the
bot's memory before and at its highest, the most open files, how far its log lines grew, the commands that were answered
within 3 s, how long they took, and what `judge-bot health` said in the middle of it.
"""

import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from slack_sdk.signature import SignatureVerifier

from bench.judging import stub_server
from bot.slack.manifest import load_manifest
from pocket_slack import Limits, Sandbox, Workspace

SECRET = "a signing secret"  # noqa: S105 - of this benchmark alone
JUDGE_BOT = str(Path(sys.executable).parent / "judge-bot")
SECONDS = 10
SLACKS_PATIENCE_S = 3
FORGED = {"X-Slack-Signature": f"v0={'ab' * 32}"}
HALF = b"POST /slack/events HTTP/1.1\r\nHost: x\r\nX-Half: "


def post(size: int, headers: dict[str, str] | None = None, stamp: str | None = None) -> bytes:
    """The head of a request for Slack's path; `stamp` is when it is said to be signed, now by default."""
    given = {"X-Slack-Request-Timestamp": stamp or str(int(time.time()))} | headers if headers else {}
    given |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(size)}
    lines = ["POST /slack/events HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in given.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def hold(port: int, sent: Callable[[], bytes]) -> None:
    """Sends this, and waits until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent())
    await writer.drain()
    await reader.read()
    writer.close()


async def repeat(once: Callable[[], Awaitable[None]]) -> None:
    while True:
        with suppress(OSError):
            await once()


@dataclass(frozen=True)
class Attack:
    """So many clients at once; each sends something and holds on, or, if `again`, begins anew when it is cut off."""

    name: str
    clients: int
    sent: Callable[[], bytes]
    again: bool = False


ATTACKS = [
    Attack("nobody", 0, lambda: b""),
    Attack("200 unsigned bodies, just short of 4 MB", 200, lambda: post(2**22) + bytes(2**22 - 1)),
    Attack("200 unsigned bodies, just short of 1 MB", 200, lambda: post(2**20) + bytes(2**20 - 1)),
    Attack("200 bodies just short of 1 MB, forged signature", 200, lambda: post(2**20, FORGED) + bytes(2**20 - 1)),
    Attack("20 clients with whole bodies of 1 MB, forged", 20, lambda: post(2**20, FORGED) + bytes(2**20), again=True),
    Attack("300 half-sent headers", 300, lambda: HALF),
    Attack("100 clients with half-sent headers, again and again", 100, lambda: HALF, again=True),
]


async def attack(number: int, port: int) -> None:
    chosen = ATTACKS[number]

    async def client() -> None:
        with suppress(OSError):
            await hold(port, chosen.sent)

    work = [repeat(client) if chosen.again else client() for _ in range(chosen.clients)]
    await asyncio.wait_for(asyncio.gather(*work), SECONDS)


async def ask(port: int, body: bytes) -> None:
    """Signed commands, one after the other; prints how many were not answered in time, and how long the others took."""
    took_ms, failed, end = list[float](), 0, time.monotonic() + SECONDS - 2
    while time.monotonic() < end:
        began, stamp = time.monotonic(), str(int(time.time()))
        signature = SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body)
        try:
            async with asyncio.timeout(SLACKS_PATIENCE_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(post(len(body), {"X-Slack-Signature": str(signature)}, stamp) + body)
                is_answered = b" 200 " in await reader.readline()
                writer.close()
        except OSError:
            is_answered = False
        took_ms += [(time.monotonic() - began) * 1000] if is_answered else []
        failed += not is_answered
        await asyncio.sleep(0.05)
    print(json.dumps([len(took_ms), failed, round(median(took_ms or [0])), round(max(took_ms, default=0))]))


class Bot:
    """The running bot, and how much it has said."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said_bytes = 0
        self.is_connected = asyncio.Event()

    async def listen(self) -> None:
        assert self.process.stderr
        async for line in self.process.stderr:
            self.said_bytes += len(line)
            if b'"connected"' in line:
                self.is_connected.set()

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


async def measure(number: int, bot: Bot, env: dict[str, str], body: bytes) -> None:
    """One attack; prints its line."""
    port, pipe = env["HTTP_PORT"], asyncio.subprocess.PIPE
    before_mb, before_bytes = bot.memory_mb(), bot.said_bytes
    me = (sys.executable, "-m", "bench.strangers")
    attacker = await asyncio.create_subprocess_exec(*me, "attack", str(number), port, stderr=asyncio.subprocess.DEVNULL)
    await asyncio.sleep(1)
    asker = await asyncio.create_subprocess_exec(*me, "ask", port, body.decode(), stdout=pipe)
    asking, most_mb, most_files, health = asyncio.ensure_future(asker.communicate()), 0.0, 0, None
    began = time.monotonic()
    while not asking.done():
        most_mb, most_files = max(most_mb, bot.memory_mb()), max(most_files, bot.files())
        if health is None and time.monotonic() - began > SECONDS / 2:
            health = await asyncio.create_subprocess_exec(JUDGE_BOT, "health", env=env, stdout=pipe)
        await asyncio.sleep(0.02)
    answered, failed, p50, longest = json.loads((await asking)[0])
    assert health
    word = (await health.communicate())[0].decode().partition(":")[0]
    await attacker.wait()
    print(
        f"{ATTACKS[number].name:52} {before_mb:5.0f} -> {most_mb:5.0f} MB, {most_files:3} files, log "
        f"{(bot.said_bytes - before_bytes) / 1000:8.1f} kB, {answered:3} answered in {p50} ms (longest {longest}), "
        f"{failed} not, health: {word}",
        flush=True,
    )


async def main(descriptors: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    workspace = Workspace(load_manifest(), limits=Limits.off())
    ann = workspace.add_user("ann")
    channel = workspace.add_channel("help-desk", [ann, workspace.bot])
    with tempfile.TemporaryDirectory() as folder, stub_server(0) as url:
        async with Sandbox(workspace) as slack:
            fields = {"command": "/judge", "text": "help", "team_id": workspace.team_id, "channel_id": channel.id}
            body = urlencode(fields | {"user_id": ann.id, "user_name": "ann", "trigger_id": "1.2.3"}).encode()
            env = {"PATH": os.environ["PATH"], "SLACK_BOT_TOKEN": slack.bot_token, "SLACK_API_URL": slack.api_url}
            env |= {"SERVE_HTTP": "true", "SLACK_SIGNING_SECRET": SECRET, "HTTP_PORT": "3999", "OPENAI_BASE_URL": url}
            env |= {"DATABASE_URL": f"sqlite+aiosqlite:///{folder}/log.db", "LOG_FORMAT": "json"}
            pipe = asyncio.subprocess.PIPE
            bot = Bot(await asyncio.create_subprocess_exec(JUDGE_BOT, "serve", env=env, stderr=pipe))
            listening = asyncio.create_task(bot.listen())
            await bot.is_connected.wait()
            for number in range(len(ATTACKS)):
                await measure(number, bot, env, body)
            bot.process.terminate()
            await listening
            await bot.process.wait()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["attack", number, port]:
            with suppress(TimeoutError):
                asyncio.run(attack(int(number), int(port)))
        case ["ask", port, body]:
            asyncio.run(ask(int(port), body.encode()))
        case given:
            asyncio.run(main(int(given[0]) if given else 1024))
