"""How the bot holds up, as a real process: `python -m bench.bot [DATABASE_URL]` (a new SQLite file without).

It runs against a pocket Slack in this process, without Slack's rate limits, and the stub model server without latency:

- steady: 50 commands a second for 20 s, each a case with two typed texts;
- rush: 1,000 shortcuts within 10 s.

Acks are measured from the envelope's sending to its ack; the overhead of a verdict from the envelope to the verdict's
last call, model and Slack included, which take next to nothing here. CPU and memory are the bot's alone.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import quantiles

from bench.judging import stub_server
from bot.manifest import load_manifest
from sandbox import Limits, Person, Sandbox, Workspace
from sandbox.deliveries import Delivery

RATE = 50
SECONDS = 20
RUSH, RUSH_RATE = 1_000, 100
CHANNELS = 20

JUDGE_BOT = Path(sys.executable).parent / "judge-bot"


class Load:
    """A pocket Slack with a running bot, and what is asked of it."""

    def __init__(self, slack: Sandbox, process: asyncio.subprocess.Process) -> None:
        self.slack = slack
        self.pid = process.pid
        self.ann: Person = slack.person("ann")
        self.helper: Person = slack.person("helper")
        self.sent: list[Delivery] = []
        self.began: dict[str, float] = {}
        self.ended: dict[str, float] = {}
        slack.workspace.journal.watch(self._note)

    def _note(self, entry: object) -> None:
        data = getattr(entry, "data", {})
        if data.get("method") == "chat.update" and data.get("status") == 200:
            self.ended[data["args"]["channel"] + data["args"]["ts"]] = time.perf_counter()

    def command(self, number: int) -> None:
        self.sent.append(self.ann.command(f"c{number % CHANNELS}", "/judge", f"Why {number}? | Because of {number}."))

    def shortcut(self, number: int) -> None:
        channel = f"c{number % CHANNELS}"
        question = self.ann.post(channel, f"Why is number {number} odd?")
        answer = self.helper.post(channel, f"Because {number} is not even.", thread_ts=question.ts)
        self.sent.append(self.ann.shortcut("score_reply", answer))

    async def run(self, name: str, ask: Callable[[int], None], count: int, pause_s: float) -> None:
        """Asks `count` times, waits for all verdicts, and prints the figures."""
        self.sent, self.ended = [], {}
        cpu_s, began = self._cpu_s(), time.perf_counter()
        for number in range(count):
            ask(number)
            await asyncio.sleep(max(0.0, began + (number + 1) * pause_s - time.perf_counter()))
        await self.slack.until(lambda: len(self.ended) >= count, 600)
        took_s = time.perf_counter() - began
        acks = [delivery.acked_ms or 3000.0 for delivery in self.sent]
        cuts = quantiles(acks, n=100)
        print(
            f"{name:<8}{count:>6} cases in {took_s:5.1f} s: ack p50 {cuts[49]:5.0f} ms, p99 {cuts[98]:5.0f} ms, "
            f"most {max(acks):5.0f} ms; {(self._cpu_s() - cpu_s) / count * 1000:4.1f} ms CPU a case; "
            f"{self._rss_mib():.0f} MiB"
        )

    def _cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _rss_mib(self) -> float:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20


@asynccontextmanager
async def running(database_url: str, model_url: str, folder: str) -> AsyncIterator[Load]:
    """The bot as a process of its own, connected."""
    workspace = Workspace(load_manifest(), limits=Limits.off())
    members = [workspace.add_user("ann"), workspace.add_bot("helper"), workspace.bot]
    for number in range(CHANNELS):
        workspace.add_channel(f"c{number}", members)
    async with Sandbox(workspace) as slack:
        env = os.environ | {
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "SLACK_API_URL": slack.api_url,
            "OPENAI_BASE_URL": model_url,
            "DATABASE_URL": database_url,
            "JUDGE_SAMPLES": "1",
        }
        with Path(folder, "bot.log").open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                str(JUDGE_BOT), "serve", env=env, cwd=folder, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            await slack.connected(timeout_s=30)
            yield Load(slack, process)
        finally:
            process.terminate()
            await process.wait()


async def main(database_url: str | None) -> None:
    """Runs both loads and prints a line for each."""
    with tempfile.TemporaryDirectory() as folder, stub_server(0) as model_url:
        url = database_url or f"sqlite+aiosqlite:///{folder}/log.db"
        print(f"{url.partition(':')[0]}, {CHANNELS} channels")
        async with running(url, model_url, folder) as load:
            await load.run("warm-up", load.command, RATE, 1 / RATE)
            await load.run("steady", load.command, RATE * SECONDS, 1 / RATE)
            await load.run("rush", load.shortcut, RUSH, 1 / RUSH_RATE)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
