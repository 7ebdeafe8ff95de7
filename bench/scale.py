"""Many workspaces in one process: `python -m bench.scale [WORKSPACES] [CHANNELS] [CASES] [DATABASE_URL]`.

By default 10 workspaces of 4 channels and 200 cases, in a new SQLite file. All workspaces have the same channel and
user ids. It prints what an idle workspace takes in memory, how long it takes until the digest of every channel, all due
at once, is posted, and how many cases a second come in and are delivered. The rater is offline, and the pocket Slack,
with Slack's own limits, runs in the same process.
"""

import asyncio
import logging
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from cryptography.fernet import Fernet
from slack_sdk.oauth.installation_store import Installation
from sqlalchemy import insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.app import RunningBot, running_bot
from bot.settings import load_settings
from bot.slack.manifest import load_manifest
from bot.store.schema import cases, channels
from pocket_slack import Person, Sandbox, Workspace
from tests.cases import a_row

NAMES = ("ann", "ben", "helper")


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


async def digests_s(bot: RunningBot, known: list[Workspace]) -> float:
    """How long until each channel has its digest, all of them due at the same moment; raises if one has two."""
    now, rows, chosen = datetime.now(UTC), list[dict[str, Any]](), list[dict[str, Any]]()
    last_week = now - timedelta(days=now.weekday() + 3)
    for each in known:
        for channel in each.channels.values():
            place = {"team_id": each.team_id, "channel_id": channel.id}
            chosen.append(place | {"is_digest_on": False, "digest_since": now - timedelta(days=30)})
            at = {"created_at": last_week, "judged_at": last_week, "delivered_at": last_week}
            its = {"score": 3, "model": "m", "judge_version": "v", "author_id": each.user("helper").id}
            its["requester_id"] = each.user("ann").id
            rows += [a_row(key=f"{channel.id}/{n}", **place, **at, **its) for n in range(5)]

    async def add(connection: AsyncConnection) -> None:
        await connection.execute(insert(channels), chosen)
        await connection.execute(insert(cases), rows)

    await bot.store.database.write(add)
    began = time.perf_counter()
    await bot.store.database.execute(update(channels).values(is_digest_on=True))
    rounds = [(await bot.workspaces.work_of(each.team_id)) for each in known]
    post = [job.run for work in rounds if work for job in work.periodic_jobs if job.name == "post_due_digests"]
    await asyncio.gather(*(run() for run in post))
    posted = Counter(
        (each.team_id, channel.id)
        for each in known
        for channel in each.channels.values()
        for message in channel.messages.values()
        if message.author is each.bot
    )
    assert len(posted) == len(chosen), f"{len(posted)} of {len(chosen)} digests were posted"
    assert set(posted.values()) == {1}, f"posted twice: {[place for place, count in posted.items() if count > 1]}"
    return time.perf_counter() - began


async def cases_s(slack: Sandbox, known: list[Workspace], number: int) -> tuple[float, float]:
    """How long until so many commands, in turns from all workspaces, are acknowledged, and until all are delivered."""
    began, sent = time.perf_counter(), []
    for count in range(number):
        each = known[count % len(known)]
        names = [channel.name for channel in each.channels.values() if not channel.is_im]
        text = f"Why {count}? | Because of {count}, which is so for a reason that is written here."
        sent.append(Person(each, "ann").command(names[count // len(known) % len(names)], "/judge", text))
        if count % 20 == 19:
            await slack.settled(sent[-1])
    for delivery in sent:
        await slack.settled(delivery)
    taken = time.perf_counter() - began
    accepted = sum(delivery.is_acked for delivery in sent)

    def shown() -> bool:
        found = (m for each in known for c in each.channels.values() for m in c.messages.values() if m.is_reply)
        return sum(m.text.startswith(("Score ", "Unscored")) for m in found) >= accepted

    await slack.until(shown, 600)
    print(f"{accepted} of {number} cases were accepted")
    return taken, time.perf_counter() - began


async def main(number: int = 10, of_channels: int = 4, of_cases: int = 200, url: str = "") -> None:
    """Measures and prints."""
    known = workspaces(number, of_channels)
    app = known[0].app
    with tempfile.TemporaryDirectory() as folder:
        async with Sandbox(known[0]) as slack:
            settings = load_settings(
                None,
                slack_client_id=app.client_id,
                slack_client_secret=app.client_secret,
                token_keys=Fernet.generate_key().decode(),
                slack_app_token=slack.app_token,
                slack_api_url=slack.api_url,
                http_port=0,
                judge_model="offline",
                database_url=url or f"sqlite+aiosqlite:///{folder}/log.db",
                max_cases_per_user_per_hour=0,
                max_cases_per_day=0,
            )
            async with running_bot(settings, grace_s=0) as bot:
                await slack.connected()
                for each in known:
                    await install(bot, each)
                while len(await bot.workspaces.team_ids()) < number:
                    await bot.workspaces.find(None, known[-1].team_id)
                print(f"{number} workspaces of {of_channels} channels")
                print(f"an idle workspace: {await idle_kb(bot, number):.0f} kB")
                due = number * of_channels
                print(f"{due} digests due at once: all posted, none twice, in {await digests_s(bot, known):.1f} s")
                taken, delivered = await cases_s(slack, known, of_cases)
                print(f"cases: {of_cases / taken:.0f} a second in, {of_cases / delivered:.0f} a second delivered")


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    logging.disable(logging.WARNING)
    given = sys.argv[1:]
    asyncio.run(main(*map(int, given[:3]), *given[3:4]))  # type: ignore[arg-type]
