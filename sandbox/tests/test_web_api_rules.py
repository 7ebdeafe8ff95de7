"""What the Web API accepts, answers and refuses."""

from base64 import b64decode
from typing import Any

import pytest

from pocket_slack import Limits, ManualClock, Person, SlackError, Workspace, methods

Call = Any
Refused = Any
SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "words"}}


def channel_id(workspace: Workspace, name: str) -> str:
    return workspace.channel(name).id


@pytest.mark.parametrize(
    ("token", "error"),
    [
        (None, "not_authed"),
        ("", "not_authed"),
        ("xoxb-other", "invalid_auth"),
        ("app", "not_allowed_token_type"),
    ],
)
def test_each_kind_of_wrong_token_has_its_own_error(
    workspace: Workspace, token: str | None, error: str
) -> None:
    with pytest.raises(SlackError) as caught:
        methods.call(workspace, "auth.test", workspace.app_token if token == "app" else token, {})
    assert caught.value.code == error


def test_socket_mode_accepts_only_the_app_level_token(
    workspace: Workspace, refused: Refused
) -> None:
    assert refused("apps.connections.open").code == "not_allowed_token_type"
    url = methods.call(workspace, "apps.connections.open", workspace.app_token, {})["url"]
    assert url.startswith("ws://127.0.0.1")


def test_an_unknown_method_is_named(refused: Refused) -> None:
    answer = refused("chat.postMassage").body()
    assert answer == {"ok": False, "error": "unknown_method", "req_method": "chat.postMassage"}


def test_a_missing_scope_says_what_is_needed_and_what_is_there(clock: ManualClock) -> None:
    workspace = Workspace(
        {"oauth_config": {"scopes": {"bot": ["commands", "chat:write"]}}}, clock=clock
    )
    workspace.add_channel("help", [workspace.bot])
    with pytest.raises(SlackError) as caught:
        methods.call(workspace, "users.info", workspace.bot_token, {"user": workspace.bot.id})
    assert caught.value.body() == {
        "ok": False,
        "error": "missing_scope",
        "needed": "users:read",
        "provided": "chat:write,commands",
    }


def test_a_video_needs_its_scope(help_id: str, refused: Refused) -> None:
    video = {
        "type": "video",
        "title": {"type": "plain_text", "text": "A film"},
        "alt_text": "a film",
    }
    video |= {
        "video_url": "https://example.com/film",
        "thumbnail_url": "https://example.com/film.png",
    }
    error = refused("chat.postMessage", channel=help_id, blocks=[video])
    assert (error.code, error.extra["needed"]) == ("missing_scope", "links.embed:write")


def test_history_needs_the_scope_of_the_kind_of_channel(clock: ManualClock) -> None:
    workspace = Workspace({"oauth_config": {"scopes": {"bot": ["channels:history"]}}}, clock=clock)
    secret = workspace.add_channel("secret", [workspace.bot], is_private=True)
    with pytest.raises(SlackError) as caught:
        methods.call(
            workspace, "conversations.history", workspace.bot_token, {"channel": secret.id}
        )
    assert caught.value.extra["needed"] == "groups:history"


def test_auth_test_tells_who_the_bot_is(workspace: Workspace, call: Call) -> None:
    answer = call("auth.test")
    assert answer["user_id"] == workspace.bot.id
    assert answer["bot_id"] == workspace.bot.bot_id
    assert answer["url"] == "https://pocket.slack.com/"


def test_the_answer_to_a_post_has_the_message_as_it_is_stored(
    workspace: Workspace, help_id: str, call: Call
) -> None:
    answer = call("chat.postMessage", channel=help_id, text="a & b", blocks=[SECTION])
    message = answer["message"]
    assert message["text"] == "a &amp; b"
    assert message["bot_id"] == workspace.bot.bot_id
    assert message["blocks"][0]["text"]["verbatim"] is False
    assert message["blocks"][0]["block_id"]


def test_chat_write_public_opens_public_channels(clock: ManualClock) -> None:
    workspace = Workspace(
        {"oauth_config": {"scopes": {"bot": ["chat:write", "chat:write.public"]}}}, clock=clock
    )
    random = workspace.add_channel("random")
    assert methods.call(
        workspace, "chat.postMessage", workspace.bot_token, {"channel": random.id, "text": "hi"}
    )["ok"]


def test_a_post_to_a_user_id_is_a_direct_message(ann: Person, call: Call) -> None:
    answer = call("chat.postMessage", channel=ann.id, text="psst")
    assert answer["channel"] == ann.im
    assert [message.text for message in ann.messages(ann.im)] == ["psst"]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({}, "no_text"),
        ({"text": ""}, "no_text"),
        ({"blocks": [], "text": ""}, "no_text"),
        ({"blocks": "{"}, "invalid_blocks_format"),
        ({"text": "x", "metadata": {"event_type": "t"}}, "invalid_metadata_schema"),
        ({"text": "x", "metadata": "["}, "invalid_metadata_format"),
        (
            {"text": "x", "metadata": {"event_type": "t", "event_payload": {"x": "y" * 16_000}}},
            "metadata_too_large",
        ),
        ({"text": "x", "markdown_text": "*y*"}, "markdown_text_conflict"),
        ({"text": "x", "attachments": [{}] * 101}, "too_many_attachments"),
        ({"text": "x", "channel": "random"}, "not_in_channel"),
        ({"text": "x", "channel": "secret"}, "channel_not_found"),
        ({"text": "x", "channel": "old"}, "is_archived"),
        ({"text": "x", "channel": None}, "invalid_arguments"),
    ],
)
def test_an_invalid_post_is_refused(
    workspace: Workspace, refused: Refused, args: dict[str, Any], error: str
) -> None:
    workspace.add_channel("old", [workspace.bot]).is_archived = True
    name = args.get("channel", "help")
    place = {"channel": name and channel_id(workspace, name)}
    assert refused("chat.postMessage", **args | place).code == error


def test_a_very_long_post_is_cut_and_a_very_long_update_is_refused(
    help_id: str, call: Call, refused: Refused
) -> None:
    answer = call("chat.postMessage", channel=help_id, text="x" * 40_001)
    assert len(answer["message"]["text"]) == 40_000
    assert answer["warning"] == "message_truncated"
    assert (
        refused("chat.update", channel=help_id, ts=answer["ts"], text="x" * 4_001).code
        == "msg_too_long"
    )


def test_update_with_only_text_replaces_blocks_and_keeps_metadata(help_id: str, call: Call) -> None:
    metadata = {"event_type": "case", "event_payload": {"id": 7}}
    ts = call("chat.postMessage", channel=help_id, text="x", blocks=[SECTION], metadata=metadata)[
        "ts"
    ]
    text = "> a &lt; _b_\n<!channel> <#C1|x> <!date^7^{time}|at 7> <@U1> `&amp;`"
    answer = call("chat.update", channel=help_id, ts=ts, text=text)
    (rich,) = answer["message"]["blocks"]
    quote, said = (each["elements"] for each in rich["elements"])
    assert [each["text"] for each in quote] == ["a < ", "b"]
    types = [each["type"] for each in said if each.get("text") != " "]
    assert types == ["broadcast", "channel", "text", "user", "text"]
    assert said[-1] == {"type": "text", "text": "&", "style": {"code": True}}
    assert answer["message"]["metadata"] == metadata


def test_the_bot_changes_only_its_own_messages(help_id: str, ann: Person, refused: Refused) -> None:
    message = ann.post("help", "mine")
    assert (
        refused("chat.update", channel=help_id, ts=message.ts, text="y").code
        == "cant_update_message"
    )
    assert refused("chat.delete", channel=help_id, ts=message.ts).code == "cant_delete_message"
    assert refused("chat.update", channel=help_id, ts="1.0", text="y").code == "message_not_found"


def test_an_ephemeral_is_for_one_member_only(
    help_id: str, ann: Person, ben: Person, cat: Person, call: Call, refused: Refused
) -> None:
    answer = call("chat.postEphemeral", channel=help_id, user=ann.id, text="only you")
    assert [message.ts for message in ann.ephemerals("help")] == [answer["message_ts"]]
    assert ben.ephemerals("help") == []
    assert ann.messages("help") == []
    assert (
        refused("chat.postEphemeral", channel=help_id, user=cat.id, text="x").code
        == "user_not_in_channel"
    )
    assert (
        refused("chat.update", channel=help_id, ts=answer["message_ts"], text="y").code
        == "message_not_found"
    )


def test_a_permalink_leads_into_the_thread(help_id: str, ann: Person, call: Call) -> None:
    parent = ann.post("help", "why?")
    reply = ann.post("help", "because", thread_ts=parent.ts)
    link = call("chat.getPermalink", channel=help_id, message_ts=reply.ts)["permalink"]
    number = reply.ts.replace(".", "")
    assert link == (
        f"https://pocket.slack.com/archives/{help_id}/p{number}?thread_ts={parent.ts}&cid={help_id}"
    )


def test_history_is_newest_first_without_replies_and_in_pages(
    help_id: str, ann: Person, call: Call
) -> None:
    posted = [ann.post("help", str(number)) for number in range(5)]
    ann.post("help", "reply", thread_ts=posted[0].ts)
    first = call("conversations.history", channel=help_id, limit="2")
    assert [message["text"] for message in first["messages"]] == ["4", "3"]
    assert first["has_more"] is True
    cursor = first["response_metadata"]["next_cursor"]
    second = call("conversations.history", channel=help_id, limit=3, cursor=cursor)
    assert [message["text"] for message in second["messages"]] == ["2", "1", "0"]
    assert second["messages"][2]["reply_count"] == 1
    assert second["has_more"] is False


@pytest.mark.parametrize(
    ("bounds", "texts"),
    [
        ({"oldest": 1, "latest": 3}, ["2"]),
        ({"oldest": 1, "latest": 3, "inclusive": "true"}, ["3", "2", "1"]),
        ({"latest": 1, "inclusive": True, "limit": 1}, ["1"]),
    ],
)
def test_history_excludes_its_bounds_unless_inclusive(
    help_id: str, ann: Person, call: Call, bounds: dict[str, Any], texts: list[str]
) -> None:
    posted = [ann.post("help", str(number)) for number in range(5)]
    ends = {key: posted[bounds[key]].ts for key in ("oldest", "latest") if key in bounds}
    answer = call("conversations.history", channel=help_id, **{**bounds, **ends})
    assert [message["text"] for message in answer["messages"]] == texts


def test_pages_of_history_do_not_shift_while_people_write(
    help_id: str, ann: Person, call: Call
) -> None:
    posted = [ann.post("help", str(number)) for number in range(5)]
    first = call("conversations.history", channel=help_id, limit=2)
    ann.post("help", "5")
    ann.delete(posted[2])
    cursor = first["response_metadata"]["next_cursor"]
    assert b64decode(cursor).decode() == f"next_ts:{posted[2].ts.replace('.', '')}"
    second = call("conversations.history", channel=help_id, limit=2, cursor=cursor)
    assert [message["text"] for message in first["messages"] + second["messages"]] == [
        "4",
        "3",
        "1",
        "0",
    ]
    assert "response_metadata" not in second


def test_pages_of_a_thread_include_new_replies(help_id: str, ann: Person, call: Call) -> None:
    parent = ann.post("help", "why?")
    for number in range(3):
        ann.post("help", str(number), thread_ts=parent.ts)
    texts = []
    cursor = ""
    for page in range(5):
        answer = call(
            "conversations.replies", channel=help_id, ts=parent.ts, limit=2, cursor=cursor
        )
        texts += [message["text"] for message in answer["messages"]]
        if page == 0:
            ann.post("help", "3", thread_ts=parent.ts)
        cursor = answer.get("response_metadata", {}).get("next_cursor", "")
        assert answer["has_more"] is bool(cursor)
        if not cursor:
            break
    assert texts == ["why?", "0", "1", "2", "3"]


def test_history_with_only_oldest_begins_with_the_messages_next_to_it(
    help_id: str, ann: Person, call: Call
) -> None:
    posted = [ann.post("help", str(number)) for number in range(5)]
    [alone] = call(
        "conversations.history", channel=help_id, oldest=posted[1].ts, inclusive=True, limit=1
    )["messages"]
    assert alone["text"] == "1"
    first = call("conversations.history", channel=help_id, oldest=posted[1].ts, limit=2)
    assert [message["text"] for message in first["messages"]] == ["3", "2"]
    rest = {"oldest": posted[1].ts, "cursor": first["response_metadata"]["next_cursor"]}
    assert [
        message["text"]
        for message in call("conversations.history", channel=help_id, **rest)["messages"]
    ] == ["4"]


@pytest.mark.parametrize("cursor", ["next:2==", "bmV4dDox", "!", "bmV4dF90czp4"])
def test_an_invalid_cursor_is_refused(
    help_id: str, ann: Person, refused: Refused, cursor: str
) -> None:
    parent = ann.post("help", "why?")
    assert refused("conversations.history", channel=help_id, cursor=cursor).code == "invalid_cursor"
    assert (
        refused("conversations.replies", channel=help_id, ts=parent.ts, cursor=cursor).code
        == "invalid_cursor"
    )


def test_a_parent_has_its_latest_reply_after_edits_and_deletions(
    help_id: str, ann: Person, ben: Person, call: Call
) -> None:
    parent = ann.post("help", "why?")

    def thread() -> tuple[Any, ...]:
        shown = call(
            "conversations.history", channel=help_id, oldest=parent.ts, inclusive=True, limit=1
        )["messages"][0]
        return shown.get("reply_count"), shown.get("latest_reply"), shown.get("reply_users")

    first = ann.post("help", "because", thread_ts=parent.ts)
    assert thread() == (1, first.ts, [ann.id])
    second = ben.post("help", "no", thread_ts=parent.ts, is_broadcast=True)
    assert thread() == (2, second.ts, [ann.id, ben.id])
    ben.edit(second, "yes")
    assert thread() == (2, second.ts, [ann.id, ben.id])
    ben.delete(second)
    assert thread() == (1, first.ts, [ann.id])
    ann.delete(first)
    assert thread() == (None, None, None)


def test_replies_between_two_times_are_listed_with_their_parent(
    help_id: str, ann: Person, call: Call
) -> None:
    parent = ann.post("help", "why?")
    replies = [ann.post("help", str(number), thread_ts=parent.ts) for number in range(4)]

    def texts(**args: Any) -> list[str]:
        found = call("conversations.replies", channel=help_id, ts=parent.ts, **args)["messages"]
        return [message["text"] for message in found]

    assert texts(oldest=replies[0].ts) == ["why?", "1", "2", "3"]
    assert texts(oldest=replies[0].ts, latest=replies[2].ts) == ["why?", "1"]
    assert texts(oldest=replies[0].ts, latest=replies[2].ts, inclusive=True) == [
        "why?",
        "0",
        "1",
        "2",
    ]


def test_history_is_only_for_members(workspace: Workspace, refused: Refused) -> None:
    assert (
        refused("conversations.history", channel=channel_id(workspace, "random")).code
        == "not_in_channel"
    )
    assert (
        refused("conversations.history", channel=channel_id(workspace, "secret")).code
        == "channel_not_found"
    )


def test_replies_start_with_the_parent_and_have_metadata_only_if_asked(
    workspace: Workspace, help_id: str, ann: Person, call: Call
) -> None:
    parent = ann.post("help", "why?")
    metadata = {"event_type": "case", "event_payload": {"id": "7"}}
    call(
        "chat.postMessage", channel=help_id, thread_ts=parent.ts, text="because", metadata=metadata
    )
    plain = call("conversations.replies", channel=help_id, ts=parent.ts)["messages"]
    assert [message["text"] for message in plain] == ["why?", "because"]
    assert plain[0]["reply_users"] == [workspace.bot.id]
    assert plain[1]["parent_user_id"] == parent.author.id
    assert "metadata" not in plain[1]
    full = call("conversations.replies", channel=help_id, ts=parent.ts, include_all_metadata=True)[
        "messages"
    ]
    assert full[1]["metadata"] == metadata


def test_replies_of_a_reply_are_only_that_reply(
    help_id: str, ann: Person, call: Call, refused: Refused
) -> None:
    parent = ann.post("help", "why?")
    reply = ann.post("help", "because", thread_ts=parent.ts)
    answer = call("conversations.replies", channel=help_id, ts=reply.ts)
    assert [message["ts"] for message in answer["messages"]] == [reply.ts]
    assert refused("conversations.replies", channel=help_id, ts="1.0").code == "thread_not_found"


def test_channels_the_bot_cannot_see_are_not_listed(
    workspace: Workspace, call: Call, refused: Refused
) -> None:
    answer = call("conversations.list", types="public_channel,private_channel")
    assert [channel["name"] for channel in answer["channels"]] == ["help", "random"]
    assert refused("conversations.list", types="nonsense").code == "invalid_types"
    assert (
        refused("conversations.info", channel=channel_id(workspace, "secret")).code
        == "channel_not_found"
    )


def test_a_persons_channels_are_public_ones_and_those_shared_with_the_bot(
    workspace: Workspace, call: Call, refused: Refused
) -> None:
    shared = workspace.add_channel(
        "shared", [workspace.user("ann"), workspace.bot], is_private=True
    )
    kinds = {"types": "public_channel,private_channel"}

    def names(**args: Any) -> list[str]:
        return [
            channel["name"] for channel in call("users.conversations", **kinds, **args)["channels"]
        ]

    assert names() == ["help", "shared"]
    assert names(user=workspace.user("ann").id) == ["help", "random", "shared"]
    assert names(user=workspace.user("ben").id) == ["help", "random"]
    shared.members.remove(workspace.bot.id)
    assert names(user=workspace.user("ann").id) == ["help", "random"]
    assert refused("users.conversations", user="U0").code == "user_not_found"
    assert refused("users.conversations", limit=1000).code == "invalid_limit"


def test_the_bot_joins_public_channels(workspace: Workspace, call: Call) -> None:
    channel = channel_id(workspace, "random")
    assert call("conversations.join", channel=channel)["channel"]["is_member"] is True
    assert call("conversations.join", channel=channel)["warning"] == "already_in_channel"
    assert workspace.bot.id in call("conversations.members", channel=channel)["members"]


def test_posts_are_limited_to_one_a_second_per_channel_after_a_burst(clock: ManualClock) -> None:
    limits = Limits(posts_per_second=1, post_burst=2)
    workspace = Workspace(
        {"oauth_config": {"scopes": {"bot": ["chat:write"]}}}, clock=clock, limits=limits
    )
    first, second = (
        workspace.add_channel(name, [workspace.bot]).id for name in ("first", "second")
    )

    def post(channel: str) -> bool:
        args = {"channel": channel, "text": "x"}
        return bool(methods.call(workspace, "chat.postMessage", workspace.bot_token, args)["ok"])

    assert post(first)
    assert post(first)
    with pytest.raises(SlackError) as caught:
        post(first)
    assert (caught.value.code, caught.value.retry_after_s) == ("ratelimited", 1)
    assert post(second)
    clock.advance(1)
    assert post(first)


def test_methods_have_rate_limit_tiers(clock: ManualClock) -> None:
    workspace = Workspace({"oauth_config": {"scopes": {"bot": ["users:read"]}}}, clock=clock)
    for _ in range(20):
        methods.call(workspace, "users.list", workspace.bot_token, {})
    with pytest.raises(SlackError) as caught:
        methods.call(workspace, "users.list", workspace.bot_token, {})
    assert caught.value.retry_after_s == 3


def test_open_returns_the_same_conversation_for_the_same_people(
    workspace: Workspace, call: Call
) -> None:
    ann, ben = (workspace.user(name).id for name in ("ann", "ben"))
    alone = call("conversations.open", users=ann)["channel"]["id"]
    group = call("conversations.open", users=f"{ann},{ben}")["channel"]["id"]
    assert call("conversations.open", users=f"{ben},{ann}")["channel"]["id"] == group
    assert [c["id"] for c in call("users.conversations", types="mpim", user=ben)["channels"]] == [
        group
    ]
    assert [c["id"] for c in call("users.conversations", types="im")["channels"]] == [alone]


@pytest.mark.parametrize(
    ("users", "error"),
    [
        ("", "users_list_not_supplied"),
        ("U1,U2", "user_not_found"),
        (",".join(["U1"] * 9), "too_many_users"),
    ],
)
def test_open_refuses_unknown_people_and_too_many(refused: Refused, users: str, error: str) -> None:
    assert refused("conversations.open", users=users).code == error
