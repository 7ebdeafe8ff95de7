"""Assistants and agents: a Bolt app as in Slack's assistant templates, and the rules of the methods
and events.
"""

from typing import Any

import pytest
from slack_bolt.middleware.assistant.async_assistant import AsyncAssistant
from slack_sdk.models.messages.chunk import MarkdownTextChunk, TaskUpdateChunk

from pocket_slack import Limits, ManualClock, Person, Sandbox, SandboxError, Workspace
from sandbox.tests.conftest import UNHURRIED, Wire, connected_app, populated

PROMPTS = [
    {"title": "Think", "message": "Wonder a few deep thoughts."},
    {"title": "Write", "message": "Write notes."},
]


def manifest(view: str, scopes: str, events: str, prompts: Any = ()) -> dict[str, Any]:
    """Like those of Slack's assistant templates."""
    tabs = {
        "home_tab_enabled": False,
        "messages_tab_enabled": True,
        "messages_tab_read_only_enabled": False,
    }
    return {
        "display_information": {"name": "Bolt AI Agent"},
        "features": {
            "app_home": tabs,
            f"{view}_view": {f"{view}_description": "Hi.", "suggested_prompts": [*prompts]},
        },
        "oauth_config": {"scopes": {"bot": scopes.split()}},
        "settings": {
            "event_subscriptions": {"bot_events": events.split()},
            "socket_mode_enabled": True,
        },
    }


SCOPES = "app_mentions:read assistant:write chat:write im:history"
EVENTS = "app_mention assistant_thread_context_changed assistant_thread_started message.im"
MANIFEST = manifest("assistant", SCOPES, EVENTS)
AGENT = manifest("agent", SCOPES, "app_context_changed app_home_opened message.im", PROMPTS[:1])


@pytest.fixture
def workspace(request: Any, clock: ManualClock) -> Workspace:
    return populated(
        Workspace(getattr(request, "param", MANIFEST), clock=clock, limits=Limits.off())
    )


async def test_an_app_like_slacks_templates_runs_with_bolts_own_store() -> None:
    async with (
        Sandbox(populated(Workspace(MANIFEST, limits=UNHURRIED))) as slack,
        connected_app(slack) as app,
    ):
        assistant = AsyncAssistant()
        known = []

        @assistant.thread_started
        async def started(say, set_suggested_prompts, get_thread_context) -> None:
            known.append((await get_thread_context())["channel_id"])
            await say("What would you like to do today?")
            await set_suggested_prompts(prompts=PROMPTS)

        @assistant.user_message
        async def message(
            client, context, payload, set_title, set_status, get_thread_context
        ) -> None:
            known.append((await get_thread_context())["channel_id"])
            await set_title(payload["text"])
            await set_status(
                status="thinking...", loading_messages=["Untangling the internet cables…"]
            )
            channel = payload["channel"]
            ts = payload["thread_ts"]
            to = {"recipient_team_id": context.team_id, "recipient_user_id": context.user_id}
            streamer = await client.chat_stream(channel=channel, thread_ts=ts, **to)
            replies = await client.conversations_replies(channel=channel, ts=ts, oldest=ts)
            known.append([each["text"] for each in replies["messages"]])
            task = TaskUpdateChunk(id="1", title="Think", status="in_progress")
            await streamer.append(chunks=[MarkdownTextChunk(text="Hello."), task])
            await streamer.stop(chunks=[TaskUpdateChunk(id="1", title="Think", status="complete")])

        app.use(assistant)
        ann = slack.person("ann")
        (help_, random) = map(slack.workspace.channel, ("help", "random"))
        root = ann.open_assistant(looking_at="help")
        await slack.until(lambda: ann.assistant(root.ts).prompts == PROMPTS)
        ann.look_at("random")
        hello = ann.thread(ann.im, root.ts)[1]
        await slack.until(
            lambda: (hello.metadata or {})["event_payload"]["channel_id"] == random.id
        )
        ann.post(ann.im, PROMPTS[0]["message"], root.ts)
        await slack.until(lambda: ann.thread(ann.im, root.ts)[-1].streaming_state == "completed")
        said = ["New Assistant Thread", "What would you like to do today?", PROMPTS[0]["message"]]
        assert known == [help_.id, random.id, said]
        assert [each.text for each in ann.thread(ann.im, root.ts)] == [*said, "Hello. Think"]
        thread = ann.assistant(root.ts)
        assert (thread.title, thread.status) == (PROMPTS[0]["message"], "")


def test_the_context_is_the_channel_that_the_person_looks_at(
    workspace: Workspace, ann: Person, wire: Wire
) -> None:
    with pytest.raises(SandboxError, match="no assistant open"):
        ann.look_at("help")
    root = ann.open_assistant("help")
    ann.look_at("help")
    ann.look_at("random")
    ann.open_assistant()
    events = [envelope["payload"]["event"] for envelope in wire.sent]
    started, changed, other = (event["assistant_thread"] for event in events)
    assert [event["type"][17:] for event in events] == ["started", "context_changed", "started"]
    help_, random = (workspace.channel(name).id for name in ("help", "random"))
    context = {"channel_id": help_, "team_id": workspace.team_id, "enterprise_id": None}
    assert started == {
        "user_id": ann.id,
        "channel_id": ann.im,
        "thread_ts": root.ts,
        "context": context,
    }
    assert changed == started | {"context": context | {"channel_id": random}}
    assert other["context"] == {}


def test_prompts_are_for_the_newest_thread_and_a_title_changes_its_root(
    workspace: Workspace, ann: Person, wire: Wire, call: Any
) -> None:
    root = ann.open_assistant()
    call("assistant.threads.setSuggestedPrompts", channel_id=root.channel_id, prompts=PROMPTS)
    assert ann.assistant(root.ts).prompts == PROMPTS
    call(
        "assistant.threads.setTitle",
        channel_id=root.channel_id,
        thread_ts=root.ts,
        title="Holidays this year",
    )
    event = wire.sent[-1]["payload"]["event"]
    now = event["message"]
    before = event["previous_message"]
    assert (event["subtype"], now["subtype"], now["user"]) == (
        "message_changed",
        before["subtype"],
        workspace.bot.id,
    )
    assert now["assistant_app_thread"] == {
        "title": "Holidays this year",
        "title_blocks": [],
        "artifacts": [],
    }
    assert (before["assistant_app_thread"]["title"], before["text"]) == (
        "New Assistant Thread",
        now["text"],
    )


def test_a_status_goes_with_the_reply_with_an_empty_one_and_after_two_minutes(
    ann: Person, clock: ManualClock, call: Any
) -> None:
    root = ann.open_assistant()

    def now(status: str | None = None) -> tuple[str, str]:
        if status is not None:
            call("assistant.threads.setStatus", channel_id=ann.im, thread_ts=root.ts, status=status)
        return ann.assistant(root.ts).status, (root.agent_session or {})["status"]

    assert now("is thinking...") == ("is thinking...", "processing")
    ann.post(ann.im, "Well?", root.ts)
    assert now() == ("is thinking...", "processing")
    call("chat.postMessage", channel=ann.im, thread_ts=root.ts, text="Yes.")
    assert now() == ("", "active")
    assert [now("is typing..."), now("")] == [("is typing...", "processing"), ("", "active")]
    now("is lost...")
    clock.advance(119)
    assert now() == ("is lost...", "processing")
    clock.advance(1)
    assert now() == ("", "active")


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("setStatus", {"channel_id": "C0"}, "channel_not_found"),
        ("setStatus", {"thread_ts": "1.2"}, "invalid_thread_ts"),
        ("setStatus", {"thread_ts": "reply"}, "invalid_thread_ts"),
        ("setStatus", {"channel_id": "random"}, "no_permission"),
        ("setStatus", {"loading_messages": ["."] * 11}, "invalid_arguments"),
        ("setSuggestedPrompts", {"prompts": PROMPTS * 3}, "invalid_arguments"),
        ("setSuggestedPrompts", {"prompts": [{"title": "Think"}]}, "invalid_arguments"),
    ],
)
def test_what_the_methods_refuse(
    workspace: Workspace, ann: Person, call: Any, refused: Any, method: str, args: Any, error: str
) -> None:
    root = ann.open_assistant()
    names = {"reply": ann.post(ann.im, "hi", root.ts).ts, "random": workspace.channel("random").id}
    good = {
        "channel_id": ann.im,
        "thread_ts": root.ts,
        "status": "is here",
        "title": "x",
        "prompts": PROMPTS,
    }
    call(f"assistant.threads.{method}", **good)
    wrong = {key: names.get(str(value), value) for key, value in args.items()}
    assert refused(f"assistant.threads.{method}", **good | wrong).code == error


@pytest.mark.parametrize("workspace", [manifest("assistant", "chat:write", "")], indirect=True)
def test_a_status_needs_only_chat_write(ann: Person, call: Any, refused: Any) -> None:
    root = ann.open_assistant()
    place = {"channel_id": root.channel_id, "thread_ts": root.ts}
    assert call("assistant.threads.setStatus", **place, status="") == {"ok": True}
    assert (
        refused("assistant.threads.setTitle", **place, title="x").extra["needed"]
        == "assistant:write"
    )


@pytest.mark.parametrize("workspace", [AGENT], indirect=True)
def test_an_agent_has_its_prompts_at_the_top_of_its_messages_tab(
    workspace: Workspace, ann: Person, call: Any, wire: Wire
) -> None:
    with pytest.raises(SandboxError, match="an agent has open_messages"):
        ann.open_assistant()
    ann.open_messages()
    ts = ann.post(ann.im, "hi").ts
    for _ in range(2):
        ann.look_at("random")
    opened, message, looked = (envelope["payload"]["event"] for envelope in wire.sent)
    seen = {
        "type": "slack#/types/channel_id",
        "value": workspace.channel("random").id,
        "team_id": workspace.team_id,
    }
    assert looked == {"type": "app_context_changed", "context": {"entities": [seen]}}
    assert (opened["type"], opened["tab"], message["type"]) == (
        "app_home_opened",
        "messages",
        "message",
    )
    place = {"channel_id": ann.im, "prompts": PROMPTS}
    call(
        "assistant.threads.setSuggestedPrompts", **place, thread_ts=ts
    )  # "will cause the call to silently fail"
    assert (ann.assistant().prompts, ann.assistant(ts).prompts) == (PROMPTS[:1], [])
    call("assistant.threads.setSuggestedPrompts", **place)
    assert ann.assistant().prompts == PROMPTS
