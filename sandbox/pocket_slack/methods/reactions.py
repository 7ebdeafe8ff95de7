"""Reactions of the bot, and the workspace's own emoji.

Source: https://docs.slack.dev/reference/methods?family=reactions
"""

import re

from pocket_slack import posts, reactions
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Json, Message

_TIMESTAMP = re.compile(r"\d+\.\d+")


def add(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/reactions.add"""
    reactions.add(call.ws, reactable(call), call.ws.bot, call.text("name"))
    return {}


def remove(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/reactions.remove"""
    reactions.remove(call.ws, reactable(call), call.ws.bot, call.text("name"))
    return {}


def get(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/reactions.get"""
    return item(call, _named(call))


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/reactions.list"""
    user_id = call.optional("user") or call.ws.bot.id
    if user_id not in call.ws.users:
        raise SlackError("user_not_found")
    reacted_to = [
        message
        for channel in call.ws.channels.values()
        if call.is_member(channel)
        for message in channel.messages.values()
        if any(user_id in users for users in message.reactions.values())
    ]
    reacted_to.sort(key=lambda message: message.ts, reverse=True)
    page, metadata = call.page(reacted_to)
    return {"items": [item(call, message) for message in page], "response_metadata": metadata}


def emoji(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/emoji.list"""
    return {"emoji": dict(call.ws.emoji), "cache_ts": str(call.ws.clock.now())}


def item(call: Call, message: Message) -> Json:
    """A message as Slack lists it among reactions and pins."""
    channel = call.ws.channels[message.channel_id]
    link = call.ws.permalink(
        channel.id, message.ts, message.thread_ts if message.is_reply else None
    )
    return {
        "type": "message",
        "channel": channel.id,
        "message": posts.shown(channel, message) | {"permalink": link},
    }


def reactable(call: Call) -> Message:
    """The message that a call names, in a channel where the bot may change something."""
    message = _named(call)
    channel = call.ws.channels[message.channel_id]
    if channel.is_archived:
        raise SlackError("is_archived")
    if not call.is_member(channel):
        raise SlackError("not_in_channel")
    return message


def _named(call: Call) -> Message:
    """The message with this `channel` and `timestamp`."""
    ts = call.optional("timestamp")
    if ts is None or call.optional("channel") is None:
        raise SlackError("no_item_specified")
    channel = call.channel()
    if not _TIMESTAMP.fullmatch(ts):
        raise SlackError("bad_timestamp")
    message = channel.messages.get(ts)
    if message is None or message.is_tombstone:
        raise SlackError("message_not_found")
    return message
