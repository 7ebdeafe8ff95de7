"""Messages that are streamed piece by piece: what the app, the reader and others see."""

from typing import Any

import aiohttp
import pytest

from pocket_slack import (
    ManualClock,
    Message,
    Person,
    Sandbox,
    SandboxError,
    Workspace,
)
from pocket_slack.state import to_state
from pocket_slack.stream import to_events
from pocket_slack.text import to_mrkdwn
from sandbox.tests.conftest import Wire, heard

Call = Any
Refused = Any
PIECE = [{"type": "markdown_text", "text": "x"}]


def asked(workspace: Workspace) -> Message:
    return Person(workspace, "ann").post("help", "why?")


@pytest.fixture
def begun(workspace: Workspace, call: Call) -> dict[str, Any]:
    """The arguments that identify a stream of the app, started with markdown for ann."""
    parent = asked(workspace)
    channel = workspace.channel("help").id
    reader = {"recipient_user_id": parent.author.id, "recipient_team_id": workspace.team_id}
    begun = call(
        "chat.startStream", channel=channel, thread_ts=parent.ts, markdown_text="Beca", **reader
    )
    return {"channel": channel, "ts": begun["ts"]}


def test_the_app_gets_the_first_piece_and_then_the_whole_message(
    workspace: Workspace, helper: Person, wire: Wire
) -> None:
    parent = asked(workspace)
    message = helper.stream("help", thread_ts=parent.ts)
    for piece in ("Be", "cau", "se"):
        helper.append(message, piece)
    assert message.text == ""
    helper.stop(message, ".")
    of_stream = [
        event for event in heard(wire) if (event.get("message") or event)["ts"] == message.ts
    ]
    begun, ended = of_stream
    assert "subtype" not in begun
    assert (begun["text"], begun["streaming_state"], begun["thread_ts"]) == (
        "",
        "in_progress",
        parent.ts,
    )
    assert (begun["bot_id"], begun["app_id"]) == (helper.user.bot_id, helper.user.app_id)
    assert (ended["subtype"], ended["hidden"]) == ("message_changed", True)
    assert (ended["message"]["text"], ended["message"]["streaming_state"]) == (
        "Because.",
        "completed",
    )
    assert (ended["previous_message"]["text"], ended["previous_message"]["streaming_state"]) == (
        "",
        "in_progress",
    )
    assert "edited" not in ended["message"]


def test_the_parents_session_changes_but_not_its_text_while_a_bot_streams(
    workspace: Workspace, helper: Person, wire: Wire
) -> None:
    parent = asked(workspace)
    helper.stop(helper.stream("help", "Because.", parent.ts))
    changes = [event for event in heard(wire) if event.get("message", {}).get("ts") == parent.ts]
    assert [change["message"]["agent_session"]["status"] for change in changes] == [
        "processing",
        "active",
    ]
    for change in changes:
        assert change["message"]["text"] == change["previous_message"]["text"] == "why?"
        assert "edited" not in change["message"]


def test_history_and_thread_show_what_others_see(
    workspace: Workspace, help_id: str, helper: Person, call: Call
) -> None:
    parent = asked(workspace)
    message = helper.stream("help", "Beca", parent.ts)
    helper.append(message, "use.")

    def read() -> tuple[str, str]:
        found = call("conversations.replies", channel=help_id, ts=parent.ts)["messages"][1]
        return found["text"], found["streaming_state"]

    assert read() == ("Beca", "in_progress")
    assert (
        call("conversations.history", channel=help_id)["messages"][0]["latest_reply"] == message.ts
    )
    helper.stop(message)
    assert read() == ("Because.", "completed")


def test_only_the_reader_sees_each_piece_on_the_page(workspace: Workspace, helper: Person) -> None:
    parent = asked(workspace)
    message = helper.stream("help", "Beca", parent.ts)
    before = workspace.journal.entries[-1].id
    helper.append(message, "use")
    [entry] = [entry for entry in workspace.journal.entries if entry.id > before]
    for name, text, news in (("ann", "Because", ["Because"]), ("ben", "Beca", [])):
        person = Person(workspace, name)
        [channel] = [each for each in to_state(person)["channels"] if each["name"] == "help"]
        assert channel["messages"][-1]["text"] == text
        assert [data["message"]["text"] for _, data in to_events(person, entry)] == news
        assert not any("is_ephemeral" in data["message"] for _, data in to_events(person, entry))


def test_an_interrupted_stream_is_errored(workspace: Workspace, helper: Person, wire: Wire) -> None:
    parent = asked(workspace)
    message = helper.stream("help", "Beca", parent.ts)
    helper.stop(message, is_errored=True)
    [ended] = [event for event in heard(wire) if event.get("message", {}).get("ts") == message.ts]
    assert (ended["message"]["streaming_state"], ended["message"]["text"]) == ("errored", "Beca")


def test_a_stream_lasts_five_minutes_however_often_it_is_appended_to(
    workspace: Workspace, clock: ManualClock, begun: dict[str, Any], call: Call, refused: Refused
) -> None:
    clock.advance(299)
    call("chat.appendStream", **begun, markdown_text="use")
    clock.advance(1)
    message = workspace.channel("help").messages[begun["ts"]]
    assert (message.streaming_state, message.text) == ("errored", "Because")
    for method in ("chat.appendStream", "chat.stopStream"):
        assert refused(method, **begun, markdown_text=".").code == "message_not_in_streaming_state"


def test_the_end_of_a_stream_can_add_blocks_and_metadata(begun: dict[str, Any], call: Call) -> None:
    metadata = {"event_type": "case", "event_payload": {"id": 7}}
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "words"}}
    assert call("chat.appendStream", **begun, markdown_text="use") == {"ok": True, **begun}
    answer = call(
        "chat.stopStream", **begun, markdown_text=".", blocks=[section], metadata=metadata
    )
    message = answer["message"]
    assert (message["text"], message["streaming_state"], message["metadata"]) == (
        "Because.",
        "completed",
        metadata,
    )
    assert [block["type"] for block in message["blocks"]] == ["rich_text", "section"]


def test_an_open_stream_is_neither_updated_nor_deleted(
    workspace: Workspace, begun: dict[str, Any], call: Call, refused: Refused
) -> None:
    assert refused("chat.update", **begun, text="x").code == "streaming_state_conflict"
    assert refused("chat.delete", **begun).code == "cant_delete_message"
    bot = Person(workspace, "echo")
    message = workspace.channel("help").messages[begun["ts"]]
    for change in (lambda: bot.edit(message, "x"), lambda: bot.delete(message)):
        with pytest.raises(SandboxError, match="being streamed"):
            change()
    call("chat.stopStream", **begun)
    assert call("chat.update", **begun, text="x")["message"]["text"] == "x"
    assert call("chat.delete", **begun)["ok"]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"thread_ts": "0"}, "invalid_thread_ts"),
        ({"recipient_user_id": None}, "missing_recipient_user_id"),
        ({"recipient_team_id": None}, "missing_recipient_team_id"),
        ({"recipient_user_id": "U0"}, "user_not_found"),
        ({"task_display_mode": "pretty"}, "invalid_arguments"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"chunks": "["}, "invalid_chunks"),
        ({"chunks": [{"type": "plan_update", "title": "x" * 257}]}, "invalid_chunks"),
        ({"chunks": [{"type": "blocks", "blocks": [{"type": "nonsense"}]}]}, "invalid_chunks"),
        ({"markdown_text": "x", "chunks": PIECE}, "cannot_provide_both_markdown_text_and_chunks"),
        ({"channel": "secret"}, "channel_not_found"),
    ],
)  # fmt: skip
def test_an_invalid_stream_is_refused(
    workspace: Workspace, refused: Refused, args: dict[str, Any], error: str
) -> None:
    parent = asked(workspace)
    usual = {
        "thread_ts": parent.ts,
        "recipient_user_id": parent.author.id,
        "recipient_team_id": workspace.team_id,
    }
    channel = workspace.channel(args.get("channel", "help")).id
    assert refused("chat.startStream", **(usual | args | {"channel": channel})).code == error
    assert parent.agent_session is None


def test_in_a_direct_message_the_other_person_is_the_reader(ann: Person, call: Call) -> None:
    parent = ann.post(ann.im, "why?")
    ts = call("chat.startStream", channel=ann.im, thread_ts=parent.ts, markdown_text="Be")["ts"]
    call("chat.appendStream", channel=ann.im, ts=ts, markdown_text="cause")
    [channel] = [each for each in to_state(ann)["channels"] if each["id"] == ann.im]
    assert channel["messages"][-1]["text"] == "Because"


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("chat.appendStream", {}, "markdown_text_or_chunks_required"),
        ("chat.appendStream", {"chunks": PIECE}, "streaming_mode_mismatch"),
        ("chat.stopStream", {"blocks": [{"type": "nonsense"}]}, "invalid_blocks"),
        ("chat.stopStream", {"metadata": {"event_type": "t"}}, "invalid_metadata_schema"),
        ("chat.stopStream", {"ts": "1.0"}, "message_not_found"),
    ],
)
def test_an_invalid_piece_is_refused_and_the_stream_goes_on(
    workspace: Workspace,
    begun: dict[str, Any],
    refused: Refused,
    method: str,
    args: dict[str, Any],
    error: str,
) -> None:
    assert refused(method, **(begun | args)).code == error
    assert workspace.channel("help").messages[begun["ts"]].streaming_state == "in_progress"


def test_only_ones_own_open_streams_can_be_appended_to(
    workspace: Workspace, help_id: str, helper: Person, call: Call, refused: Refused
) -> None:
    parent = asked(workspace)
    theirs = helper.stream("help", "Be", parent.ts)
    for method in ("chat.appendStream", "chat.stopStream"):
        assert (
            refused(method, channel=help_id, ts=theirs.ts, markdown_text="x").code
            == "message_not_owned_by_app"
        )
    posted = call("chat.postMessage", channel=help_id, text="x")["ts"]
    error = refused("chat.appendStream", channel=help_id, ts=posted, markdown_text="x")
    assert error.code == "message_not_in_streaming_state"


def test_tasks_become_cards_that_later_chunks_update(
    workspace: Workspace, help_id: str, call: Call
) -> None:
    parent = asked(workspace)
    reader = {"recipient_user_id": parent.author.id, "recipient_team_id": workspace.team_id}
    ts = call("chat.startStream", channel=help_id, thread_ts=parent.ts, **reader)["ts"]

    def task(status: str, **more: str) -> dict[str, Any]:
        return {
            "type": "task_update",
            "id": "1",
            "title": f"Look up: {status}",
            "status": status,
            **more,
        }

    pieces = (
        [task("in_progress", details="one, "), {"type": "markdown_text", "text": "Be"}],
        [
            {"type": "markdown_text", "text": "cause"},
            task("complete", details="two", output="done"),
        ],
    )
    for chunks in pieces:
        call("chat.appendStream", channel=help_id, ts=ts, chunks=chunks)
    message = call("chat.stopStream", channel=help_id, ts=ts)["message"]
    card, text = message["blocks"]
    assert (card["type"], card["task_id"], card["status"]) == ("task_card", "1", "complete")
    assert card["details"]["elements"][0]["elements"] == [{"type": "text", "text": "one, two"}]
    assert text["elements"][0]["elements"] == [{"type": "text", "text": "Because"}]
    assert message["text"] == "Because Look up: complete"


def test_a_plan_holds_the_tasks(workspace: Workspace, help_id: str, call: Call) -> None:
    parent = asked(workspace)
    reader = {"recipient_user_id": parent.author.id, "recipient_team_id": workspace.team_id}
    chunks = [
        {"type": "plan_update", "title": "Thinking"},
        {"type": "task_update", "id": "1", "title": "Look up", "status": "complete"},
        {"type": "plan_update", "title": "Thought"},
        {"type": "blocks", "blocks": [{"type": "divider"}]},
    ]
    ts = call("chat.startStream", channel=help_id, thread_ts=parent.ts, chunks=chunks, **reader)[
        "ts"
    ]
    plan, divider = call("chat.stopStream", channel=help_id, ts=ts)["message"]["blocks"]
    assert (plan["type"], plan["title"], [card["title"] for card in plan["tasks"]]) == (
        "plan",
        "Thought",
        ["Look up"],
    )
    assert divider["type"] == "divider"


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("**bold** and *italic*", "*bold* and *italic*"),
        ("## Heading\ntext", "Heading\ntext"),
        ("- one\n  * two", "• one\n  • two"),
        ("[docs](https://example.com/a)", "<https://example.com/a|docs>"),
        (
            "`**code**` and\n```\n- [x](https://y)\n```",
            "`**code**` and\n```\n- [x](https://y)\n```",
        ),
    ],
)
def test_markdown_is_converted_to_mrkdwn(markdown: str, mrkdwn: str) -> None:
    assert to_mrkdwn(markdown) == mrkdwn


def test_a_finished_stream_has_rich_text(workspace: Workspace, helper: Person) -> None:
    parent = asked(workspace)
    message = helper.stream(
        "help", f"**Ask** <@{parent.author.id}> or [read](https://example.com)", parent.ts
    )
    helper.stop(message)
    assert message.text == f"*Ask* <@{parent.author.id}> or <https://example.com|read>"
    assert message.blocks[0]["elements"][0]["elements"] == [
        {"type": "text", "text": "Ask", "style": {"bold": True}},
        {"type": "text", "text": " "},
        {"type": "user", "user_id": parent.author.id},
        {"type": "text", "text": " or "},
        {"type": "link", "url": "https://example.com", "text": "read"},
    ]


def test_only_bots_stream_and_only_into_threads(
    workspace: Workspace, ann: Person, helper: Person
) -> None:
    parent = asked(workspace)
    with pytest.raises(SandboxError, match="only bots stream"):
        ann.stream("help", "Be", parent.ts)
    with pytest.raises(SandboxError, match="a stream is a reply"):
        helper.stream("help", "Be")
    message = helper.stream("help", "Be", parent.ts)
    helper.stop(message)
    with pytest.raises(SandboxError, match="has ended"):
        helper.append(message, "cause")


async def test_a_bot_can_stream_over_http(slack: Sandbox) -> None:
    parent = slack.person("ann").post("help", "why?")
    async with aiohttp.ClientSession(f"{slack.url}/sandbox/people/helper/") as session:
        async with session.post(
            "stream", json={"channel": "help", "text": "Be", "thread_ts": parent.ts}
        ) as answer:
            place = {"channel": "help", "ts": (await answer.json())["ts"]}
        async with session.post("append", json={**place, "text": "cause"}) as answer:
            assert (await answer.json()) == {}
        async with session.post("stop", json={**place, "text": "."}) as answer:
            assert answer.status == 200
    assert slack.person("ben").thread("help", parent.ts)[1].text == "Because."
