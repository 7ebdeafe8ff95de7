"""Who people are: names, bots, guests and admins, who is in which channel, and who may change its
settings.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import structlog
from slack_sdk.errors import SlackApiError

from bot.domain.shared import AnswerCache
from bot.slack.client import SLACK_ERRORS, SlackClient, error_of, slack_word, unless_refused
from bot.slack.invocation import Invocation, Raw

SLACKBOT = "USLACKBOT"
"""Slack's own bot, which Slack does not mark as a bot (bolt-js#794)."""
_ASKED_AT_ONCE = 8
_LOOK_UP_S = 2.0

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Member:
    """Somebody as Slack describes them; `teams` are their workspace and its organisation, if Slack
    names them.
    """

    name: str
    is_bot: bool
    teams: frozenset[str] = frozenset()


class Members:
    """Asks Slack about each author once an hour; an unknown author counts as a person, and so is
    not ranked.

    `own` are the ids of the app's workspace and its organisation, `allowed` those of other
    companies that count as own.
    """

    patience_s = 1.5
    """How long to wait for names: a person is waiting, and Slack waits for at most 3 s."""

    def __init__(
        self,
        client: SlackClient,
        own: frozenset[str] = frozenset(),
        allowed: frozenset[str] = frozenset(),
    ) -> None:
        self._client = client
        self._home = own | allowed
        self._known = AnswerCache(self._ask, kept_s=3600.0, most=10_000)

    async def of_all(
        self, author_ids: Iterable[str], at_least_s: float = 0
    ) -> Mapping[str, Member]:
        """The members with these ids, in this order, except those that Slack does not return in
        time.

        `at_least_s` replaces `patience_s` if it is longer, for callers that keep no person waiting.
        """
        found: dict[str, Member] = {}
        wanted = list(author_ids)
        left = iter(wanted)

        async def ask() -> None:
            for author_id in left:
                found[author_id] = await self.of(author_id)

        with suppress(TimeoutError):
            async with asyncio.timeout(max(self.patience_s, at_least_s)):
                await asyncio.gather(*(ask() for _ in wanted[:_ASKED_AT_ONCE]))
        return {each: found[each] for each in wanted if each in found}

    async def is_known_bot(self, author_id: str) -> bool:
        found = await self.of_all([author_id])
        return author_id in found and found[author_id].is_bot

    async def people(self, author_ids: Iterable[str]) -> set[str]:
        """Those of these ids that Slack says are people's; raises one of `SLACK_ERRORS` if Slack
        does not answer.
        """
        ids = tuple(author_ids)
        members = await asyncio.gather(*(unless_refused(self._known.get(each)) for each in ids))
        return {
            each for each, member in zip(ids, members, strict=True) if member and not member.is_bot
        }

    async def of(self, author_id: str) -> Member:
        try:
            return await self._known.get(author_id)
        except SLACK_ERRORS as exc:
            logger.warning("author_unknown", author=author_id, error=slack_word(exc))
            return Member(author_id, is_bot=False)

    async def name_of(self, author_id: str) -> str:
        return (await self.of(author_id)).name

    async def is_foreign(self, user_id: str) -> bool:
        """Whether a person is of a company that is not allowed, or unknown here; raises one of
        `SLACK_ERRORS`.
        """
        try:
            async with asyncio.timeout(_LOOK_UP_S):
                member = await self._known.get(user_id)
                return not await _is_of(self._home, self._client, member.teams)
        except SlackApiError as exc:
            if error_of(exc) in {"user_not_found", "user_not_visible"}:
                return True
            raise

    async def is_known_foreign(self, author_id: str) -> bool:
        found = (await self.of_all([author_id])).get(author_id)
        return bool(
            found and found.teams and not await _is_of(self._home, self._client, found.teams)
        )

    async def _ask(self, author_id: str) -> Member:
        if author_id.startswith("B"):
            return await self._ask_bot(author_id)
        user = (await self._client.users_info(user=author_id))["user"]
        profile = user.get("profile") or {}
        name = profile.get("display_name") or user.get("real_name") or user.get("name") or author_id
        return Member(name, author_id == SLACKBOT or bool(user.get("is_bot")), _teams(user))

    async def _ask_bot(self, bot_id: str) -> Member:
        """In each workspace of an organisation a bot has an id of its own, and Slack must be told
        which one is asked.

        Source: https://docs.slack.dev/reference/methods/bots.info
        """
        for team_id in await self._client.teams():
            if found := await unless_refused(self._client.bots_info(bot=bot_id, team_id=team_id)):
                return Member(found["bot"].get("name") or bot_id, is_bot=True)
        return Member(bot_id, is_bot=True)


def called(typed: str, names: Mapping[str, str]) -> list[str]:
    """Those of these ids that are typed, or whose names are, with or without an `@`."""
    wanted = typed.removeprefix("@").strip().lower()
    return [
        author_id
        for author_id, name in names.items()
        if wanted in {author_id.lower(), name.lower()}
    ]


KEPT_S = 300.0
_TYPES = "public_channel,private_channel,mpim"
_PAGE = 999  # Slack's maximum: https://docs.slack.dev/reference/methods/users.conversations


class MembershipError(Exception):
    """Slack does not say which channels a person is in; the message is Slack's error code."""


@dataclass(frozen=True)
class Listed:
    """A channel as Slack lists it; group direct messages count as private channels."""

    name: str
    is_private: bool
    is_archived: bool


class Memberships:
    """Remembers for five minutes who is in which channel; a person who leaves one may see its
    figures for that long.

    Before it gives access to a message or a case, Slack is asked again. All methods raise
    `MembershipError` if Slack does not answer, or not in time.
    """

    def __init__(
        self, client: SlackClient, own: frozenset[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._own = own
        self._channels = AnswerCache(self._list, KEPT_S, most=1000, clock=clock)

    async def of(self, user_id: str | None = None) -> Mapping[str, Listed]:
        """Channels by id: public ones that this person is in, and private ones that both they and
        the app are in.

        Archived channels are left out. Without a person, the app's channels. Concurrent requests
        for one person share a call.
        """
        listed = await self._channels.get(user_id)
        return {
            channel_id: channel for channel_id, channel in listed.items() if not channel.is_archived
        }

    async def includes(self, user_id: str, channel_id: str) -> bool:
        """Whether the person is in the channel, archived or not.

        Always asks Slack, as they may have just left.
        """
        return channel_id in await self.now(user_id)

    async def now(self, user_id: str | None) -> Mapping[str, Listed]:
        """The person's channels like `of`, but with archived ones, and always asked of Slack."""
        self._channels.forget(user_id)
        return await self._channels.get(user_id)

    async def keeps_out(self, user_id: str, channel_id: str) -> bool:
        """Whether the app is in this channel and the person may not look into it; always asks
        Slack.

        If the app is not in the channel, it cannot read anything there. Direct messages are the
        person's own, and Slack does not list them. A public channel is open to all except guests,
        and other companies' people.
        """
        if channel_id.startswith("D"):
            return False
        try:
            async with asyncio.timeout(_LOOK_UP_S):
                if await self.includes(user_id, channel_id):
                    return False
                ours = (await self.now(None)).get(channel_id)
                if ours is None or ours.is_private:
                    return ours is not None
                return is_guest(await _rights(self._client, self._own, user_id))
        except SLACK_ERRORS as exc:
            raise MembershipError(slack_word(exc)) from exc

    async def _list(self, user_id: str | None) -> Mapping[str, Listed]:
        try:
            async with asyncio.timeout(_LOOK_UP_S):
                return await list_channels(self._client, user_id)
        except SLACK_ERRORS as exc:
            raise MembershipError(slack_word(exc)) from exc


def _teams(user: Raw) -> frozenset[str]:
    found = user.get("team_id"), (user.get("enterprise_user") or {}).get("enterprise_id")
    return frozenset(each for each in found if each)


async def _is_of(own: frozenset[str], client: SlackClient, teams: frozenset[str]) -> bool:
    return not teams.isdisjoint({*own, *await client.teams()})


async def _rights(client: SlackClient, own: frozenset[str], user_id: str) -> Raw:
    """The person as Slack describes them; other companies' people, also admins there, are no more
    than guests here.
    """
    user: Raw = (await client.users_info(user=user_id))["user"]
    is_ours = await _is_of(own, client, _teams(user))
    return (
        user if is_ours else {**user, "is_restricted": True, "is_admin": False, "is_owner": False}
    )


def is_guest(user: Raw) -> bool:
    return bool(user.get("is_restricted") or user.get("is_ultra_restricted"))


async def list_channels(client: SlackClient, user_id: str | None = None) -> Mapping[str, Listed]:
    """By id, the channels and group direct messages of a person that the app can see; without a
    person, the app's own.

    Source: https://docs.slack.dev/reference/methods/users.conversations
    """
    found: dict[str, Listed] = {}
    for team_id in await client.teams():
        async for page in await client.users_conversations(
            types=_TYPES, limit=_PAGE, user=user_id, team_id=team_id
        ):
            for channel in page["channels"]:
                is_private = bool(channel.get("is_private", True) or channel.get("is_mpim"))
                name = channel.get("name") or channel["id"]
                found[channel["id"]] = Listed(name, is_private, bool(channel.get("is_archived")))
    return found


WATCHES = "watches"
_INVITE = "I am not in this channel. Type `/invite @Slack Judge` first."


@dataclass(frozen=True)
class Access:
    client: SlackClient
    own: frozenset[str]
    is_for_admins: bool
    watch_by_admins: bool

    async def refusal(
        self, person: Invocation, what: str, channel_id: str | None = None, *, is_change: bool
    ) -> str:
        """Why this person may not see or change a channel's settings (`what`, such as "rubrics");
        else empty.
        """
        channel_id = channel_id or person.place[1]
        user_id = person.user_id
        if channel_id.startswith("D"):
            return "Use this in a channel, not in a direct message."
        try:
            async with asyncio.timeout(_LOOK_UP_S):
                if not (await self.client.conversations_info(channel=channel_id))["channel"].get(
                    "is_member"
                ):
                    return _INVITE
                if channel_id not in await list_channels(self.client, user_id):
                    return f"Only people in this channel can see or change its {what}."
                user = await _rights(self.client, self.own, user_id) if is_change else {}
        except SLACK_ERRORS as exc:
            error = slack_word(exc)
            if error == "channel_not_found":
                return _INVITE
            return (
                f"Slack does not let me see who is in this channel (`{error}`), so I did nothing."
            )
        if is_guest(user):
            return f"Guests cannot change {what}. Ask a full member of this workspace."
        watch_by = "WATCH_BY_ADMINS" if self.watch_by_admins and what == WATCHES else ""
        setting = "DIGEST_BY" if self.is_for_admins else watch_by
        if is_change and setting and not _is_admin(user):
            return f"Only workspace admins can change {what} here (setting {setting})."
        return ""

    async def is_admin(self, user_id: str) -> bool:
        """Whether the person is an admin or owner of the workspace; False if Slack does not say; raises
        one of `SLACK_ERRORS` if it may say later.
        """
        return _is_admin(await unless_refused(_rights(self.client, self.own, user_id)) or {})


def _is_admin(user: Raw) -> bool:
    return bool(user.get("is_admin") or user.get("is_owner"))
