"""Finds the channel that `--channel` gives by id or by name; the store has ids, and only Slack has
names.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

from bot.commands.opened import one_team
from bot.errors import BotError, SlackError
from bot.settings import ReaderSettings, Settings
from bot.slack.client import SLACK_ERRORS, SlackClient, slack_word, web_client, with_token
from bot.slack.members import list_channels
from bot.store.database import Database
from bot.store.names import Names

_ID = re.compile("[CGD][A-Z0-9]+")  # a name has no capitals
_GIVE_ID = "give the channel's id, such as C0123ABCD (its name > About, at the bottom)"


async def installed(
    settings: ReaderSettings | Settings, database: Database, client: SlackClient
) -> Mapping[str, SlackClient]:
    """A client for each workspace that has installed the app, by its id."""
    from bot.store.installations import Installations  # takes 50 ms

    its = Installations(database, [each.get_secret_value() for each in settings.token_keys])
    return {
        name: with_token(client, its.token_of(each), name)
        for name, each in (await its.current()).items()
    }


@asynccontextmanager
async def opened_slack(
    settings: ReaderSettings | Settings, database: Database, given: str, *, is_needed: bool = True
) -> AsyncIterator[SlackClient | None]:
    """A client for the workspace before the slash in `--channel`, or for the only one; if needed, a
    BotError asks.
    """
    async with web_client(settings.slack_bot_token, settings.slack_api_url) as client:
        if settings.slack_bot_token or not settings.token_keys:
            yield client if settings.slack_bot_token else None
            return
        clients, named = await installed(settings, database, client), given.rpartition("/")[0]
        if is_needed or len([each for each in clients if named in {"", each}]) == 1:
            unknown = (
                "the app is not installed there; judge-bot installations list says where it is"
            )
            yield clients[one_team("--channel", [*clients], given, unknown)]
        else:
            yield None


def is_id(given: str) -> bool:
    return _ID.fullmatch(given.rpartition("/")[2]) is not None


async def find_noted(given: str, names: Names) -> str:
    """The id of the channel that is given by its id, or by its name as the store has it."""
    team_id, _, name = given.rpartition("/")
    wanted = name.removeprefix("#")
    if is_id(given):
        return wanted
    ids = await names.ids(wanted, team_id)
    option = f"--channel {wanted[:40]!r}"
    if not ids:
        raise BotError(f"{option}: no channel of that name has a score; {_GIVE_ID}")
    if len(ids) > 1:
        raise BotError(
            f"{option}: several channels have that name; give the id of one: {', '.join(ids)}"
        )
    return ids[0]


class Channel(NamedTuple):
    """A channel; the name is None if Slack does not give it."""

    id: str
    name: str | None


async def find_channel(given: str, client: SlackClient | None) -> Channel:
    """The channel with this id, or with this name among the app's channels; without a client, only
    ids work.
    """
    wanted = given.rpartition("/")[2].removeprefix("#")
    has_id, option = is_id(given), f"--channel {wanted[:40]!r}"
    if client is None and not has_id:
        raise BotError(
            f"{option}: names are looked up in Slack, and SLACK_BOT_TOKEN is not set; set "
            f"it, or {_GIVE_ID}"
        )
    try:
        listed = await list_channels(client) if client else {}
    except SLACK_ERRORS as exc:
        if not has_id:
            reason = f"Slack does not list the app's channels ({slack_word(exc)})"
            raise SlackError(f"{option}: {reason}; run judge-bot doctor, or {_GIVE_ID}") from exc
        listed = {}
    if has_id:
        return Channel(wanted, listed[wanted].name if wanted in listed else None)
    found = [channel_id for channel_id, channel in listed.items() if channel.name == wanted]
    if not found:
        raise SlackError(
            f"{option}: the app is in no channel of that name; /invite it there, or {_GIVE_ID}"
        )
    if len(found) > 1:
        raise SlackError(
            f"{option}: several channels have that name; give the id of one: {', '.join(found)}"
        )
    return Channel(found[0], wanted)
