"""Which message events tell of a reply that a watch may take."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from bot.domain.watch import ReplyOutcome
from bot.features.watch.queries import WatchOrders
from bot.features.watch.reply_queries import Replies
from bot.features.watch.watcher import Watcher, author_of, to_reply
from bot.store import Store
from bot.store.schema import replies, seen_messages
from tests.cases import NOW
from tests.features.watch.watching import WATCH, a_reply
from tests.services import services_of

pytestmark = pytest.mark.on("sqlite")
EVENT: dict[str, Any] = {
    "type": "message",
    "channel": "C1",
    "user": "U1",
    "bot_id": "B1",
    "text": "Here is the chart.",
    "ts": "1795366884.118075",
    "thread_ts": "1795366880.000001",
}


@pytest.mark.parametrize(
    ("changes", "author_id"),
    [
        ({}, "U1"),
        ({"subtype": "thread_broadcast"}, "U1"),
        ({"subtype": "file_share", "files": [{"id": "F1"}]}, "U1"),
        ({"subtype": "bot_message", "user": None}, "B1"),  # a webhook
        ({"bot_id": None}, None),
        ({"subtype": "channel_join"}, None),
        ({"subtype": "message_deleted"}, None),
        ({"subtype": "message_changed", "message": EVENT | {"subtype": "file_share"}}, "U1"),
    ],
)
def test_what_a_bot_writes_is_a_reply_and_notices_are_none(
    changes: dict[str, Any], author_id: str | None
) -> None:
    assert author_of(EVENT | changes) == author_id


@pytest.mark.parametrize(
    ("changes", "is_taken", "noted"),
    [
        ({}, True, 1),
        ({"channel_type": "group"}, True, 1),
        ({"subtype": "channel_topic"}, True, 0),
        ({"bot_id": ""}, True, 0),
        ({"channel_type": "im"}, False, 0),
        ({"channel_type": "im", "subtype": "message_deleted", "deleted_ts": "1.1"}, True, 0),
        ({"type": "app_mention"}, False, 0),
        ({"ts": a_reply(-1).ts}, True, 0),  # from before the watch
    ],
)
async def test_only_messages_of_channels_and_changes_are_taken_in_before_bolt(
    log: Store, changes: dict[str, str], is_taken: bool, noted: int
) -> None:
    since = datetime.fromtimestamp(float(a_reply(0).ts), UTC)
    await WatchOrders(log.database).save(replace(WATCH, since=since), "U9")
    event = EVENT | {"channel_type": "channel", "thread_ts": None} | changes
    assert await services_of(log).takes({"team_id": "T1", "event": event}) is is_taken
    assert len(await log.database.values(select(replies.c.ts))) == noted


@pytest.mark.needs("outcome")
async def test_a_deletion_does_not_overtake_its_message(log: Store) -> None:
    services = services_of(log)
    since = datetime.fromtimestamp(float(EVENT["ts"]), UTC)
    await WatchOrders(log.database).save(replace(WATCH, since=since), "U9")
    usual = {"type": "message", "channel": "C1", "channel_type": "channel"}
    deleted = {"subtype": "message_deleted", "ts": a_reply(9).ts, "deleted_ts": EVENT["ts"]}
    events = [EVENT | usual, usual | deleted]
    bodies = [{"team_id": "T1", "event": event} for event in events]
    await asyncio.gather(*(services.takes(body) for body in bodies))
    assert await log.database.values(select(seen_messages.c.ts)) == []


async def test_a_reply_that_goes_on_while_it_is_read_waits_on(log: Store) -> None:
    seen = Replies(log.database)
    await seen.note(a_reply(1), WATCH, NOW)
    (read,) = await seen.due("T1", NOW)
    await seen.go_on(read, a_reply(2).ts, NOW)
    await seen.settle(read, ReplyOutcome.TAKEN)
    (waiting,) = await seen.due("T1", NOW)
    assert waiting.last_ts == a_reply(2).ts


@pytest.mark.parametrize(("minutes", "is_waited_for"), [(59, True), (61, False)])
async def test_a_settled_reply_is_read_again_if_edited_within_an_hour(
    log: Store, minutes: int, is_waited_for: bool
) -> None:
    reply = to_reply("T1", "C1", EVENT)
    written_at = datetime.fromtimestamp(float(reply.ts), UTC)
    watch = replace(WATCH, since=written_at)
    now = written_at + timedelta(minutes=minutes)
    watcher = Watcher(replace(services_of(log), clock=lambda: now))
    await watcher.save(watch, "U9")
    await watcher.replies.note(reply, watch, written_at)
    await watcher.replies.settle(reply, ReplyOutcome.TAKEN)
    event = {"subtype": "message_changed", "channel": "C1", "message": EVENT | {"text": "Other."}}
    await watcher.note({"team_id": "T1", "event": event})
    due = await watcher.replies.due("T1", now + timedelta(hours=1))
    assert bool(due) is is_waited_for
