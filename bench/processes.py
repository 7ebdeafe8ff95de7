"""What several processes do, and what a case costs PostgreSQL: `python -m bench.processes`.

1, 2 or 4 processes run on a PostgreSQL made for the benchmark, with default settings. Cases are
commands with two typed texts, in 20 channels; enough are in progress that no process waits for
work. The model is a stub. Without latency, the processors are the limit; with a second of latency,
like real models, JUDGE_CONCURRENCY (8) is the limit. The pocket Slack runs in this process. Its
share of a processor is printed, because it may limit the rest.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from bench.bot import CHANNELS, COMMANDS, Load
from bench.judging import stub_server
from bot.slack.manifest import load_manifest
from pocket_slack import Limits, Sandbox, Workspace
from tests.postgres import Cluster, cluster, find_binaries, new_database

PROCESSES = (1, 2, 4)
UNDER_WAY = 64
WARM_UP = 50
CASES_AT_ONCE = 2_000
CASES_A_PROCESS = 200  # if the model takes a second
STATISTICS_S = 2.0  # until PostgreSQL has the statistics of all its processes

COUNTS = (
    "SELECT xact_commit, tup_inserted, tup_updated, tup_deleted, pg_current_wal_lsn() - "
    "'0/0'::pg_lsn AS wal FROM pg_stat_database WHERE datname = current_database()"
)


@dataclass(frozen=True)
class Bench:
    """The things to measure: the pocket Slack with its load, the bot's processes, and the
    PostgreSQL server.
    """

    load: Load
    bots: Sequence[int]
    server: Cluster
    database_url: str

    async def counts(self) -> dict[str, float]:
        """All counters, from the start: PostgreSQL's work, and processor time in ms."""
        await asyncio.sleep(STATISTICS_S)
        engine = create_async_engine(self.database_url)
        async with engine.connect() as connection:
            row = (await connection.execute(text(COUNTS))).one()
        await engine.dispose()
        own = {
            "postgres": sum(cpu_ms(pid) for pid in self.server.pids()),
            "bots": sum(map(cpu_ms, self.bots)),
        }
        return (
            {name: float(value) for name, value in row._mapping.items()}
            | own
            | {"slack": cpu_ms(os.getpid())}
        )

    async def run(self, count: int, under_way: int) -> None:
        """Asks `count` times, each time as soon as fewer than `under_way` wait, then waits for what
        was not refused.
        """
        load = self.load
        begun = self.load.done
        for number in range(begun, begun + count):
            await load.slack.until(lambda: number - load.done < under_way, 60)  # noqa: B023 - awaited before `number` changes
            load.began_s[str(number)] = time.perf_counter()
            load.command(number)
        await load.slack.until(lambda: load.done >= begun + count, 600)


def cpu_ms(pid: int) -> float:
    """Processor time of a process and of its children that have ended; 0 if it has just ended
    itself.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:  # a process of PostgreSQL's that was needed for a moment
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") * 1000


async def measure(
    server: Cluster, database_url: str, model_url: str, bots: int, count: int
) -> Mapping[str, float]:
    """The cases per second, and what each case costs."""
    workspace = Workspace(load_manifest(), limits=Limits.off())
    members = [workspace.add_user("ann"), workspace.add_bot("helper"), workspace.bot]
    for number in range(CHANNELS):
        workspace.add_channel(f"c{number}", members)
    async with Sandbox(workspace) as slack, AsyncExitStack() as stack:
        settings = {
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "SLACK_API_URL": slack.api_url,
            "OPENAI_BASE_URL": model_url,
            "DATABASE_URL": database_url,
            "JUDGE_SAMPLES": "1",
            "MAX_CASES_PER_USER_PER_HOUR": "0",
            "MAX_CASES_PER_DAY": "0",
        }
        log = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        processes = []
        for _ in range(bots):
            process = await asyncio.create_subprocess_exec(
                *COMMANDS["bot"], env=os.environ | settings, stdout=log, stderr=log
            )
            stack.push_async_callback(process.wait)
            stack.callback(process.terminate)
            processes.append(process)
        await slack.connected(bots, timeout_s=120)
        bench = Bench(
            Load(slack, processes[0]), [process.pid for process in processes], server, database_url
        )
        await bench.run(WARM_UP, UNDER_WAY)
        before = await bench.counts()
        shown = len(bench.load.shown)
        began = time.perf_counter()
        await bench.run(count, UNDER_WAY)
        took_s = time.perf_counter() - began
        after = await bench.counts()
        count = len(bench.load.shown) - shown
    spent = {name: (after[name] - before[name]) / count for name in after}
    return {"rate": count / took_s, **spent, "share": spent["slack"] * count / took_s / 10}


async def main() -> None:
    """Prints a line for each model and number of processes."""
    binaries = find_binaries()
    if binaries is None:
        sys.exit("PostgreSQL is not installed")
    heads = (
        "cases/s",
        "commits",
        "rows in",
        "changed",
        "deleted",
        "WAL KiB",
        "PG ms",
        "bots ms",
        "Slack %",
    )
    print(
        f"per case, CPU in ms; {UNDER_WAY} under way\n{'model':>6}{'processes':>10}"
        + "".join(f"{h:>9}" for h in heads)
    )
    for latency_s in (0, 1):
        for number in PROCESSES:
            with cluster(binaries) as server, stub_server(latency_s) as model_url:
                url = new_database(server.server)
                count = CASES_A_PROCESS * number if latency_s else CASES_AT_ONCE
                found = await measure(server, url, model_url, number, count)
            names = (
                "rate",
                "xact_commit",
                "tup_inserted",
                "tup_updated",
                "tup_deleted",
                "wal",
                "postgres",
                "bots",
            )
            cells = [found[name] / (1024 if name == "wal" else 1) for name in names] + [
                found["share"]
            ]
            print(
                f"{latency_s:>5}s{number:>10}" + "".join(f"{cell:>9.1f}" for cell in cells),
                flush=True,
            )


if __name__ == "__main__":
    asyncio.run(main())
