"""Many workspaces: `python -m bench.scale [WORKSPACES] [CHANNELS] [CASES] [PROCESSES]`.

By default 10 workspaces of 4 channels, and 200 cases. Without PROCESSES, there is one, with a new
SQLite file; otherwise so many share a PostgreSQL made for the benchmark. All workspaces have the
same channel and user ids. The rater is offline, and the pocket Slack has Slack's own limits.

It prints what an idle workspace takes in memory, how many cases a second come in and are delivered,
and how long the digests of all channels take, all due at once, from the first to the last, with the
processor time of the bot, the pocket Slack and PostgreSQL for each, and for a minute in which
nothing happens. It fails if a case or digest is lost or comes twice.
"""

import asyncio
import logging
import os
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from cryptography.fernet import Fernet
from slack_sdk.oauth.installation_store import Installation
from sqlalchemy import insert, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bench.bot import COMMANDS
from bench.processes import cpu_ms
from bot.app import RunningBot, running_bot
from bot.settings import load_settings
from bot.slack.manifest import load_manifest
from bot.store.schema import cases, channels
from bot.store.store import Store
from pocket_slack import Message, Person, Sandbox, Workspace
from tests.cases import a_row
from tests.postgres import Cluster, cluster, find_binaries, new_database

NAMES = ("ann", "ben", "helper")
UNDER_WAY = 20


@dataclass(frozen=True)
class Bench:
    """The workspaces, and the bot's processes that serve them."""

    slack: Sandbox
    known: list[Workspace]
    bots: list[int]
    server: Cluster | None

    @property
    def replies(self) -> list[tuple[Workspace, str, Message]]:
        """What the app has posted, with the id of its channel."""
        return [
            (each, channel.id, message)
            for each in self.known
            for channel in each.channels.values()
            for message in channel.messages.values()
            if message.author is each.bot
        ]

    def cpu_ms(self) -> list[float]:
        """The processor time so far of the bot, this process with the pocket Slack, and PostgreSQL."""
        server = self.server.pids() if self.server else []
        return [sum(map(cpu_ms, pids)) for pids in (self.bots, [os.getpid()], server)]

    def costs(self, before: list[float], count: int) -> str:
        bot, slack, server = (
            (now - then) / count for now, then in zip(self.cpu_ms(), before, strict=True)
        )
        return (
            f"processor time each: bot {bot:.1f} ms, pocket Slack {slack:.1f}, PostgreSQL "
            f"{server:.1f}"
        )


def workspaces(number: int, of_channels: int) -> list[Workspace]:
    """Workspaces with the same app; their channels and people have the same ids."""
    found = list[Workspace]()
    manifest = load_manifest(parts=["many-workspaces"])
    for _ in range(number):
        made = Workspace(manifest, beside=found[0] if found else None)
        people = [made.add_user(name) for name in NAMES]
        for channel in range(of_channels):
            made.add_channel(f"c{channel}", [*people, made.bot])
        found.append(made)
    return found


async def install(bot: RunningBot, each: Workspace) -> None:
    """Stores an installation as OAuth does."""
    its: dict[str, Any] = {
        "app_id": each.app_id,
        "team_id": each.team_id,
        "team_name": each.name,
        "user_id": each.user("ann").id,
    }
    assert bot.workspaces.installations
    await bot.workspaces.installations.async_save(Installation(**its, bot_token=each.bot_token))


async def idle_kb(bot: RunningBot, number: int) -> float:
    """Memory of a workspace that is known and has nothing to do, in kB."""
    team_ids = list(await bot.workspaces.team_ids())
    await bot.workspaces.work_of(team_ids[0])
    tracemalloc.start()
    for team_id in team_ids[1:]:
        await bot.workspaces.work_of(team_id)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return taken / max(number - 1, 1) / 1000


async def add_weeks(store: Store, known: list[Workspace]) -> None:
    """Gives each channel five verdicts of the last week, and a digest that is off."""
    now = datetime.now(UTC)
    rows = list[dict[str, Any]]()
    chosen = list[dict[str, Any]]()
    last_week = now - timedelta(days=now.weekday() + 3)
    for each in known:
        for channel in each.channels.values():
            place = {"team_id": each.team_id, "channel_id": channel.id}
            chosen.append(place | {"is_digest_on": False, "digest_since": now - timedelta(days=30)})
            at = {"created_at": last_week, "judged_at": last_week, "delivered_at": last_week}
            its = {
                "score": 3,
                "model": "m",
                "judge_version": "v",
                "author_id": each.user("helper").id,
            }
            its["requester_id"] = each.user("ann").id
            rows += [a_row(key=f"{channel.id}/{n}", **place, **at, **its) for n in range(5)]

    async def add(connection: AsyncConnection) -> None:
        await connection.execute(insert(channels), chosen)
        await connection.execute(insert(cases), rows)

    await store.database.write(add)


async def reached(count: Callable[[], int], enough: int) -> tuple[float, float]:
    """When the first of so many was there, and when all were, to a second."""
    first_s = 0.0
    while (now := count()) < enough:
        first_s = first_s or time.perf_counter() * bool(now)
        await asyncio.sleep(1)
    last_s = time.perf_counter()
    return first_s or last_s, last_s


async def size_kb(store: Store) -> float:
    """What the database takes on the disk."""
    size = "pg_database_size(current_database())"
    if store.database.is_sqlite:
        size = "page_count * page_size FROM pragma_page_count, pragma_page_size"
    async with store.database.engine.connect() as connection:
        return float((await connection.execute(text(f"SELECT {size}"))).scalar_one()) / 1000


async def measure_cases(bench: Bench, store: Store, number: int) -> None:
    """Sends commands, in turns from all workspaces, and waits for all verdicts."""
    known = bench.known
    sent = []
    size = await size_kb(store)
    before = bench.cpu_ms()
    began = time.perf_counter()
    for count in range(number):
        each = known[count % len(known)]
        names = [channel.name for channel in each.channels.values() if not channel.is_im]
        words = f"Why {count}? | Because of {count}, which is so for a reason that is written here."
        sent.append(
            Person(each, "ann").command(names[count // len(known) % len(names)], "/judge", words)
        )
        if count >= UNDER_WAY:
            await bench.slack.settled(sent[count - UNDER_WAY])
    for delivery in sent:
        await bench.slack.settled(delivery)
    taken_s = time.perf_counter() - began
    accepted = sum(delivery.is_acked for delivery in sent)

    def scored() -> Counter[tuple[str, str, str | None]]:
        return Counter(
            (each.team_id, channel_id, message.thread_ts)
            for each, channel_id, message in bench.replies
            if message.is_reply and message.text.startswith(("Score ", "Unscored"))
        )

    _, last_s = await reached(lambda: len(scored()), accepted)
    assert scored().total() == len(scored()), f"twice: {scored().most_common(3)}"
    rates = f"{number / taken_s:.0f} a second in, {accepted / (last_s - began):.0f} delivered"
    rates += f", {(await size_kb(store) - size) / accepted:.1f} kB each"
    print(
        (
            f"{accepted} of {number} cases were acknowledged in time, {rates}; "
            f"{bench.costs(before, accepted)}"
        ),
        flush=True,
    )


async def measure_idle(bench: Bench) -> None:
    """Waits a minute in which nothing is asked and nothing is due."""
    before = bench.cpu_ms()
    await asyncio.sleep(60)
    print(f"an idle minute; {bench.costs(before, 1)}", flush=True)


async def measure_digests(bench: Bench, store: Store) -> None:
    """Makes the digests of all channels due at once and waits for them."""
    due = [(each.team_id, channel_id) for each in bench.known for channel_id in each.channels]
    earlier = {message.ts for *_, message in bench.replies}
    before = bench.cpu_ms()

    def posted() -> Counter[tuple[str, str]]:
        return Counter(
            (each.team_id, channel)
            for each, channel, message in bench.replies
            if message.ts not in earlier
        )

    await store.database.execute(update(channels).values(is_digest_on=True))
    first_s, last_s = await reached(lambda: posted().total(), len(due))
    assert posted() == dict.fromkeys(due, 1), (
        f"{len(posted())} of {len(due)} channels; {posted().most_common(3)}"
    )
    print(
        (
            f"{len(due)} digests, none twice, in {last_s - first_s:.0f} s; "
            f"{bench.costs(before, len(due))}"
        ),
        flush=True,
    )


@asynccontextmanager
async def processes(settings: Mapping[str, str], count: int) -> AsyncIterator[list[int]]:
    """The numbers of so many processes of the bot."""
    async with AsyncExitStack() as stack:
        log = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        pids = []
        for _ in range(count):
            process = await asyncio.create_subprocess_exec(
                *COMMANDS["bot"], env=os.environ | settings, stdout=log, stderr=log
            )
            stack.push_async_callback(process.wait)
            stack.callback(process.terminate)
            pids.append(process.pid)
        yield pids


async def main(
    number: int = 10, of_channels: int = 4, of_cases: int = 200, on_postgres: int = 0
) -> None:
    """Measures and prints."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = None
        url = f"sqlite+aiosqlite:///{folder}/log.db"
        if on_postgres:
            binaries = find_binaries()
            if binaries is None:
                sys.exit("PostgreSQL is not installed")
            server = stack.enter_context(cluster(binaries))
            url = new_database(server.server)
        known = workspaces(number, of_channels)
        app = known[0].app
        slack = await stack.enter_async_context(Sandbox(known[0]))
        settings = {
            "SLACK_CLIENT_ID": app.client_id,
            "SLACK_CLIENT_SECRET": app.client_secret,
            "TOKEN_KEYS": Fernet.generate_key().decode(),
            "SLACK_APP_TOKEN": slack.app_token,
            "SLACK_API_URL": slack.api_url,
            "HTTP_PORT": "0",
            "JUDGE_MODEL": "offline",
            "DATABASE_URL": url,
            "MAX_CASES_PER_USER_PER_HOUR": "0",
            "MAX_CASES_PER_DAY": "0",
        }
        print(
            f"{number} workspaces of {of_channels} channels, {on_postgres or 1} processes, "
            f"{url.partition(':')[0]}"
        )
        given: dict[str, Any] = {key.lower(): value for key, value in settings.items()}
        async with running_bot(load_settings(None, **given), grace_s=0) as bot:
            await slack.connected()
            for each in known:
                await install(bot, each)
            while len(await bot.workspaces.team_ids()) < number:
                await bot.workspaces.find(None, known[-1].team_id)
            print(f"an idle workspace: {await idle_kb(bot, number):.0f} kB", flush=True)
            await add_weeks(bot.services.store, known)
        pids = await stack.enter_async_context(processes(settings, on_postgres or 1))
        await slack.connected(on_postgres or 1, timeout_s=120)
        bench = Bench(slack, known, pids, server)
        async with await Store.open(url) as store:
            await measure_cases(bench, store, of_cases)
            await measure_idle(bench)
            await measure_digests(bench, store)


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    logging.disable(logging.WARNING)
    asyncio.run(main(*map(int, sys.argv[1:])))
