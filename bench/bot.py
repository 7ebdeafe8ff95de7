"""The bot under load, as a real process: `python -m bench.bot [DATABASE_URL]` (by default a new
SQLite file).

The bot and a bare Bolt app without a log (`bench.bare_bolt`) take turns. Each runs against a pocket
Slack in this process, without Slack's rate limits, and the stub model server without latency:

- steady: 50 commands a second for 20 s, each a case with two typed texts;
- rush: 1,000 shortcuts within 10 s;
- soak: 10,000 commands, 32 of them in progress at any time: the highest cases per second, and
  memory at the end.

Acks are measured from sending the envelope to its ack, verdicts from the request to the call that
shows them, including model and Slack, which take almost no time here. What the app refuses has no
verdict, and is counted. CPU and memory are those of the app's process. The last lines are the
ratios of the bot's figures to the bare app's, each the median of its rounds.
"""

import asyncio
import gc
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles

from bench.judging import stub_server
from bot.slack.manifest import load_manifest
from pocket_slack import Limits, Person, Sandbox, Workspace
from pocket_slack.deliveries import Delivery

RATE = 50
SECONDS = 20
RUSH = 1_000
RUSH_RATE = 100
SOAK = 10_000
UNDER_WAY = 32
CHANNELS = 20

Figures = tuple[float, ...]
"""Cases per second, ack p50 and p99, verdict p50 and p99, CPU, memory."""

COMMANDS = {
    "bot": (str(Path(sys.executable).parent / "judge-bot"), "serve"),
    "bare": (sys.executable, "-m", "bench.bare_bolt"),
}


class Load:
    """A pocket Slack with a running app, and the requests to it."""

    def __init__(self, slack: Sandbox, process: asyncio.subprocess.Process) -> None:
        self.slack = slack
        self.pid = process.pid
        self.ann: Person = slack.person("ann")
        self.helper: Person = slack.person("helper")
        self.sent: list[Delivery] = []
        self.began_s: dict[str, float] = {}
        self.shown: dict[str, float] = {}
        self.refused = 0
        slack.workspace.journal.watch(self._note)

    @property
    def verdict_ms(self) -> list[float]:
        """How long each verdict took."""
        return list(self.shown.values())

    @property
    def done(self) -> int:
        return len(self.shown) + self.refused

    def _note(self, entry: object) -> None:
        # A payload that is not acknowledged in time, or the words to the person whose case was not
        # taken.
        self.refused += getattr(entry, "kind", "") in ("failure", "ephemeral")
        data = getattr(entry, "data", {})
        args = data.get("args", {})
        if data.get("status") != 200 or not str(args.get("text")).startswith("Score "):
            return
        messages = self.slack.workspace.channel(args["channel"]).messages
        # If the model was slow, the verdict replaces a placeholder; otherwise it is a new message.
        parent = messages[str(args.get("thread_ts") or messages[args["ts"]].thread_ts)]
        asked = re.search(r"Why (\d+)\?", f"{parent.text} {parent.blocks}")
        assert asked is not None
        self.shown[asked[1]] = (time.perf_counter() - self.began_s[asked[1]]) * 1000

    def command(self, number: int) -> None:
        self.sent.append(
            self.ann.command(
                f"c{number % CHANNELS}", "/judge", f"Why {number}? | Because of {number}."
            )
        )

    def shortcut(self, number: int) -> None:
        channel = f"c{number % CHANNELS}"
        question = self.ann.post(channel, f"Why {number}? It is odd.")
        answer = self.helper.post(channel, f"Because {number} is not even.", thread_ts=question.ts)
        self.sent.append(self.ann.shortcut("score_reply", answer))

    async def run(self, name: str, ask: Callable[[int], None], count: int, rate: float) -> Figures:
        """Asks `count` times, `rate` times a second, waits for all verdicts, prints the figures and
        returns them.
        """
        self._begin()
        for number in range(count):
            self._ask(ask, number)
            await asyncio.sleep(max(0.0, self._began + (number + 1) / rate - time.perf_counter()))
        return await self._end(name, count)

    async def soak(
        self, name: str, ask: Callable[[int], None], count: int, under_way: int
    ) -> Figures:
        """Asks `count` times, the next one as soon as fewer than `under_way` wait for their
        verdict.
        """
        self._begin()
        for number in range(count):
            await self.slack.until(lambda: number - self.done < under_way, 60)  # noqa: B023 - awaited before `number` changes
            self._ask(ask, number)
        return await self._end(name, count)

    def _begin(self) -> None:
        # Off during the measurement: the pocket Slack's journal grows, and a full collection would
        # pause it for 80 ms.
        gc.collect()
        gc.disable()
        self.sent = []
        self.shown = {}
        self.began_s = {}
        self.refused = 0
        self._began, self._began_cpu_s = time.perf_counter(), self.cpu_s()

    def _ask(self, ask: Callable[[int], None], number: int) -> None:
        self.began_s[str(number)] = time.perf_counter()
        ask(number)

    async def _end(self, name: str, count: int) -> Figures:
        await self.slack.until(lambda: self.done >= count, 600)
        gc.enable()
        rate = len(self.shown) / (time.perf_counter() - self._began)
        cpu_ms = (self.cpu_s() - self._began_cpu_s) / len(self.shown) * 1000
        ack = quantiles([delivery.acked_ms or 3000.0 for delivery in self.sent], n=100)
        verdict = quantiles(self.verdict_ms, n=100)
        figures = (rate, ack[49], ack[98], verdict[49], verdict[98], cpu_ms, self.rss_mib())
        refused = f"  {self.refused} refused" if self.refused else ""
        print(
            f"{name:<13}{count:>6}" + "".join(f"{figure:>9.1f}" for figure in figures) + refused,
            flush=True,
        )
        return figures

    def cpu_s(self) -> float:
        """The processor time that the process has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mib(self) -> float:
        """The memory of the process."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20


@asynccontextmanager
async def running(
    command: Sequence[str], settings: Mapping[str, str], folder: str, parts: Collection[str] = ()
) -> AsyncIterator[Load]:
    """A connected app in its own process."""
    workspace = Workspace(load_manifest(parts=parts), limits=Limits.off())
    members = [workspace.add_user("ann"), workspace.add_bot("helper"), workspace.bot]
    for number in range(CHANNELS):
        workspace.add_channel(f"c{number}", members)
    async with Sandbox(workspace) as slack:
        env = os.environ | {
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "SLACK_API_URL": slack.api_url,
            "JUDGE_SAMPLES": "1",
            "MAX_CASES_PER_USER_PER_HOUR": "0",
            "MAX_CASES_PER_DAY": "0",
        }
        with Path(folder, "app.log").open("wb") as log:  # noqa: ASYNC230 - the process writes it, not this one
            process = await asyncio.create_subprocess_exec(
                *command, env=env | dict(settings), stdout=log, stderr=subprocess.STDOUT
            )
        try:
            await slack.connected(timeout_s=120)
            yield Load(slack, process)
        finally:
            process.terminate()
            await process.wait()


async def measure(load: Load, name: str, soaks: bool) -> dict[str, Figures]:
    """The figures of one app under each load."""
    print(f"{name + ' idle':<19}{load.rss_mib():>63.1f}")
    await load.run(f"{name} warm-up", load.command, RATE, RATE)
    found = {
        "steady": await load.run(f"{name} steady", load.command, RATE * SECONDS, RATE),
        "rush": await load.run(f"{name} rush", load.shortcut, RUSH, RUSH_RATE),
    }
    return (
        found | {"soak": await load.soak(f"{name} soak", load.command, SOAK, UNDER_WAY)}
        if soaks
        else found
    )


async def main(database_url: str | None) -> None:
    """Runs all loads on both apps and prints a line for each, and the ratios."""
    with tempfile.TemporaryDirectory() as folder, stub_server(0) as model_url:
        url = database_url or f"sqlite+aiosqlite:///{folder}/log.db"
        settings = {"OPENAI_BASE_URL": model_url, "DATABASE_URL": url}
        print(
            f"{url.partition(':')[0]}, {CHANNELS} channels; times in ms, CPU per case, "
            "memory in MiB"
        )
        heads = ("cases/s", "ack p50", "p99", "verdict", "p99", "CPU", "RSS")
        print(f"{'':<13}{'cases':>6}" + "".join(f"{head:>9}" for head in heads))
        rounds = defaultdict[tuple[str, str], list[Figures]](list)
        for is_last in (False, True):
            for name, command in COMMANDS.items():
                async with running(command, settings, folder) as load:
                    for kind, figures in (await measure(load, name, soaks=is_last)).items():
                        rounds[name, kind].append(figures)
        for kind in ("steady", "rush", "soak"):
            bot, bare = (
                [median(each) for each in zip(*rounds[name, kind], strict=True)]
                for name in COMMANDS
            )
            ratios = [one / other for one, other in zip(bot, bare, strict=True)]
            print(f"{kind + ' ratio':<19}" + "".join(f"{ratio:>9.2f}" for ratio in ratios))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
