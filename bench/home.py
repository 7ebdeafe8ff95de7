"""How long it takes to read and publish a Home tab with a year of log.

    python -m bench.home --people 50

The store is that of `bench.digest`: 1,000,000 verdicts, one channel with 40,000 in the measured
week, 49 with some 380. Everyone is in all fifty, and one of twelve assistants is watched in all of
them. All tabs are published one after the other, twice,
and then all at the same time. Slack is the pocket Slack, over HTTP on this machine; a person's
first visit includes asking it for their channels.
"""

import argparse
import asyncio
import time
from contextlib import AsyncExitStack
from datetime import timedelta
from statistics import median

from sqlalchemy import update

from bench.digest import BUSY, CHANNELS, TEAM, WEEK, file_of, fill
from bot.app import make_services
from bot.domain.standing import Standing
from bot.domain.watch import Watch
from bot.features.watch.queries import WatchOrders
from bot.settings import OFFLINE, load_settings
from bot.slack.client import identify, web_client
from bot.slack.invocation import Invocation
from bot.slack.manifest import load_manifest
from bot.store import Store
from bot.store.schema import cases
from bot.store.standings import Standings
from judge.evaluation.standing import Direction
from pocket_slack import Channel, Limits, Sandbox, Workspace

VERDICTS = 1_000_000
IN_WEEK = 40_000
BEFORE = 10_000
NOW = WEEK.end - timedelta(hours=1)
WATCHED = "B1"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=50)
    asyncio.run(measure(parser.parse_args().people))


async def measure(people: int) -> None:
    file = file_of(VERDICTS, IN_WEEK, BEFORE)
    async with AsyncExitStack() as stack:
        log = await Store.open(f"sqlite+aiosqlite:///{file}")
        stack.push_async_callback(log.close)
        fill(file, VERDICTS, IN_WEEK, BEFORE)
        await watch_all(log)
        stack.push_async_callback(draw, log, None)
        slack = await stack.enter_async_context(Sandbox(workspace(people)))
        settings = load_settings(
            env_file=None,
            slack_bot_token=slack.bot_token,
            slack_app_token=slack.app_token,
            slack_api_url=slack.api_url,
            judge_model=OFFLINE,
        )
        client = await stack.enter_async_context(
            web_client(settings.slack_bot_token, settings.slack_api_url)
        )
        services = make_services(settings, log, client, await identify(client), clock=lambda: NOW)

        async def publish(user_id: str) -> float:
            begin = time.perf_counter()
            person = Invocation(
                TEAM, "D1", user_id, user_id, is_foreign=False, window_channel_id="D1"
            )
            await services.show_home(person)
            return (time.perf_counter() - begin) * 1000

        users = [
            user.id for user in slack.workspace.users.values() if user.name.startswith("person")
        ]
        for visit in ("first visits", "second visits"):
            began_cpu = time.process_time()
            tell(
                f"{visit}, one after the other", [await publish(user) for user in users], began_cpu
            )
        began_cpu = time.process_time()
        tell("all at once", await asyncio.gather(*(publish(user) for user in users)), began_cpu)


async def watch_all(log: Store) -> None:
    """One assistant is watched in all channels, and has a standing."""
    orders = WatchOrders(log.database)
    for number in range(CHANNELS):
        channel_id = f"C{number}" if number else BUSY
        await orders.save(Watch(TEAM, channel_id, WATCHED, NOW, is_private=False), "U1")
    await draw(log, 1.0)
    steady = Standing(
        team_id=TEAM,
        channel_id="",
        author_id=WATCHED,
        lowest=0,
        highest=5,
        version=None,
        direction=Direction.STEADY,
        event=None,
        stored_at=NOW,
        looked_at=NOW,
        level=3.5,
        n=100,
    )
    await Standings(log.database).begin(steady)


async def draw(log: Store, probability: float | None) -> None:
    """Makes the verdicts on its replies those of a watch, or again those that people asked for."""
    its = update(cases).filter_by(team_id=TEAM, author_id=WATCHED)
    await log.database.execute(its.values(probability=probability))


def workspace(people: int) -> Workspace:
    """The people of the store, all of them members of all its channels."""
    made = Workspace(load_manifest(), limits=Limits.off())
    made.team_id = TEAM
    for number in range(people):
        user = made.add_user(f"person{number}")
        made.users[f"U{number}"] = made.users.pop(user.id)
        user.id = f"U{number}"
    members = list(made.users)
    for number in range(CHANNELS):
        channel_id = f"C{number}" if number else BUSY
        made.channels[channel_id] = Channel(
            channel_id, f"channel{number}", 0, members[0], members=members
        )
    return made


def tell(how: str, took_ms: list[float], began_cpu: float) -> None:
    used_ms = (time.process_time() - began_cpu) * 1000 / len(took_ms)
    times = (
        f"median {median(took_ms):.0f} ms, slowest {max(took_ms):.0f} ms of {len(took_ms)} people"
    )
    print(f"{how}: {times}, {used_ms:.0f} ms of processor time each (with the pocket Slack's)")


if __name__ == "__main__":
    main()
