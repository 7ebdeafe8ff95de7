"""Finds the channel that `--channel` gives by id or by name: in Slack, or as the store noted it."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from bot.commands.opened import one_team
from bot.errors import BotError, SlackError
from bot.settings import Settings
from bot.slack.client import SLACK_ERRORS, SlackClient, slack_word, web_client, with_token
from bot.slack.members import list_channels
from bot.store.database import Database
from bot.store.export import Exports
from bot.store.names import Names

_ID = re.compile("[CGD][A-Z0-9]+")  # a name has no capitals
_GIVE_ID = "give the channel's id, such as C0123ABCD (its name > About, at the bottom)"


async def installed(
    settings: Settings, database: Database, client: SlackClient
) -> Mapping[str, SlackClient]:
    """A client for each workspace that has installed the app, by its id."""
    from bot.store.installations import Installations, TokenKeys  # takes 50 ms

    installations = Installations(database, TokenKeys(settings.token_key_texts))
    return {
        team_id: with_token(client, installations.token_of(installed), team_id)
        for team_id, installed in (await installations.current()).items()
    }


@asynccontextmanager
async def opened_slack(
    settings: Settings, database: Database, given: str
) -> AsyncIterator[SlackClient]:
    """A client for the workspace before the slash in `--channel`, or for the only one."""
    async with web_client(settings.slack_bot_token, settings.slack_api_url) as client:
        if settings.is_for_many:
            clients = await installed(settings, database, client)
            unknown = (
                "the app is not installed there; judge-bot installations list says where it is"
            )
            client = clients[one_team("--channel", [*clients], given, unknown)]
        yield client


def _is_id(given: str) -> bool:
    return _ID.fullmatch(given.rpartition("/")[2]) is not None


async def find_place(given: str, database: Database) -> tuple[str, str]:
    """Team and id of the channel that is given by its id, or by its name as the store has it, and
    in which a score was visible to everybody.
    """
    team_id, _, name = given.rpartition("/")
    channel_id = name.removeprefix("#")
    if not _is_id(given):
        option = f"--channel {channel_id[:40]!r}"
        ids = await Names(database).ids(channel_id, team_id)
        if not ids:
            raise BotError(f"{option}: no channel of that name has a score; {_GIVE_ID}")
        channel_id = _only(ids, option)
    teams = await Exports(database).teams(channel_id)
    unknown = "no score there was visible to the whole channel; name another"
    return one_team("--channel", teams, given, unknown), channel_id


async def find_channel(given: str, client: SlackClient) -> str:
    """The id of the channel that is given by it, or by its name among the app's channels."""
    wanted = given.rpartition("/")[2].removeprefix("#")
    if _is_id(given):
        return wanted
    option = f"--channel {wanted[:40]!r}"
    try:
        listed = await list_channels(client)
    except SLACK_ERRORS as exc:
        reason = f"Slack does not list the app's channels ({slack_word(exc)})"
        raise SlackError(f"{option}: {reason}; run judge-bot doctor, or {_GIVE_ID}") from exc
    found = [channel_id for channel_id, channel in listed.items() if channel.name == wanted]
    if not found:
        raise SlackError(
            f"{option}: the app is in no channel of that name; /invite it there, or {_GIVE_ID}"
        )
    return _only(found, option)


def _only(ids: Sequence[str], option: str) -> str:
    if len(ids) > 1:
        raise BotError(
            f"{option}: several channels have that name; give the id of one: {', '.join(ids)}"
        )
    return ids[0]
