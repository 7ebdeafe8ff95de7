"""Channels that the bot makes and changes.

Source: https://docs.slack.dev/reference/methods?family=conversations
"""

import re

from pocket_slack import channels
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Channel, Json

LONGEST_NAME = 80
LONGEST_TOPIC = 250
GENERAL = "general"
SCOPES = ("channels:manage", "groups:write")
INVITE_SCOPES = (*SCOPES, "channels:write.invites", "groups:write.invites")
TOPIC_SCOPES = (*SCOPES, "channels:write.topic", "groups:write.topic")

_MANAGE = {"channels": "channels:manage", "groups": "groups:write"}


def create(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.create"""
    call.team()
    is_private = call.flag("is_private")
    call.need(_MANAGE["groups" if is_private else "channels"])
    channel = channels.create(call.ws, _new_name(call), call.ws.bot, is_private)
    return _channel(call, channel)


def join(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.join"""
    channel = call.channel()
    if channel.is_private or channel.is_im:
        raise SlackError("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise SlackError("is_archived")
    if call.is_member(channel):
        note = {
            "warning": "already_in_channel",
            "response_metadata": {"warnings": ["already_in_channel"]},
        }
        return _channel(call, channel) | note
    channels.join(call.ws, channel, call.ws.bot)
    return _channel(call, channel)


def invite(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.invite"""
    channel = _changeable(call, "write.invites")
    invited = [each.strip() for each in (call.optional("users") or "").split(",") if each.strip()]
    if not invited:
        raise SlackError("no_user")
    refusals = {each: _refusal(call, channel, each) for each in invited}
    errors = [
        {"user": each, "ok": False, "error": error} for each, error in refusals.items() if error
    ]
    if errors and not (call.flag("force") and len(errors) < len(refusals)):
        raise SlackError(str(errors[0]["error"]), errors=errors)
    for each, error in refusals.items():
        if error is None:
            channels.join(call.ws, channel, call.ws.users[each], call.ws.bot)
    return _channel(call, channel) | ({"errors": errors} if errors else {})


def kick(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.kick"""
    channel = _changeable(call)
    user_id = call.optional("user")
    if user_id is None:
        raise SlackError("no_user")
    if user_id == call.ws.bot.id:
        raise SlackError("cant_kick_self")
    if user_id not in call.ws.users:
        raise SlackError("user_not_found")
    if channel.name == GENERAL:
        raise SlackError("cant_kick_from_general")
    if user_id not in channel.members:
        raise SlackError("not_in_channel")
    channels.leave(call.ws, channel, call.ws.users[user_id], call.ws.bot)
    return {"errors": {}}


def leave(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.leave"""
    channel = _managed(call)
    if not call.is_member(channel):
        return {"ok": False, "not_in_channel": True}
    if channel.is_archived:
        raise SlackError("is_archived")
    if channel.name == GENERAL:
        raise SlackError("cant_leave_general")
    if channel.members == [call.ws.bot.id]:
        raise SlackError("last_member")
    channels.leave(call.ws, channel, call.ws.bot)
    return {}


def archive(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.archive"""
    channel = _managed(call)
    if channel.is_archived:
        raise SlackError("already_archived")
    if channel.name == GENERAL:
        raise SlackError("cant_archive_general")
    if not call.is_member(channel):
        raise SlackError("not_in_channel")
    channels.archive(call.ws, channel, call.ws.bot)
    return {}


def rename(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.rename"""
    channel = _changeable(call)
    if channel.creator != call.ws.bot.id:
        raise SlackError("not_authorized")
    channels.rename(call.ws, channel, call.ws.bot, _new_name(call))
    return _channel(call, channel)


def set_topic(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.setTopic"""
    return _describe(call, "topic")


def set_purpose(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.setPurpose"""
    return _describe(call, "purpose")


def _describe(call: Call, field: str) -> Json:
    channel = _changeable(call, "write.topic")
    # An empty text is an argument, too: it removes the topic.
    words = str(call.args[field]) if field in call.args else call.text(field)
    if len(words) > LONGEST_TOPIC:
        raise SlackError("too_long")
    channels.describe(call.ws, channel, call.ws.bot, field, words)
    return _channel(call, channel)


def _managed(call: Call, *narrower: str) -> Channel:
    """The channel of a call that changes it, for which one of several scopes is enough."""
    channel = call.channel()
    if channel.kind not in _MANAGE:
        raise SlackError("method_not_supported_for_channel_type")
    call.need(_MANAGE[channel.kind], *(f"{channel.kind}:{each}" for each in narrower))
    return channel


def _changeable(call: Call, *narrower: str) -> Channel:
    channel = _managed(call, *narrower)
    if channel.is_archived:
        raise SlackError("is_archived")
    if not call.is_member(channel):
        raise SlackError("not_in_channel")
    return channel


def _refusal(call: Call, channel: Channel, user_id: str) -> str | None:
    if user_id == call.ws.bot.id:
        return "cant_invite_self"
    if user_id not in call.ws.users:
        return "user_not_found"
    return "already_in_channel" if user_id in channel.members else None


def _new_name(call: Call) -> str:
    name = call.optional("name")
    if name is None:
        raise SlackError("invalid_name_required")
    if len(name) > LONGEST_NAME:
        raise SlackError("invalid_name_maxlength")
    if not any(character.isalnum() for character in name):
        raise SlackError("invalid_name_punctuation")
    if name != name.lower() or not re.fullmatch(r"[\w-]+", name):
        raise SlackError("invalid_name_specials")
    if call.ws.find_channel(name):
        raise SlackError("name_taken")
    return name


def _channel(call: Call, channel: Channel) -> Json:
    return {"channel": channel.to_slack(call.ws.bot.id)}
