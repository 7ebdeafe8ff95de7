"""The server-sent events of a page, and which person gets them."""

import json
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from pocket_slack import Sandbox, Workspace, posts, views
from pocket_slack.people import Person
from pocket_slack.posts import Content
from pocket_slack.stream import Stream, masked, to_events, to_snapshot

MODAL = {"type": "modal", "title": {"type": "plain_text", "text": "Hi"}, "blocks": []}


def events(workspace: Workspace, name: str, after: int) -> list[tuple[str, Any]]:
    """The events that a person's page gets for the journal entries after the id `after`."""
    person = Person(workspace, name)
    return [
        event
        for entry in workspace.journal.entries
        if entry.id > after
        for event in to_events(person, entry)
    ]


def last_id(workspace: Workspace) -> int:
    return workspace.journal.entries[-1].id


def test_a_message_is_sent_to_people_who_see_its_channel(workspace: Workspace, ann: Person) -> None:
    before = last_id(workspace)
    message = ann.post("secret", "hush")
    [(kind, data)] = events(workspace, "cat", before)
    assert (kind, data["message"]["ts"], data["message"]["text"]) == ("message", message.ts, "hush")
    assert events(workspace, "ben", before) == []


def test_an_ephemeral_message_and_its_changes_are_sent_only_to_its_owner(
    workspace: Workspace,
    ann: Person,
) -> None:
    before = last_id(workspace)
    channel = workspace.channel("help")
    message = posts.post_ephemeral(workspace, channel, ann.id, Content("only you"))
    posts.edit(workspace, message, Content("you alone"), workspace.bot)
    posts.delete(workspace, message)
    heard = events(workspace, "ann", before)
    assert [kind for kind, _ in heard] == ["message", "message", "gone"]
    assert all(data["message"]["is_ephemeral"] for _, data in heard[:2])
    assert events(workspace, "ben", before) == []


def test_a_deleted_message_is_gone_and_a_deleted_parent_stays_as_a_tombstone(
    workspace: Workspace,
    ann: Person,
) -> None:
    parent = ann.post("help", "question")
    other = ann.post("help", "other")
    ann.post("help", "reply", thread_ts=parent.ts)
    before = last_id(workspace)
    ann.delete(parent)
    ann.delete(other)
    (kind, data), (other_kind, gone) = events(workspace, "ben", before)
    assert (kind, data["message"]["subtype"]) == ("message", "tombstone")
    assert (other_kind, gone["ts"]) == ("gone", other.ts)


def test_a_modal_and_its_closing_are_sent_to_its_user(workspace: Workspace, ann: Person) -> None:
    before = last_id(workspace)
    view = views.open_modal(workspace, ann.id, MODAL)
    [(kind, data)] = events(workspace, "ann", before)
    assert (kind, data["id"], data["errors"]) == ("view", view.id, {})
    assert events(workspace, "ben", before) == []
    before = last_id(workspace)
    ann.close()
    assert events(workspace, "ann", before) == [("view", None)]


def test_joining_and_leaving_change_what_is_seen(
    workspace: Workspace, ann: Person, cat: Person
) -> None:
    before = last_id(workspace)
    ann.invite("secret", "ben")
    [(kind, channel), (other_kind, notice)] = events(workspace, "ben", before)
    assert (kind, channel["name"], channel["is_member"]) == ("channel", "secret", True)
    assert (other_kind, notice["message"]["subtype"]) == ("message", "channel_join")
    before = last_id(workspace)
    cat.leave("secret")
    assert events(workspace, "cat", before) == [
        ("unseen", {"channel": workspace.channel("secret").id})
    ]


def test_a_direct_message_of_the_app_opens_a_channel_on_the_page(
    workspace: Workspace, ann: Person
) -> None:
    before = last_id(workspace)
    posts.post(workspace, workspace.im(ann.id), workspace.bot, Content("hello"))
    assert [kind for kind, _ in events(workspace, "ann", before)] == ["channel", "message"]
    assert events(workspace, "ben", before) == []


def test_a_new_person_is_sent_before_their_first_message(workspace: Workspace) -> None:
    before = last_id(workspace)
    dan = workspace.add_user("dan")
    [(kind, user)] = events(workspace, "ann", before)
    assert (kind, user["id"], user["name"]) == ("user", dan.id, "dan")


def test_a_snapshot_holds_what_that_person_sees(ann: Person, ben: Person) -> None:
    ann.post("secret", "hush")
    snapshot = to_snapshot(ben)
    assert [channel["name"] for channel in snapshot["channels"]] == ["help", "random"]
    assert snapshot["me"]["name"] == "ben"
    assert [shortcut["name"] for shortcut in snapshot["app"]["shortcuts"]] == ["Echo this", "Echo"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"token": "abc", "text": "a"}, {"token": "•••", "text": "a"}),
        ("Bearer xoxb-1-AB_c", "Bearer xoxb-•••"),
        (
            ["ws://127.0.0.1:1/link/?ticket=a-b_c&app_id=A1"],
            ["ws://127.0.0.1:1/link/?ticket=•••&app_id=A1"],
        ),
        ("http://127.0.0.1:1/actions/s3-cr_et", "http://127.0.0.1:1/actions/•••"),
        ("http://127.0.0.1:1/upload/v1/s3-cr_et", "http://127.0.0.1:1/upload/v1/•••"),
        ("a token of love", "a token of love"),
    ],
)
def test_secrets_are_masked(value: Any, shown: Any) -> None:
    assert masked(value) == shown


def frames(parts: list[str]) -> list[tuple[str, str, Any]]:
    """The id, event and data of each server-sent event."""
    found = []
    for part in "".join(parts).strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in part.splitlines())
        found.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return found


def test_a_page_that_reconnects_gets_what_it_missed_and_nothing_twice(
    workspace: Workspace, ann: Person
) -> None:
    stream = Stream(workspace)
    [(seen, kind, _)] = frames(list(stream.catch_up(ann, "")))
    assert kind == "snapshot"
    ann.post("help", "one")
    ann.post("help", "two")
    missed = frames(list(stream.catch_up(ann, seen)))
    assert [data["message"]["text"] for _, _, data in missed] == ["one", "two"]
    assert [
        data["message"]["text"] for _, _, data in frames(list(stream.catch_up(ann, missed[0][0])))
    ] == ["two"]
    assert list(stream.catch_up(ann, missed[1][0])) == []


@pytest.mark.parametrize("last_event_id", ["other-3", "nonsense", "-1"])
def test_a_page_of_another_run_starts_with_a_snapshot(
    workspace: Workspace, ann: Person, last_event_id: str
) -> None:
    [(_, kind, _)] = frames(list(Stream(workspace).catch_up(ann, last_event_id)))
    assert kind == "snapshot"


def test_a_page_that_missed_more_than_is_kept_starts_with_a_snapshot(
    workspace: Workspace, ann: Person
) -> None:
    stream = Stream(workspace)
    [(seen, _, _)] = frames(list(stream.catch_up(ann, "")))
    workspace.journal.entries = deque(workspace.journal.entries, maxlen=9)
    for _ in range(9):
        workspace.journal.record("fault", sockets="none")
    assert frames(list(stream.catch_up(ann, seen)))[0][1] == "entry"
    workspace.journal.record("fault", sockets="none")
    assert frames(list(stream.catch_up(ann, seen)))[0][1] == "snapshot"


async def lines(response: aiohttp.ClientResponse) -> AsyncIterator[str]:
    async for line in response.content:
        yield line.decode().strip()


async def test_changes_arrive_over_http_as_they_happen(slack: Sandbox) -> None:
    async with (
        aiohttp.ClientSession(slack.url) as http,
        http.get("/sandbox/stream?as=ann") as response,
    ):
        assert response.content_type == "text/event-stream"
        heard = lines(response)
        assert [line async for line in _until(heard, "event: snapshot")]
        slack.person("ben").post("help", "news")
        assert [line async for line in _until(heard, "event: message")]


async def test_an_unknown_person_cannot_be_followed(slack: Sandbox) -> None:
    async with (
        aiohttp.ClientSession(slack.url) as http,
        http.get("/sandbox/stream?as=zoe") as response,
    ):
        assert response.status == 400
        assert "no user 'zoe'" in (await response.json())["error"]


async def _until(heard: AsyncIterator[str], wanted: str) -> AsyncIterator[str]:
    async for line in heard:
        yield line
        if line == wanted:
            return
