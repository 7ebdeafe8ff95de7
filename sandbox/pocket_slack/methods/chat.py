"""Messages of the bot.

Source: https://docs.slack.dev/reference/methods?family=chat
"""

import json
from dataclasses import replace
from typing import Any

from pocket_slack import posts
from pocket_slack.blocks import check_blocks
from pocket_slack.blocks.nesting import with_nested
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import ME, Channel, Json, Message
from pocket_slack.posts import Content

LONGEST_POST = 40_000
"""Longer texts are cut, with a warning: https://docs.slack.dev/reference/methods/chat.postMessage#truncating"""

LONGEST_UPDATE = 4_000
"""`chat.update` answers `msg_too_long` to longer texts (seen in ChatGPT-in-Slack#102; no number is documented)."""

MOST_ATTACHMENTS = 100
LARGEST_METADATA_BYTES = 16_000


def post_message(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.postMessage"""
    channel = target(call)
    content = checked(call)
    call.ws.meter.count_post(channel.id)
    message = post(call, channel, content)
    body = {
        "channel": channel.id,
        "ts": message.ts,
        "message": message.to_slack(with_metadata=True),
    }
    return body | _warnings(call)


def post(call: Call, channel: Channel, content: Content) -> Message:
    """Posts in a channel, or in the thread that a call names."""
    thread_ts = call.optional("thread_ts")
    if (parent := channel.messages.get(thread_ts or "")) and parent.is_notice:
        raise SlackError("cannot_reply_to_message")
    is_broadcast = bool(thread_ts) and call.flag("reply_broadcast")
    return posts.post(call.ws, channel, call.ws.bot, content, thread_ts, is_broadcast=is_broadcast)


def me_message(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.meMessage"""
    channel = target(call)
    text = call.optional("text")
    if text is None:
        raise SlackError("no_text")
    if len(text) > LONGEST_POST:
        raise SlackError("msg_too_long")
    message = posts.post(call.ws, channel, call.ws.bot, Content(text), subtype=ME)
    return {"channel": channel.id, "ts": message.ts}


def update(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.update"""
    channel, message = _own_message(call, "cant_update_message")
    if message.stream:
        raise SlackError("streaming_state_conflict")
    new = checked(call, is_update=True)
    # Text without blocks removes the old blocks; blocks without text keep the old text.
    text = new.text if "text" in call.args else message.text
    content = replace(new, text=text, unfurl_links=False, unfurl_media=False)
    posts.edit(call.ws, message, content, call.ws.bot)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": message.to_slack(True),
    }


def delete(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.delete"""
    channel, message = _own_message(call, "cant_delete_message")
    if message.stream:
        raise SlackError("cant_delete_message")
    posts.delete(call.ws, message)
    return {"channel": channel.id, "ts": message.ts}


def post_ephemeral(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.postEphemeral"""
    channel = target(call)
    user_id = call.text("user")
    content = checked(call)
    if user_id not in channel.members:
        raise SlackError("user_not_in_channel")
    message = posts.post_ephemeral(call.ws, channel, user_id, content, call.optional("thread_ts"))
    return {"message_ts": message.ts} | _warnings(call)


def get_permalink(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.getPermalink"""
    channel = call.channel()
    message = channel.messages.get(call.text("message_ts"))
    if message is None:
        raise SlackError("message_not_found")
    thread_ts = message.thread_ts if message.is_reply else None
    return {
        "channel": channel.id,
        "permalink": call.ws.permalink(channel.id, message.ts, thread_ts),
    }


def target(call: Call) -> Channel:
    """The channel to post in: the bot is a member, or it is public and the bot has
    `chat:write.public`.

    A user's id stands for their direct messages with the app.
    """
    name = call.text("channel")
    if name in call.ws.users:
        return call.ws.im(name)
    channel = call.ws.find_channel(name)
    if channel is None or not call.can_see(channel):
        raise SlackError("channel_not_found")
    if channel.is_archived:
        raise SlackError("is_archived")
    if not call.is_member(channel) and "chat:write.public" not in call.ws.scopes:
        raise SlackError("not_in_channel")
    return channel


def _own_message(call: Call, otherwise: str) -> tuple[Channel, Message]:
    channel = call.channel()
    message = call.message(channel)
    if message.author is not call.ws.bot:
        raise SlackError(otherwise)
    return channel, message


def checked(call: Call, is_update: bool = False) -> Content:
    """The content for a message, as Slack accepts it."""
    content = call.content()
    check_blocks(content.blocks)
    if any(block["type"] == "video" for block, _ in with_nested(content.blocks)):
        call.need("links.embed:write")
    if not isinstance(content.attachments, list):
        raise SlackError("invalid_attachments")
    if len(content.attachments) > MOST_ATTACHMENTS:
        raise SlackError("too_many_attachments")
    if content.is_empty:
        raise SlackError("no_text")
    if is_update and len(content.text) > LONGEST_UPDATE:
        raise SlackError("msg_too_long")
    check_metadata(content.metadata, is_update)
    return replace(content, text=content.text[:LONGEST_POST])


def _warnings(call: Call) -> Json:
    if len(call.optional("text") or "") <= LONGEST_POST:
        return {}
    return {
        "warning": "message_truncated",
        "response_metadata": {"warnings": ["message_truncated"]},
    }


def check_metadata(metadata: Any, is_update: bool) -> None:
    """Checks the metadata of a message."""
    if metadata is None or (is_update and metadata == {}):
        return
    if not isinstance(metadata, dict):
        raise SlackError("invalid_metadata_format")
    if not isinstance(metadata.get("event_type"), str) or not isinstance(
        metadata.get("event_payload"), dict
    ):
        raise SlackError("invalid_metadata_schema")
    if len(json.dumps(metadata).encode()) > LARGEST_METADATA_BYTES:
        raise SlackError("metadata_too_large")
