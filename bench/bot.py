"""How the bot holds up, as a real process: `python -m bench.bot [DATABASE_URL]` (a new SQLite file without).

The bot and a bare Bolt app without a log (`bench.bare_bolt`) take turns. Each runs
against a pocket Slack in this process, without Slack's rate limits, and the stub model server without latency:

- steady: 50 commands a second for 20 s, each a case with two typed texts;
- rush: 1,000 shortcuts within 10 s.

Acks are measured from the envelope's sending to its ack, verdicts to the call that shows them; model and Slack, which
take next to nothing here, are included. CPU and memory are those of the one process.
"""

import asyncio
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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

ROUNDS = 2
COMMANDS = {
    "bot": (str(Path(sys.executable).parent / "judge-bot"), "serve"),
    "bare": (sys.executable, "-m", "bench.bare_bolt"),
}


class Load:
    """A pocket Slack with a running bot, and what is asked of it."""

    def __init__(self, slack: Sandbox, process: asyncio.subprocess.Process) -> None:
        self.slack = slack
        self.pid = process.pid
        self.ann: Person = slack.person("ann")
        self.helper: Person = slack.person("helper")
        self.sent: list[Delivery] = []
        self.began_s: dict[str, float] = {}
        self.verdict_ms: list[float] = []
        slack.workspace.journal.watch(self._note)

    def _note(self, entry: object) -> None:
        data = getattr(entry, "data", {})
        if data.get("method") != "chat.update" or data.get("status") != 200:
            return
        messages = self.slack.workspace.channel(data["args"]["channel"]).messages
        parent = messages[str(messages[data["args"]["ts"]].thread_ts)]
        asked = re.search(r"Why (\d+)\?", f"{parent.text} {parent.blocks}")
        assert asked is not None
        self.verdict_ms.append((time.perf_counter() - self.began_s[asked[1]]) * 1000)

    def command(self, number: int) -> None:
        self.sent.append(self.ann.command(f"c{number % CHANNELS}", "/judge", f"Why {number}? | Because of {number}."))

    def shortcut(self, number: int) -> None:
        channel = f"c{number % CHANNELS}"
        question = self.ann.post(channel, f"Why {number}? It is odd.")
        answer = self.helper.post(channel, f"Because {number} is not even.", thread_ts=question.ts)
        self.sent.append(self.ann.shortcut("score_reply", answer))

    async def run(self, name: str, ask: Callable[[int], None], count: int, pause_s: float) -> None:
        """Asks `count` times, waits for all verdicts, and prints the figures."""
        self.sent, self.verdict_ms, self.began_s = [], [], {}
        cpu_s, began = self._cpu_s(), time.perf_counter()
        for number in range(count):
            self.began_s[str(number)] = time.perf_counter()
            ask(number)
            await asyncio.sleep(max(0.0, began + (number + 1) * pause_s - time.perf_counter()))
        await self.slack.until(lambda: len(self.verdict_ms) >= count, 600)
        took_s = time.perf_counter() - began
        acks = [delivery.acked_ms or 3000.0 for delivery in self.sent]
        ack, verdict = quantiles(acks, n=100), quantiles(self.verdict_ms, n=100)
        cpu_ms = (self._cpu_s() - cpu_s) / count * 1000
        print(
            f"{name:<13}{count:>6}{count / took_s:>9.0f}{ack[49]:>9.0f}{ack[98]:>6.0f}{verdict[49]:>10.0f}"
            f"{verdict[98]:>7.0f}{cpu_ms:>9.1f}{self._rss_mib():>7.0f}"
        )

    def _cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _rss_mib(self) -> float:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20


@asynccontextmanager
async def running(command: Sequence[str], settings: Mapping[str, str], folder: str) -> AsyncIterator[Load]:
    """An app as a process of its own, connected."""
    workspace = Workspace(load_manifest(), limits=Limits.off())
    members = [workspace.add_user("ann"), workspace.add_bot("helper"), workspace.bot]
    for number in range(CHANNELS):
        workspace.add_channel(f"c{number}", members)
    async with Sandbox(workspace) as slack:
        env = os.environ | {
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "SLACK_API_URL": slack.api_url,
            "JUDGE_SAMPLES": "1",
        }
        with Path(folder, "app.log").open("wb") as log:  # noqa: ASYNC230 - a file for the process, not for us
            process = await asyncio.create_subprocess_exec(
                *command, env=env | settings, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            await slack.connected(timeout_s=30)
            yield Load(slack, process)
        finally:
            process.terminate()
            await process.wait()


async def main(database_url: str | None) -> None:
    """Runs both loads on both apps and prints a line for each."""
    with tempfile.TemporaryDirectory() as folder, stub_server(0) as model_url:
        url = database_url or f"sqlite+aiosqlite:///{folder}/log.db"
        settings = {"OPENAI_BASE_URL": model_url, "DATABASE_URL": url}
        print(f"{url.partition(':')[0]}, {CHANNELS} channels; times in ms, CPU per case, memory in MiB")
        print(
            f"{'':<13}{'cases':>6}{'cases/s':>9}{'ack p50':>9}{'p99':>6}{'verdict':>10}{'p99':>7}{'CPU':>9}{'RSS':>7}"
        )
        for _ in range(ROUNDS):
            for name, command in COMMANDS.items():
                async with running(command, settings, folder) as load:
                    await load.run(f"{name} warm-up", load.command, RATE, 1 / RATE)
                    await load.run(f"{name} steady", load.command, RATE * SECONDS, 1 / RATE)
                    await load.run(f"{name} rush", load.shortcut, RUSH, 1 / RUSH_RATE)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
