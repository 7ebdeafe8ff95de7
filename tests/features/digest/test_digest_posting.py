"""Digests are posted when they are due, each exactly once, also after crashes.

The clock is moved by hand.
"""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from bot.app import make_services
from bot.commands.in_channel import preview
from bot.errors import SlackError
from bot.feature import Feature, WeekPart
from bot.features.digest.poster import post_due
from bot.pipeline.quoting import unquote
from bot.services import Services
from bot.settings import Settings
from bot.slack.client import identify, web_client
from bot.slack.manifest import load_manifest
from bot.store import Store
from bot.store.digests import LEASE, DigestStatus
from bot.store.schema import cases, digests
from pocket_slack import Channel, Limits, ManualClock, Message, Sandbox, Workspace
from tests.cases import a_row
from tests.gestures import calls
from tests.model_server import ModelServer
from tests.stage import make_settings, shown

MONDAY = datetime(2026, 11, 23, 9, tzinfo=UTC)  # when a digest is due
LABEL = MONDAY.isoformat(timespec="minutes")
SINCE = MONDAY - timedelta(days=5)  # the digests of the weeks before were due earlier


@dataclass
class Office:
    """A log, a Slack, and any number of posters that work on both; without Bolt."""

    slack: Sandbox
    log: Store
    clock: ManualClock
    connect: Any
    settings: Settings
    _count: int = field(default=0)

    @property
    def workspace(self) -> Workspace:
        return self.slack.workspace

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)

    def pass_time(self, **span: float) -> None:
        self.clock.advance(timedelta(**span).total_seconds())

    async def poster(self) -> Services:
        """Another replica."""
        services: Services = await self.connect(self.now)
        return services

    async def channel(self, name: str, *, is_private: bool = False, **settings: Any) -> Channel:
        """A channel with a digest, and with one case in the week before."""
        workspace = self.slack.workspace
        channel = workspace.add_channel(
            name, [workspace.user("ann"), workspace.bot], is_private=is_private
        )
        chosen = {"is_digest_on": True, "digest_since": SINCE} | settings
        await self.log.channels.save(workspace.team_id, channel.id, "U1", **chosen)
        await self.add_case(channel.id, MONDAY - timedelta(days=3))
        return channel

    async def add_case(self, channel_id: str, judged_at: datetime, **changes: Any) -> None:
        self._count += 1
        where = {"team_id": self.slack.workspace.team_id, "channel_id": channel_id}
        when = {"created_at": judged_at, "judged_at": judged_at}
        row = a_row(key=str(self._count), score=4, **where, **when)
        await self.log.database.execute(insert(cases).values(row | changes))

    async def rows(self) -> list[Any]:
        return await self.log.database.all(select(digests).order_by(digests.c.week))


def posted(channel: Channel) -> list[Message]:
    return list(channel.messages.values())


@pytest.fixture
async def office(
    model_server: ModelServer, tmp_path: Path, empty_log: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Office]:
    """On SQLite, unless the test names the fixture of another database."""
    shutil.copy(empty_log, tmp_path)
    in_file = f"sqlite+aiosqlite:///{tmp_path}/log.db"
    database_url = request.getfixturevalue(request.param) if hasattr(request, "param") else in_file
    clock = ManualClock(MONDAY.timestamp())
    workspace = Workspace(load_manifest(), clock=clock, limits=Limits.off())
    workspace.add_user("ann")
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(Sandbox(workspace))
        settings = make_settings(slack, model_server, tmp_path, database_url=database_url)
        log = await Store.open(settings.database_url)
        stack.push_async_callback(log.close)

        async def connect(now: Any) -> Services:
            client = await stack.enter_async_context(
                web_client(settings.slack_bot_token, settings.slack_api_url)
            )
            return make_services(settings, log, client, await identify(client), clock=now)

        yield Office(slack, log, clock, connect, settings)


async def test_a_digest_is_posted_when_it_is_due_and_only_once(office: Office) -> None:
    channel = await office.channel("help")
    own_time = {"digest_day": "tuesday", "digest_time": "07:00", "digest_tz": "Asia/Tokyo"}
    tokyo = await office.channel("tokyo", **own_time)
    poster = await office.poster()
    office.clock.advance(-60)
    for minutes in (1, 10, 10):
        await post_due(poster)
        office.pass_time(minutes=minutes)
    (message,) = posted(channel)
    assert message.text.startswith("Week up to Monday, 23 Nov: 1 other reply chosen by people")
    (row,) = await office.rows()
    assert (row.week, row.status, row.message_ts) == (LABEL, DigestStatus.POSTED, message.ts)
    office.pass_time(hours=12, minutes=39)  # Tuesday, 06:59 in Tokyo
    for number in (0, 1):
        await post_due(poster)
        assert len(posted(tokyo)) == number
        office.pass_time(minutes=1)
    assert len(posted(channel)) == 1


async def test_a_digest_that_is_switched_on_begins_with_the_next_week(office: Office) -> None:
    channel = await office.channel("help", digest_since=MONDAY + timedelta(minutes=1))
    poster = await office.poster()
    office.pass_time(hours=1)
    await post_due(poster)
    assert posted(channel) == []
    office.pass_time(weeks=1)
    await post_due(poster)
    assert len(posted(channel)) == 1


async def test_a_changed_day_leaves_no_reply_out_and_counts_none_twice(office: Office) -> None:
    channel = await office.channel("help")
    poster = await office.poster()
    for hours in range(1, 24 * 9, 12):
        await office.add_case(channel.id, MONDAY + timedelta(hours=hours))
    await post_due(poster)
    for days, day in ((4, "friday"), (5, "wednesday")):
        office.pass_time(days=days)
        chosen = {"digest_day": day, "digest_since": office.now()}
        await office.log.channels.save(office.slack.workspace.team_id, channel.id, "U1", **chosen)
        await post_due(poster)
    counted = [int(re.findall(r": (\d+) other", message.text)[0]) for message in posted(channel)]
    assert counted == [1, 8, 10]  # of 4 and 5 days after the first


async def test_a_digest_is_posted_after_a_crash_before_its_post(office: Office) -> None:
    channel = await office.channel("help")
    poster = await office.poster()
    await office.log.digests.claim(office.slack.workspace.team_id, channel.id, LABEL, office.now())
    await post_due(poster)
    assert posted(channel) == []  # somebody may be about to post it
    office.pass_time(seconds=LEASE.total_seconds())
    await post_due(poster)
    assert len(posted(channel)) == 1


async def test_a_post_is_found_after_a_crash_far_behind_it_and_loses_its_reasons_too(
    office: Office,
) -> None:
    channel = await office.channel("help")
    poster = await office.poster()
    helper = office.slack.workspace.add_bot("helper")
    low = {"author_id": helper.id, "score": 1, "justification": "It names no source."}
    await office.add_case(channel.id, MONDAY - timedelta(days=3), **low)
    office.slack.fail("chat.postMessage", drop=True, is_applied=True)
    await post_due(poster)
    (message,) = posted(channel)
    assert (await office.rows())[0].status == DigestStatus.CLAIMED
    for number in range(250):
        office.slack.person("ann").post("help", f"message {number}")
    office.pass_time(seconds=LEASE.total_seconds())
    await post_due(poster)
    assert len(posted(channel)) == 251
    (row,) = await office.rows()
    assert (row.status, row.message_ts) == (DigestStatus.POSTED, message.ts)
    assert "It names no source." in shown(message)
    await unquote(office.log, poster.client, [2])
    assert "It names no source." not in shown(message)


async def test_a_digest_is_not_posted_again_if_slack_does_not_show_the_channel(
    office: Office,
) -> None:
    channel = await office.channel("help")
    poster = await office.poster()
    office.slack.fail("chat.postMessage", status=500, is_applied=True)
    await post_due(poster)
    office.pass_time(seconds=LEASE.total_seconds())
    office.slack.fail("conversations.history", error="missing_scope")
    await post_due(poster)
    office.pass_time(hours=1)
    await post_due(poster)
    assert len(posted(channel)) == 1
    assert (await office.rows())[0].status == DigestStatus.UNCONFIRMED


async def test_a_process_that_was_frozen_before_its_post_stops(office: Office) -> None:
    channel = await office.channel("help")
    other = await office.poster()

    async def freeze(*_: Any) -> WeekPart:
        office.pass_time(seconds=LEASE.total_seconds())
        await post_due(other)
        return WeekPart(frozenset(), [])

    frozen = await office.poster()
    frozen.features = [Feature(week_part=freeze)]
    await post_due(frozen)
    assert len(posted(channel)) == 1
    (row,) = await office.rows()
    assert (row.status, row.message_ts) == (DigestStatus.POSTED, posted(channel)[0].ts)


async def test_an_error_in_one_channel_delays_its_own_digest_and_no_other(office: Office) -> None:
    without_schedule = await office.channel("a-lost", digest_tz="Mars/Olympus")
    switched_off = await office.channel("b-off", is_digest_on=False)
    channels = [await office.channel(name) for name in ("first", "second", "third")]
    office.slack.fail("chat.postMessage", error="internal_error")
    poster = await office.poster()
    await post_due(poster)
    assert sum(len(posted(channel)) for channel in channels) == 2
    office.pass_time(seconds=LEASE.total_seconds())
    await post_due(poster)
    assert [len(posted(channel)) for channel in channels] == [1, 1, 1]
    assert posted(without_schedule) == posted(switched_off) == []


async def test_an_archived_channel_or_one_that_the_bot_was_removed_from_gets_no_digest(
    office: Office,
) -> None:
    archived, left, private = [
        await office.channel(name, is_private=name == "private")
        for name in ("archived", "left", "private")
    ]
    archived.is_archived = True
    poster = await office.poster()
    for channel in (left, private):
        channel.members.remove(office.slack.workspace.bot.id)
    await post_due(poster)
    assert {row.status for row in await office.rows()} == {DigestStatus.REFUSED}
    left.members.append(office.slack.workspace.bot.id)
    office.pass_time(weeks=1)
    await post_due(poster)
    assert [message.text.split(":")[0] for message in posted(left)] == ["Week up to Monday, 30 Nov"]
    assert posted(archived) == posted(private) == []


async def test_nothing_is_claimed_if_slack_does_not_list_the_channels(office: Office) -> None:
    channel = await office.channel("help")
    poster = await office.poster()
    office.slack.fail("users.conversations", error="internal_error")
    with pytest.raises(Exception, match="internal_error"):
        await post_due(poster)
    assert await office.rows() == []
    await post_due(poster)
    assert len(posted(channel)) == 1


@pytest.mark.usefixtures("log_on_postgres")  # which cannot be made once the office's loop runs
@pytest.mark.parametrize("office", ["postgres_url"], indirect=True)
async def test_many_channels_at_the_same_minute_get_one_each_within_slacks_limits(
    office: Office,
) -> None:
    channels = [await office.channel(f"c{number}") for number in range(10)]
    office.slack.workspace.meter.limits = (
        Limits()
    )  # true limits, on a clock that stands still: no call is forgiven
    replicas = [await office.poster() for _ in range(2)]
    await asyncio.gather(*(post_due(replica) for replica in replicas))
    assert [len(posted(channel)) for channel in channels] == [1] * 10
    assert {row.status for row in await office.rows()} == {DigestStatus.POSTED}
    assert len(calls(office, "chat.postMessage")) == 10
    assert len(calls(office, "users.conversations")) == 2


async def test_the_preview_in_the_terminal_shows_the_digest_and_posts_nothing(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    channel = await office.channel("help", is_private=True)
    author_id = office.slack.workspace.add_bot("helper").id
    for _ in range(5):
        await office.add_case(channel.id, MONDAY - timedelta(days=3), author_id=author_id, score=2)
    capsys.readouterr()  # what the log has said so far
    await preview(office.settings, "#help", clock=office.now)
    shown = capsys.readouterr().out
    assert "Week up to Monday, 23 Nov" in shown
    assert "helper: 5 replies chosen by people. Mean 2.0, by 5 scores in four weeks." in shown
    assert not re.search("Not fair|:[a-z_]+:", shown)
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert posted(channel) == await office.rows() == []
    with pytest.raises(SlackError, match=r"--channel 'nowhere': .*/invite it there"):
        await preview(office.settings, "nowhere", clock=office.now)
