"""Finds the channel that `--channel` gives by id or by name; the store has ids, and only Slack has names."""

import re
from typing import NamedTuple

from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import BotError, SlackError
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.members import list_channels

_ID = re.compile("[CGD][A-Z0-9]+")  # a name has no capitals
_GIVE_ID = "give the channel's id, such as C0123ABCD (its name > About, at the bottom)"
_LONGEST = 40


class Channel(NamedTuple):
    """A channel; the name is None if Slack does not give it."""

    id: str
    name: str | None


async def find_channel(given: str, client: AsyncWebClient | None) -> Channel:
    """The channel with this id, or with this name among the app's channels; without a client, only ids work."""
    wanted = given.removeprefix("#")
    is_id, option = _ID.fullmatch(wanted), f"--channel {wanted[:_LONGEST]!r}"
    if client is None and not is_id:
        raise BotError(f"{option}: names are looked up in Slack, and SLACK_BOT_TOKEN is not set; set it, or {_GIVE_ID}")
    try:
        listed = await list_channels(client) if client else {}
    except SLACK_ERRORS as exc:
        if not is_id:
            reason = f"Slack does not list the app's channels ({slack_word(exc)})"
            raise SlackError(f"{option}: {reason}; run judge-bot doctor, or {_GIVE_ID}") from exc
        listed = {}
    if is_id:
        return Channel(wanted, listed[wanted].name if wanted in listed else None)
    found = [channel_id for channel_id, channel in listed.items() if channel.name == wanted]
    if not found:
        raise SlackError(f"{option}: the app is in no channel of that name; /invite it there, or {_GIVE_ID}")
    if len(found) > 1:
        raise SlackError(f"{option}: several channels have that name; give the id of one: {', '.join(found)}")
    return Channel(found[0], wanted)
