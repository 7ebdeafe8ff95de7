"""A channel's week, or one assistant's in it: read once, for digest, stats and details alike."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from bot.domain.week import Week
from bot.feature import Named, WeekPart
from bot.features.digest.queries import SortedReply, read_causes
from bot.figures.lowest import LowList, folded
from bot.figures.week import Chosen, read_chosen
from bot.services import Services
from bot.slack.members import Member
from bot.store.figures import LowCase, Place, Span
from bot.store.tallies import Tallies
from bot.store.visibility import Origin

_LOWEST = 3
_SEVERAL = 100  # low replies are read where a few are shown: some may be the same
_LOOKED_AT = 500  # low replies


class Causes(NamedTuple):
    """The low replies of a week that were sorted into causes, and those of the week before."""

    week: Week
    replies: Sequence[SortedReply]
    before: Sequence[SortedReply]


@dataclass(frozen=True)
class ChannelWeek:
    """What is shown of a week.

    Attributes:
        place: The channel, and the author if it is one assistant's week; without a channel, it is
            in several.
        part: The features' part at the top, and the assistants that it is about.
        chosen: What people chose in the channel.
        causes: Those of the week, or of the one before if this one is not over.
        lowest: Up to three low replies, chosen or drawn.
        members: The assistants that may be named, by id.
    """

    place: Place
    week: Week
    part: WeekPart
    chosen: Chosen | None
    causes: Causes
    lowest: Sequence[LowCase]
    members: Mapping[str, Member]

    @property
    def names(self) -> Mapping[str, str]:
        return {author_id: member.name for author_id, member in self.members.items()}

    @property
    def is_over(self) -> bool:
        return self.causes.week == self.week

    @property
    def low_list(self) -> LowList:
        week = self.week
        return LowList(self.place.channel_id, week.start, week.end, self.place.author_id)


async def read_week(
    services: Services,
    place: Place,
    week: Week,
    *,
    is_past: bool = False,
    names_within_s: float = 0,
) -> ChannelWeek:
    """The week, or what has passed of it; it is past once there was another digest."""
    now = services.clock()
    named = partial(assistants, services, names_within_s=names_within_s)
    part = await _part(services, place, week, named, is_past)
    causes = await _causes(services, place, week if week.end <= now else week.before())
    authors = _authors_of(causes.replies)
    chosen = None
    if place.channel_id:
        chosen = await read_chosen(services.store.tallies, place, week, now)
        authors |= {author.id for author in chosen.authors}
    members = await named(sorted(authors))
    lowest = await _lowest(services, place, chosen, members) if chosen else ()
    members = {**members, **await named(sorted(_authors_of(lowest)))}
    return ChannelWeek(place, week, part, chosen, causes, lowest, members)


async def _lowest(
    services: Services, place: Place, chosen: Chosen, named: Collection[str]
) -> Sequence[LowCase]:
    span = Span(chosen.week.start, chosen.until)
    return await read_lowest(services.store.tallies, place, span, named)


def _authors_of(replies: Iterable[SortedReply | LowCase]) -> set[str]:
    return {reply.author_id for reply in replies if reply.author_id}


async def _causes(services: Services, place: Place, week: Week) -> Causes:
    database = services.store.database
    replies = await read_causes(database, place, week)
    return Causes(week, replies, await read_causes(database, place, week.previous()))


async def _part(
    services: Services, place: Place, week: Week, named: Named, is_past: bool
) -> WeekPart:
    """The parts of all features as one."""
    parts = [
        await feature.week_part(place, week, named, is_past)
        for feature in services.features
        if feature.week_part
    ]
    author_ids = frozenset[str]().union(*(part.author_ids for part in parts))
    return WeekPart(author_ids, [block for part in parts for block in part.blocks])


async def read_lowest(
    tallies: Tallies, place: Place, span: Span, author_ids: Collection[str]
) -> Sequence[LowCase]:
    """Up to three low replies, the lowest first and the newest first among equals: of those that
    people chose, only these authors'.
    """
    watched = replace(place, origin=Origin.WATCHED)
    low = [
        *await tallies.low(place, span, _SEVERAL, False, author_ids),
        *await tallies.low(watched, span, _SEVERAL, False),
    ]
    low.sort(key=lambda case: (case.score, -case.judged_at.timestamp()))
    return folded(low)[:_LOWEST]


class LowReplies(NamedTuple):
    """Low replies, newest first, with their assistants."""

    replies: Sequence[LowCase]
    members: Mapping[str, Member]

    def author_of(self, reply: LowCase) -> str:
        return self.members[reply.author_id or ""].name


async def read_low(
    services: Services,
    place: Place,
    span: Span,
    origins: Iterable[Origin] = Origin,
    names_within_s: float = 0,
) -> LowReplies:
    """The newest low replies by assistants, or by the place's author."""
    found = list[LowCase]()
    for origin in origins:
        its = replace(place, origin=origin)
        found += await services.store.tallies.low(its, span, _LOOKED_AT, True)
    found.sort(key=lambda case: case.judged_at, reverse=True)
    members = await assistants(services, sorted(_authors_of(found)), names_within_s)
    return LowReplies([case for case in found if case.author_id in members], members)


async def assistants(
    services: Services, author_ids: Sequence[str], names_within_s: float = 0
) -> Mapping[str, Member]:
    """Those of the authors who may be named: Slack says that they are bots."""
    members = await services.members.of_all(author_ids, names_within_s)
    return {author_id: member for author_id, member in members.items() if member.is_bot}
