"""Messages that the bot pins to a channel.

Source: https://docs.slack.dev/reference/methods?family=pins
"""

from pocket_slack import events, posts
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.methods.reactions import item, reactable
from pocket_slack.model import Json, Message


def add(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/pins.add"""
    message = reactable(call)
    if message.is_notice:
        raise SlackError("not_pinnable")
    if message.pinned:
        raise SlackError("already_pinned")
    now = int(call.ws.clock.now())
    message.pinned = {
        "channel": message.channel_id,
        "pinned_by": call.ws.bot.id,
        "pinned_ts": now,
    }
    _tell(call, message, "pin_added", _pin(call, message))
    return {}


def remove(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/pins.remove"""
    message = reactable(call)
    if not message.pinned:
        raise SlackError("no_pin")  # as seen in sirbot-pyslackers#150
    pin = _pin(call, message)
    message.pinned = None
    _tell(call, message, "pin_removed", pin)
    return {}


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/pins.list"""
    channel = call.channel()
    if not call.is_member(channel):
        raise SlackError("not_in_channel")
    return {"items": [_pin(call, message) for message in reversed(channel.pins())]}


def _pin(call: Call, message: Message) -> Json:
    pinned = message.pinned or {}
    return item(call, message) | {
        "created": pinned["pinned_ts"],
        "created_by": pinned["pinned_by"],
    }


def _tell(call: Call, message: Message, event: str, pin: Json) -> None:
    channel = call.ws.channels[message.channel_id]
    body = posts.shown(channel, message)
    call.ws.journal.record("message_changed", channel=channel.id, message=body, shown_to=None)
    events.pin(call.ws, channel, event, pin, len(channel.pins()))
