"""`/judge digest`: on, off, now, preview, and whether people are ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from slack_sdk.errors import SlackApiError

from bot.domain.week import Schedule, Week
from bot.features.digest.poster import Poster
from bot.figures.week import TREND_WEEKS
from bot.pipeline.text import no_channel_access_text, sentence
from bot.slack.access import Access, NoAccess
from bot.slack.client import slack_word
from bot.slack.commands import DigestRequest, StatsRequest, parse_digest, parse_stats
from bot.slack.invocation import Invocation
from bot.slack.members import Listed, Member, MembershipError, Memberships
from bot.slack.messenger import Messenger, Post
from bot.slack.mrkdwn import clip, escape
from bot.store.digests import ChannelSettings
from bot.store.figures import Place, Span

POSTED = "The week so far is posted here; the weekly digest comes all the same."
POSTED_BEFORE = (
    "Somebody had a digest posted here within the last hour, and more often would be too much for the others; "
    "`/judge digest preview` shows it to you alone."
)
_HELP = """\
• `/judge digest on` posts each week here once it is over; `/judge digest on friday 16:00 Europe/Berlin` says when
• `/judge digest off` stops it
• `/judge digest now` posts the week so far, at most once an hour; `/judge digest preview` shows it to you alone
• `/judge digest people on` lists people beside bots, `/judge digest people off` stops that
• `/judge digest` says what is set"""


def digest_state(settings: ChannelSettings, schedule: Schedule, now: datetime) -> str:
    people = " People are listed beside bots." if settings.ranks_people else ""
    if not settings.is_digest_on:
        return f"The digest is off in this channel; `/judge digest on` switches it on, for every {schedule}.{people}"
    following = schedule.next_due(now)
    return (
        f"The digest is on in this channel: every {schedule}, about the week before, Monday to Sunday. "
        f"The next one comes on {following:%A}, {following.day} {following:%b}.{people}"
    )


def digest_help() -> str:
    """What `/judge digest` can do."""
    return _HELP


def not_understood(reason: str) -> str:
    """What `/judge digest` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. This is what I understand:\n{_HELP}"


def not_posted(error: str) -> str:
    return f"Slack did not let me post here (`{error}`)."


_READS = {"preview", "state", "help"}


@dataclass(frozen=True)
class DigestCommand:
    """Shows and changes a channel's digest, for those who may."""

    poster: Poster
    access: Access
    messenger: Messenger

    async def answer(self, invocation: Invocation, text: str) -> None:
        try:
            request = parse_digest(text)
        except ValueError as exc:
            await self._tell(invocation, not_understood(str(exc)))
            return
        is_change = request.action not in _READS
        if refusal := await self.access.refusal(invocation.channel_id, invocation.user_id, is_change):
            await self._tell(invocation, no_channel_access_text(refusal))
            return
        await self._do(invocation, request)

    async def switch(self, invocation: Invocation, channel_id: str, *, is_on: bool) -> NoAccess | None:
        """Switches a channel's digest; why not, where this person may not."""
        if refusal := await self.access.refusal(channel_id, invocation.user_id, is_change=True):
            return refusal
        settings = await self.poster.digests.channel(invocation.team_id, channel_id)
        await self.poster.digests.save(settings.switched(is_on, self.poster.now()), invocation.user_id)
        return None

    async def _do(self, invocation: Invocation, request: DigestRequest) -> None:
        settings = await self.poster.digests.channel(invocation.team_id, invocation.channel_id)
        match request.action:
            case "help":
                await self._tell(invocation, digest_help())
            case "preview":
                await self._show(invocation, settings)
            case "now":
                await self._post(invocation, settings)
            case "state":
                await self._tell_state(invocation, settings)
            case _:
                changed = self._changed(settings, request)
                await self.poster.digests.save(changed, invocation.user_id)
                await self._tell_state(invocation, changed)

    def _changed(self, settings: ChannelSettings, request: DigestRequest) -> ChannelSettings:
        if request.action in {"on", "off"}:
            settings = settings.switched(request.action == "on", self.poster.now())
        return replace(settings, **request.changes)

    async def _show(self, invocation: Invocation, settings: ChannelSettings) -> None:
        try:
            await self.poster.show(settings, invocation.user_id)
        except SlackApiError as exc:
            await self._tell(invocation, not_posted(slack_word(exc)))

    async def _post(self, invocation: Invocation, settings: ChannelSettings) -> None:
        try:
            is_posted = await self.poster.post(settings)
        except SlackApiError as exc:
            await self._tell(invocation, not_posted(slack_word(exc)))
        else:
            await self._tell(invocation, POSTED if is_posted else POSTED_BEFORE)

    async def _tell_state(self, invocation: Invocation, settings: ChannelSettings) -> None:
        schedule = self.poster.schedule(settings)
        await self._tell(invocation, digest_state(settings, schedule, self.poster.now()))

    async def _tell(self, invocation: Invocation, text: str) -> None:
        await self.messenger.tell(invocation.recipient, sentence(text))


_NAME = 80
_MOST_NAMED = 10

DIRECT = "Stats are about a channel; there are none for direct messages. `/judge stats #channel` shows one of yours."
OWN_REPLIES = "your own replies"
_INVITE = "`/invite @Slack Judge`"
_STATS_HELP = (
    "`/judge stats` is about this channel, `/judge stats #channel` about another, `/judge stats @name` about one author"
)


def stats_not_understood(reason: str) -> str:
    """What `/judge stats` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. {_STATS_HELP}."


def not_yours() -> str:
    return (
        "Slack does not list this channel among yours, so I cannot show its stats; after joining it takes up to five "
        f"minutes. In a private channel, type {_INVITE} first."
    )


def no_channel(name: str) -> str:
    """The same for a channel that is not there as for one that the person is not in, or the app."""
    return f"I know no channel `{clip(name, _NAME)}` that we are both in. If you are in it, type {_INVITE} there."


def unsure(error: str) -> str:
    return f"Slack does not tell me which channels you are in (`{clip(error, _NAME)}`), so I show nothing of them."


def no_author(name: str, known: Sequence[str], lists_people: bool) -> str:
    """For a name that nobody has who may be shown; whether somebody else of that name was scored stays open.

    `known` are the names of those who may be, besides the person who asks.
    """
    names = ", ".join(f"`@{clip(each, _NAME)}`" for each in known[:_MOST_NAMED])
    shown = f"{names} and `me`" if names else "`me`"
    people = "" if lists_people else ", and other people only after `/judge digest people on`"
    return f"I know no `{clip(name, _NAME)}` here. I can show {shown}{people}."


def several_authors(name: str, author_ids: Sequence[str]) -> str:
    each = ", ".join(f"`/judge stats @{author_id}`" for author_id in author_ids[:_MOST_NAMED])
    return f"Several here are called `{clip(name, _NAME)}`. Ask for one of them: {each}."


_ME = "me"


class _RefusalError(Exception):
    """Nothing can be shown; the message is what `views` says to that."""


@dataclass(frozen=True)
class _Subject:
    """What the figures are of: a channel, or one author in it; `title` names it where that is not obvious."""

    settings: ChannelSettings
    author_id: str | None = None
    title: str = ""


@dataclass(frozen=True)
class StatsCommand:
    """Shows a week's figures to those who may see them."""

    poster: Poster
    memberships: Memberships
    messenger: Messenger

    async def answer(self, invocation: Invocation, text: str) -> None:
        await self.messenger.tell(invocation.recipient, await self._post(invocation, text))

    async def _post(self, invocation: Invocation, text: str) -> Post:
        try:
            subject = await self._find_subject(invocation, parse_stats(text))
        except ValueError as exc:
            return sentence(stats_not_understood(str(exc)))
        except _RefusalError as exc:
            return sentence(str(exc))
        return await self.poster.stats(subject.settings, subject.author_id, subject.title)

    async def _find_subject(self, invocation: Invocation, request: StatsRequest) -> _Subject:
        here = invocation.channel_id
        if here.startswith("D") and request.channel is None:
            raise _RefusalError(DIRECT)
        try:
            channels = await self.memberships.of(invocation.user_id)
        except MembershipError as exc:
            raise _RefusalError(unsure(str(exc))) from exc
        if request.channel is not None:
            here = _find_channel(request.channel, channels)
        elif here not in channels:
            raise _RefusalError(not_yours())
        settings = await self.poster.digests.channel(invocation.team_id, here)
        if request.author is not None:
            return await self._find_author(invocation, settings, request.author)
        return _Subject(settings, title=f"<#{here}>" if here != invocation.channel_id else "")

    async def _find_author(self, invocation: Invocation, settings: ChannelSettings, wanted: str) -> _Subject:
        known = await self._showable_authors(invocation, settings)
        name = invocation.user_id.lower() if wanted.lower() == _ME else wanted.lower()
        found = [author_id for author_id, member in known.items() if name in {author_id.lower(), member.name.lower()}]
        if len(found) > 1:
            raise _RefusalError(several_authors(f"@{wanted}", found))
        if not found:
            names = [member.name for author_id, member in known.items() if author_id != invocation.user_id]
            raise _RefusalError(no_author(f"@{wanted}", names, settings.ranks_people))
        title = OWN_REPLIES if found[0] == invocation.user_id else clip(known[found[0]].name, _NAME)
        return _Subject(settings, found[0], title)

    async def _showable_authors(self, invocation: Invocation, settings: ChannelSettings) -> dict[str, Member]:
        """Bots, and people where the channel lists them; oneself in any case, scored or not."""
        week = Week.of(self.poster.now(), self.poster.schedule(settings).zone)
        span = Span(week.before(TREND_WEEKS - 1).start, week.end)
        places = [Place(settings.team_id, settings.channel_id, is_watched=is_watched) for is_watched in (False, True)]
        rows = [row for place in places for row in await self.poster.tallies.authors(place, span)]
        oneself = {invocation.user_id: Member(invocation.user_name, is_bot=False)}
        return oneself | dict(await self.poster.listed(settings, [row.author_id for row in rows]))


def _find_channel(wanted: str, channels: Mapping[str, Listed]) -> str:
    found = [
        channel_id
        for channel_id, channel in channels.items()
        if wanted.lower() in {channel_id.lower(), channel.name.lower()}
    ]
    if not found:
        raise _RefusalError(no_channel(f"#{wanted}"))
    return found[0]
