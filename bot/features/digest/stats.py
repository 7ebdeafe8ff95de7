"""`/judge stats`: the figures of a channel, or of one assistant in it or everywhere, of this week or
an earlier time.
"""

from collections.abc import Mapping
from dataclasses import replace

from bot.feature import Services
from bot.features.digest import text as words
from bot.features.digest.channel_week import assistants, read_week
from bot.features.digest.past import read_when
from bot.features.digest.poster import schedule_of, this_week
from bot.features.digest.queries import read_first_score
from bot.figures.lowest import ids_of
from bot.figures.week import TREND_WEEKS
from bot.pipeline.text import NOT_YOURS, several_named
from bot.slack.invocation import Invocation
from bot.slack.members import Listed, Member, MembershipError
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip, escape
from bot.store.channels import ChannelSettings
from bot.store.figures import Place, Span
from bot.store.visibility import Origin

EVERYWHERE = "everywhere"
DIRECT = (
    "Stats are about channels and assistants. `/judge stats #channel` shows one of your channels, "
    "`/judge stats @assistant` an assistant in all of them."
)
_HELP = (
    "`/judge stats` shows this channel's week so far, `/judge stats #channel` another one's, `/judge "
    "stats @assistant` one assistant, `/judge stats @assistant everywhere` it in all channels; a time "
    "can follow each"
)


def no_channel(name: str) -> str:
    """The same answer whether the channel does not exist, or the person or the app is not in it."""
    known = f"I know of no channel `{clip(name)}` that you and I are both in."
    return f"{known} If you are in it, type `/invite @Slack Judge` there."


def unsure(error: str) -> str:
    return (
        f"Slack does not tell me which channels you are in (`{clip(error)}`), so I show no figures."
    )


def no_author(name: str, known: Mapping[str, Member]) -> str:
    """The answer if no assistant has this name; it does not reveal whether a person was scored."""
    names = ", ".join(f"`@{clip(member.name)}`" for member in list(known.values())[:10])
    shown = f"I can show {names}." if names else "No assistant's reply has been scored here lately."
    return f"I cannot show `@{clip(name)}` here. {shown}"


async def answer_stats(services: Services, invocation: Invocation, text: str) -> Post | str:
    is_of_assistant = text.startswith("@")
    is_everywhere = invocation.is_direct or EVERYWHERE in text.lower().split()
    try:
        channels = await services.memberships.of(invocation.user_id)
        if is_of_assistant and is_everywhere:
            return await _everywhere(services, invocation, text, channels)
        return await _in_channel(services, invocation, text, channels)
    except MembershipError as exc:
        return unsure(str(exc))
    except ValueError as exc:
        return f"{escape(str(exc))}. {_HELP}."


async def _in_channel(
    services: Services, invocation: Invocation, text: str, channels: Mapping[str, Listed]
) -> Post | str:
    here = invocation.channel_id
    rest = text
    if text.startswith("#"):
        name, _, rest = text[1:].partition(" ")
        wanted = name.lower()
        ids = [each for each, of in channels.items() if wanted in {each.lower(), of.name.lower()}]
        if not ids:
            return no_channel(f"#{name}")
        here = ids[0]
    elif invocation.is_direct:
        return DIRECT
    elif here not in channels:
        return NOT_YOURS
    settings = await services.store.channels.of(invocation.team_id, here)
    place = Place(invocation.team_id, here)
    title = f"<#{here}>" if here != invocation.channel_id else ""
    if rest.startswith("@"):
        known = await _assistants(services, settings)
        found, rest = _named(rest[1:], known)
        if len(found) != 1:
            return several_named(rest, found) if found else no_author(rest, known)
        (author_id,) = found
        place = replace(place, author_id=author_id)
        title = clip(known[author_id].name)
    return await _stats(services, invocation, settings, place, rest, title)


async def _everywhere(
    services: Services, invocation: Invocation, text: str, theirs: Mapping[str, Listed]
) -> Post | str:
    """An assistant in all channels that the person may look into: a public one without being in
    it, unless they are a guest.
    """
    ours = await services.memberships.of()
    visible = theirs.keys() & ours.keys()
    others = {each for each, channel in ours.items() if not channel.is_private} - visible
    if others and not await services.memberships.keeps_out(invocation.user_id, min(others)):
        visible |= others
    watches = await services.store.watches.of(invocation.team_id)
    watches = [watch for watch in watches if watch.channel_id in visible]
    known = await assistants(services, sorted({watch.author_id for watch in watches}))
    found, rest = _named(text[1:], known)
    if len(found) != 1:
        return several_named(rest, found) if found else no_author(rest, known)
    (author_id,) = found
    channel_ids = sorted(watch.channel_id for watch in watches if watch.author_id == author_id)
    place = Place(invocation.team_id, "", author_id, others=tuple(channel_ids))
    settings = ChannelSettings(invocation.team_id, "")
    when = rest.lower().removeprefix(EVERYWHERE).strip()
    title = f"{clip(known[author_id].name)} everywhere"
    return await _stats(services, invocation, settings, place, when, title)


async def _stats(
    services: Services,
    reader: Invocation,
    settings: ChannelSettings,
    place: Place,
    when: str,
    title: str,
) -> Post:
    """The figures of a place at a time, as the title says, to be shown to the reader."""
    now = services.clock()
    week = read_when(when, schedule_of(services, settings), now)
    if week.end > now:
        shown = await read_week(services, place, week, week.before())
    else:
        first = await read_first_score(services.store.database, place)
        if first is None or first >= week.end:
            return words.before_all(week, title, first)
        shown = await read_week(services, place, week, week, known_at=week.end)
    if place.author_id is None or not place.channel_id:
        # Its reader can still score them blind, or may not be in their channels.
        shown = replace(shown, lowest=())
    ids = ids_of(shown.lowest)
    await services.store.assignments.note_told(place.team_id, ids, reader.user_id)
    return words.stats_message(shown, title, services.identity.url, now)


async def _assistants(services: Services, settings: ChannelSettings) -> Mapping[str, Member]:
    """Those that were scored in a channel in eight weeks, or are watched there."""
    week = this_week(services, settings)
    span = Span(week.before(TREND_WEEKS - 1).start, week.end)
    authors = list[str]()
    for origin in Origin:
        place = Place(settings.team_id, settings.channel_id, origin=origin)
        authors += await services.store.tallies.authors(place, span)
    watches = await services.store.watches.of(settings.team_id, settings.channel_id)
    authors += [watch.author_id for watch in watches]
    return await assistants(services, authors)


def _named(text: str, known: Mapping[str, Member]) -> tuple[list[str], str]:
    """The ids of those whose name or id the text begins with, and what follows it; without one,
    all of the text.
    """
    names = [name for author_id, member in known.items() for name in (author_id, member.name)]
    typed = f"{text} ".lower()
    first = max(
        (each for each in names if typed.startswith(f"{each} ".lower())), key=len, default=""
    )
    if not first:
        return [], text
    wanted = first.lower()
    ids = [each for each, of in known.items() if wanted in {each.lower(), of.name.lower()}]
    return ids, text[len(first) :].strip() if len(ids) == 1 else first
