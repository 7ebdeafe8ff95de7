"""Reactions of the bot.

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
    reactions.add(call.ws, _reactable(call), call.ws.bot, call.text("name"))
    return {}


def remove(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/reactions.remove"""
    reactions.remove(call.ws, _reactable(call), call.ws.bot, call.text("name"))
    return {}


def get(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/reactions.get"""
    message = _item(call)
    channel = call.ws.channels[message.channel_id]
    link = call.ws.permalink(
        channel.id, message.ts, message.thread_ts if message.is_reply else None
    )
    return {
        "type": "message",
        "channel": channel.id,
        "message": posts.shown(channel, message) | {"permalink": link},
    }


def _reactable(call: Call) -> Message:
    message = _item(call)
    channel = call.ws.channels[message.channel_id]
    if channel.is_archived:
        raise SlackError("is_archived")
    if not call.is_member(channel):
        raise SlackError("not_in_channel")
    return message


def _item(call: Call) -> Message:
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
