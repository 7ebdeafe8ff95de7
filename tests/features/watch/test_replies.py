"""Which message events tell of a reply that a watch may take."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.watch import ReplyOutcome
from bot.features.watch.queries import WatchOrders
from bot.features.watch.reply_queries import Replies
from bot.features.watch.watcher import Watcher, author_of, to_reply
from bot.store import Store
from tests.cases import NOW
from tests.features.watch.watching import WATCH, a_reply
from tests.services import services_of

EVENT: dict[str, Any] = {
    "type": "message",
    "channel": "C1",
    "user": "U1",
    "bot_id": "B1",
    "text": "Here is the chart.",
    "ts": "1795366884.118075",
    "thread_ts": "1795366880.000001",
}


@pytest.mark.parametrize("subtype", [None, "thread_broadcast", "file_share"])
def test_what_a_bot_writes_is_a_reply_also_where_a_file_comes_with_it(subtype: str | None) -> None:
    event = EVENT | {"subtype": subtype, "files": [{"id": "F1"}]}
    assert author_of(event) == "U1"
    assert to_reply("T1", "C1", event | {"files": []}) == to_reply("T1", "C1", EVENT)


@pytest.mark.parametrize(
    "subtype", ["channel_join", "pinned_item", "message_deleted", "message_replied"]
)
def test_notices_are_no_replies(subtype: str) -> None:
    assert author_of(EVENT | {"subtype": subtype}) is None


def test_an_edit_is_by_who_wrote_the_message() -> None:
    edit = {
        "type": "message",
        "subtype": "message_changed",
        "channel": "C1",
        "ts": "1795366999.000001",
    }
    assert author_of(edit | {"message": EVENT | {"subtype": "file_share"}}) == "U1"


def test_a_webhook_is_known_by_its_bot() -> None:
    assert (
        author_of({"subtype": "bot_message", "bot_id": "B1", "text": "Done.", "ts": "1.000001"})
        == "B1"
    )


@pytest.fixture
async def log(empty_log: Path, tmp_path: Path) -> AsyncIterator[Store]:
    shutil.copy(empty_log, tmp_path)
    opened = await Store.open(f"sqlite+aiosqlite:///{tmp_path}/log.db")
    yield opened
    await opened.close()


@pytest.mark.parametrize(
    ("changes", "is_taken", "noted"),
    [
        ({}, True, 1),
        ({"channel_type": "group"}, True, 1),
        ({"subtype": "bot_message"}, True, 1),
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
    services = services_of(log)
    event = {
        "type": "message",
        "channel": "C1",
        "channel_type": "channel",
        "user": "U1",
        "bot_id": "B1",
        "ts": a_reply(0).ts,
    }
    await WatchOrders(log.database).save(
        replace(WATCH, since=datetime.fromtimestamp(float(a_reply(0).ts), UTC)), "U9"
    )
    assert await services.takes({"team_id": "T1", "event": event | changes}) is is_taken
    assert await services.takes({"type": "block_actions"}) is False
    assert len(await Replies(log.database).due("T1", NOW + timedelta(days=9999))) == noted


async def test_a_reply_that_goes_on_while_it_is_read_waits_on(log: Store) -> None:
    await WatchOrders(log.database).save(WATCH, "U9")
    await Replies(log.database).note(a_reply(1), WATCH, NOW)
    (read,) = await Replies(log.database).due("T1", NOW)
    await Replies(log.database).go_on(read, a_reply(2).ts, NOW)
    await Replies(log.database).settle(read, ReplyOutcome.TAKEN)
    (waiting,) = await Replies(log.database).due("T1", NOW)
    assert waiting.last_ts == a_reply(2).ts


@pytest.mark.parametrize(("minutes", "is_waited_for"), [(59, True), (61, False)])
async def test_an_edit_has_a_settled_reply_read_again_in_its_first_hour(
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
    edited = EVENT | {"text": "Here is another chart."}
    event = {"subtype": "message_changed", "channel": "C1", "message": edited}
    await watcher.note({"team_id": "T1", "event": event})
    due = await watcher.replies.due("T1", now + timedelta(hours=1))
    assert bool(due) is is_waited_for
