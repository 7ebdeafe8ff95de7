"""`/judge digest`: on, off, now, preview, and whether people are ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from slack_sdk.errors import SlackApiError

from bot.domain.week import Schedule, Week
from bot.features.digest.poster import Poster
from bot.figures.week import TREND_WEEKS
from bot.pipeline.text import no_channel_access_text, sentence
from bot.slack.client import slack_word
from bot.slack.commands import StatsRequest, parse_digest, parse_stats
from bot.slack.invocation import Invocation
from bot.slack.members import Listed, Member, MembershipError, NoAccess
from bot.slack.messenger import Post
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


def not_understood(reason: str) -> str:
    """What `/judge digest` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. This is what I understand:\n{_HELP}"


_READS = {"preview", "state", "help"}


async def answer_digest(poster: Poster, invocation: Invocation, text: str) -> None:
    """Shows or changes the channel's digest, for those who may."""

    async def tell(said: str) -> None:
        await poster.services.messenger.tell(invocation.recipient, sentence(said))

    try:
        request = parse_digest(text)
    except ValueError as exc:
        await tell(not_understood(str(exc)))
        return
    is_change = request.action not in _READS
    if refusal := await poster.services.access.refusal(invocation.channel_id, invocation.user_id, is_change):
        await tell(no_channel_access_text(refusal))
        return
    settings = await poster.digests.channel(invocation.team_id, invocation.channel_id)
    try:
        match request.action:
            case "help":
                await tell(_HELP)
            case "preview":
                await poster.show(settings, invocation.user_id)
            case "now":
                await tell(POSTED if await poster.post(settings) else POSTED_BEFORE)
            case "state":
                await tell(digest_state(settings, poster.schedule(settings), poster.now()))
            case _:
                if request.action in {"on", "off"}:
                    settings = settings.switched(request.action == "on", poster.now())
                changed = replace(settings, **request.changes)
                await poster.digests.save(changed, invocation.user_id)
                await tell(digest_state(changed, poster.schedule(changed), poster.now()))
    except SlackApiError as exc:
        await tell(f"Slack did not let me post here (`{slack_word(exc)}`).")


async def switch_digest(poster: Poster, invocation: Invocation, channel_id: str, *, is_on: bool) -> NoAccess | None:
    """Switches a channel's digest; why not, where this person may not."""
    if refusal := await poster.services.access.refusal(channel_id, invocation.user_id, is_change=True):
        return refusal
    settings = await poster.digests.channel(invocation.team_id, channel_id)
    await poster.digests.save(settings.switched(is_on, poster.now()), invocation.user_id)
    return None


_NAME = 80
_MOST_NAMED = 10

DIRECT = "Stats are about a channel; there are none for direct messages. `/judge stats #channel` shows one of yours."
OWN_REPLIES = "your own replies"
_INVITE = "`/invite @Slack Judge`"
_STATS_HELP = (
    "`/judge stats` is about this channel, `/judge stats #channel` about another, `/judge stats @name` about one author"
)


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
    """Nothing can be shown; the message says why, to the person who asks."""


async def answer_stats(poster: Poster, invocation: Invocation, text: str) -> None:
    """Shows a week's figures to those who may see them."""
    try:
        post = await _stats(poster, invocation, parse_stats(text))
    except ValueError as exc:
        post = sentence(f"{escape(str(exc))}. {_STATS_HELP}.")
    except _RefusalError as exc:
        post = sentence(str(exc))
    await poster.services.messenger.tell(invocation.recipient, post)


async def _stats(poster: Poster, invocation: Invocation, request: StatsRequest) -> Post:
    here = invocation.channel_id
    if here.startswith("D") and request.channel is None:
        raise _RefusalError(DIRECT)
    try:
        channels = await poster.services.memberships.of(invocation.user_id)
    except MembershipError as exc:
        raise _RefusalError(unsure(str(exc))) from exc
    if request.channel is not None:
        here = _find_channel(request.channel, channels)
    elif here not in channels:
        raise _RefusalError(not_yours())
    settings = await poster.digests.channel(invocation.team_id, here)
    if request.author is not None:
        return await poster.stats(settings, *await _find_author(poster, invocation, settings, request.author))
    return await poster.stats(settings, None, f"<#{here}>" if here != invocation.channel_id else "")


async def _find_author(
    poster: Poster, invocation: Invocation, settings: ChannelSettings, wanted: str
) -> tuple[str, str]:
    """The id of the author that is meant, and how the figures name them.

    Bots are found, and people where the channel lists them; oneself in any case, scored or not.
    """
    week = Week.of(poster.now(), poster.schedule(settings).zone)
    span = Span(week.before(TREND_WEEKS - 1).start, week.end)
    places = [Place(settings.team_id, settings.channel_id, is_watched=is_watched) for is_watched in (False, True)]
    rows = [row for place in places for row in await poster.services.store.tallies.authors(place, span)]
    known = {invocation.user_id: Member(invocation.user_name, is_bot=False)}
    known |= await poster.listed(settings, [row.author_id for row in rows])
    name = invocation.user_id.lower() if wanted.lower() == _ME else wanted.lower()
    found = [author_id for author_id, member in known.items() if name in {author_id.lower(), member.name.lower()}]
    if len(found) > 1:
        raise _RefusalError(several_authors(f"@{wanted}", found))
    if not found:
        names = [member.name for author_id, member in known.items() if author_id != invocation.user_id]
        raise _RefusalError(no_author(f"@{wanted}", names, settings.ranks_people))
    return found[0], OWN_REPLIES if found[0] == invocation.user_id else clip(known[found[0]].name, _NAME)


def _find_channel(wanted: str, channels: Mapping[str, Listed]) -> str:
    for channel_id, channel in channels.items():
        if wanted.lower() in {channel_id.lower(), channel.name.lower()}:
            return channel_id
    raise _RefusalError(no_channel(f"#{wanted}"))
