"""Messages that the bot writes for later.

Source: https://docs.slack.dev/messaging/sending-and-scheduling-messages#scheduling
"""

from contextlib import suppress
from functools import partial

from pocket_slack.errors import SlackError
from pocket_slack.methods import chat
from pocket_slack.methods.call import Call
from pocket_slack.model import Json

FARTHEST_S = 120 * 24 * 3600
MOST_IN_WINDOW = 30
WINDOW_S = 5 * 60
NOT_DELETED_S = 60
"""How long before its time a message can no longer be deleted."""

_END_OF_TIME = 2**53


def schedule(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.scheduleMessage"""
    ws = call.ws
    channel = chat.target(call)
    content = chat.checked(call)
    given = call.text("post_at")
    if not given.isdigit():
        raise SlackError("invalid_time")
    post_at = int(given)
    delay_s = post_at - ws.clock.now()
    if delay_s <= 0:
        raise SlackError("time_in_past")
    if delay_s > FARTHEST_S:
        raise SlackError("time_too_far")
    near = [
        other
        for other, _ in ws.scheduled.values()
        if other["channel_id"] == channel.id and abs(other["post_at"] - post_at) < WINDOW_S
    ]
    if len(near) >= MOST_IN_WINDOW:
        raise SlackError("restricted_too_many")
    id_ = ws.ids.new("Q")
    entry = {
        "id": id_,
        "channel_id": channel.id,
        "post_at": post_at,
        "date_created": int(ws.clock.now()),
        "text": content.text,
    }
    ws.scheduled[id_] = (entry, ws.clock.call_later(delay_s, partial(_fall_due, call, id_)))
    message = {
        "type": "delayed_message",
        "subtype": "bot_message",
        "text": content.text,
        "username": ws.bot.name,
        "bot_id": ws.bot.bot_id,
        "blocks": content.blocks,
        "attachments": content.attachments,
    }
    shown = {key: value for key, value in message.items() if value}
    place = {"channel": channel.id, "scheduled_message_id": id_}
    return {**place, "post_at": post_at, "message": shown}


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.scheduledMessages.list"""
    channel_id = call.optional("channel")
    if channel_id and channel_id not in call.ws.channels:
        raise SlackError("invalid_channel")
    oldest = call.integer("oldest", 0, _END_OF_TIME, lowest=0)
    latest = call.integer("latest", _END_OF_TIME, _END_OF_TIME, lowest=0)
    entries = [
        entry
        for entry, _ in call.ws.scheduled.values()
        if channel_id in (None, entry["channel_id"]) and oldest <= entry["post_at"] <= latest
    ]
    page, metadata = call.page(sorted(entries, key=lambda entry: entry["post_at"]))
    return {"scheduled_messages": page, "response_metadata": metadata}


def delete(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.deleteScheduledMessage"""
    channel = call.channel()
    id_ = call.text("scheduled_message_id")
    if id_ not in call.ws.scheduled:
        raise SlackError("invalid_scheduled_message_id")
    entry, timer = call.ws.scheduled[id_]
    is_soon = entry["post_at"] - call.ws.clock.now() <= NOT_DELETED_S
    if entry["channel_id"] != channel.id or is_soon:
        raise SlackError("invalid_scheduled_message_id")
    timer.cancel()
    del call.ws.scheduled[id_]
    return {}


def _fall_due(call: Call, id_: str) -> None:
    """Posts the message, unless the bot may no longer post there.

    One with metadata is never posted, which Slack's reference calls a bug.
    """
    del call.ws.scheduled[id_]
    with suppress(SlackError):
        channel = chat.target(call)
        content = chat.checked(call)
        if content.metadata is None:
            chat.post(call, channel, content)
