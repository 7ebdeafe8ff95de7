"""`/judge stats`: the figures of a channel, or of one assistant in it or everywhere, of this week or
an earlier time.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from bot.domain.blocker import RefusedError
from bot.features.digest.channel_week import ChannelWeek, assistants, read_week
from bot.features.digest.past import read_when
from bot.features.digest.poster import schedule_of
from bot.features.digest.text import week_message
from bot.figures.week import TREND_WEEKS
from bot.pipeline.text import NOT_YOURS, several_named, unsure_of_membership
from bot.services import Services
from bot.slack.invocation import Invocation
from bot.slack.members import Listed, Member, MembershipError
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip, escape
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


def no_author(name: str, known: Mapping[str, Member]) -> str:
    """The answer if no assistant has this name; it does not reveal whether a person was scored."""
    names = ", ".join(f"`@{clip(member.name)}`" for member in list(known.values())[:10])
    shown = f"I can show {names}." if names else "No assistant's reply has been scored here lately."
    return (
        f"I cannot show `@{clip(name)}` here. {shown} `/judge stats @{clip(name)} {EVERYWHERE}` looks "
        "in all your channels."
    )


async def answer_stats(services: Services, person: Invocation, text: str) -> Post | str:
    try:
        place, title, when = await _asked_for(services, person, text)
        shown = await _week_at(services, place, when)
    except RefusedError as exc:
        return str(exc)
    except MembershipError as exc:
        return unsure_of_membership(exc)
    except ValueError as exc:
        return f"{escape(str(exc))}. {_HELP}."
    if place.author_id is None:
        shown = replace(shown, lowest=())  # so its reader can still score them blind
    ids = [case.id for case in shown.lowest]
    await services.store.assignments.note_told(place.team_id, ids, person.user_id)
    return week_message(shown, services.identity.url, title)


async def _week_at(services: Services, place: Place, when: str) -> ChannelWeek:
    now = services.clock()
    settings = await services.store.channels.of(place.team_id, place.channel_id)
    week = read_when(when, schedule_of(services, settings), now)
    return await read_week(services, place, week, is_past=week.end <= now)


async def _asked_for(services: Services, person: Invocation, text: str) -> tuple[Place, str, str]:
    """The place that the text names, with its title, and what stands after it.

    Raises:
        RefusedError: There is none that the person may see; says why.
    """
    theirs = await services.memberships.of(person.user_id)
    place = Place(person.team_id, person.channel_id)
    title = ""
    if text.startswith("#"):
        name, _, text = text[1:].partition(" ")
        place = replace(place, channel_id=_channel(name, theirs))
        title = f"<#{place.channel_id}>" if place.channel_id != person.channel_id else ""
    elif text.startswith("@") and (person.is_direct or EVERYWHERE in text.lower().split()):
        place = replace(place, channel_id="", others=await _visible(services, person, theirs))
    elif person.is_direct:
        raise RefusedError(DIRECT)
    elif person.channel_id not in theirs:
        raise RefusedError(NOT_YOURS)
    if not text.startswith("@"):
        return place, title, text
    return await _asked_for_one(services, place, title, text[1:])


async def _asked_for_one(
    services: Services, place: Place, title: str, text: str
) -> tuple[Place, str, str]:
    """The same of the assistant whose name the text begins with."""
    author_id, name, when = await _named(services, place, text)
    title = f"{clip(name)} in {title}" if title else clip(name)
    if not place.channel_id:
        title += f" {EVERYWHERE}"
        when = when.strip().lower().removeprefix(EVERYWHERE)
    return replace(place, author_id=author_id), title, when.strip()


def _channel(name: str, theirs: Mapping[str, Listed]) -> str:
    for channel_id, channel in theirs.items():
        if name.lower() in {channel_id.lower(), channel.name.lower()}:
            return channel_id
    raise RefusedError(no_channel(f"#{name}"))


async def _visible(
    services: Services, person: Invocation, theirs: Mapping[str, Listed]
) -> tuple[str, ...]:
    """The app's channels that a person may look into: a public one without being in it, unless they
    are a guest.
    """
    ours = await services.memberships.of()
    visible = theirs.keys() & ours.keys()
    others = {each for each, channel in ours.items() if not channel.is_private} - visible
    if others and not await services.memberships.keeps_out(person.user_id, min(others)):
        visible |= others
    return tuple(sorted(visible))


async def _named(services: Services, place: Place, text: str) -> tuple[str, str, str]:
    """The assistant of a place whose name or id the text begins with: its id, its name, and what
    stands after it.
    """
    known = await _assistants(services, place)
    names = [name for author_id, member in known.items() for name in (author_id, member.name)]
    typed = f"{text} ".lower()
    alike = [name for name in names if typed.startswith(f"{name} ".lower())]
    first = max(alike, key=len, default="").lower()
    found = [each for each, of in known.items() if first in {each.lower(), of.name.lower()}]
    if len(found) != 1:
        said = several_named(first, found) if found else no_author(text, known)
        raise RefusedError(said)
    return found[0], known[found[0]].name, text[len(first) :]


async def _assistants(services: Services, place: Place) -> Mapping[str, Member]:
    """Those that are watched in a place, or were in eight weeks; in a channel, also those that people
    chose.
    """
    here = {place.channel_id, *place.others}
    watches = await services.store.watches.of(place.team_id)
    authors = [watch.author_id for watch in watches if watch.channel_id in here]
    now = services.clock()
    span = Span(now - timedelta(weeks=TREND_WEEKS), now)
    for origin in Origin if place.channel_id else [Origin.WATCHED]:
        authors += await services.store.tallies.authors(replace(place, origin=origin), span)
    return await assistants(services, sorted(set(authors)))
