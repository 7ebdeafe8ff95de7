"""What a watch tells besides its alerts: its first figures, and low replies, within minutes."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from bot.domain.standing import Standing, subject_of
from bot.domain.watch import Watch
from bot.features.watch import text
from bot.features.watch.notices import AlertNotices, Telling, shown_to, tell_once
from bot.features.watch.queries import WatchOrders, is_order, watched
from bot.features.watch.standing_text import channels_words
from bot.features.watch.week_text import standing_lines
from bot.figures.lowest import folded, ids_of
from bot.figures.quality import grouped
from bot.services import Services
from bot.slack.members import MembershipError
from bot.slack.messenger import Post, to_post
from bot.store.figures import Span
from bot.store.notices import day_of
from bot.store.standings import Standings

FIRST = 20
"""After so many scores of a new watch its first figures are told."""
# notices are kept for longer
_NEW_FOR = timedelta(weeks=8)
_MOST_SINGLY = 5


async def tell_first(services: Services) -> None:
    """Tells who hears of a new watch, or else who set it, its first figures, once there are enough
    scores.
    """
    now = services.clock()
    for watch in await WatchOrders(services.store.database).told_of(services.identity.team_id):
        if now <= watch.since + _NEW_FOR:
            await _tell_first_of(services, watch, now)


async def _tell_first_of(services: Services, watch: Watch, now: datetime) -> None:
    to = watch.alerts_to
    if not to and (setter := await WatchOrders(services.store.database).set_by(watch)):
        to = (setter,)
    told = replace(watch, alerts_to=to)
    name = f"first {watch.since:%H:%M:%S}"
    if await AlertNotices(services.store.database).is_settled(told, name, now):
        return
    standing = await _first_standing(services, watch, now)
    if standing:
        assistant = await services.members.name_of(watch.author_id)
        await tell_once(services, told, name, _first(watch, standing_lines(standing, assistant)))


async def _first_standing(services: Services, watch: Watch, now: datetime) -> Standing | None:
    """The standing, once it has been looked at with enough scores of the watch."""
    scores = await services.store.tallies.in_order(watched(watch), Span(watch.since, now))
    standing = await Standings(services.store.database).of(subject_of(watch))
    if standing is None or len(scores) < FIRST:
        return None
    return standing if standing.looked_at > scores[FIRST - 1].judged_at else None


def _first(watch: Watch, lines: Sequence[str]) -> Post:
    where = channels_words(watch.channels or [watch.channel_id])
    return to_post("\n".join([f"*The first figures of the watch in {where}*", *lines]))


async def tell_low(services: Services) -> None:
    for watch in await WatchOrders(services.store.database).told_of(services.identity.team_id):
        if watch.low_since:
            since = max(watch.low_since, services.clock() - timedelta(days=2))
            for told in await _by_reader(services, watch):
                await _tell_of(services, told, since)


async def _by_reader(services: Services, watch: Watch) -> Sequence[Watch]:
    """The watch; of an order, one for each who hears of it, with those of its channels that they
    are in.
    """
    if not is_order(watch):
        return [watch]
    found = list[Watch]()
    for to in watch.alerts_to:
        with suppress(MembershipError):  # until the next turn
            channels = await shown_to(services, to, watch.channels)
            found.append(replace(watch, alerts_to=(to,), channels=tuple(channels)))
    return found


async def _tell_of(services: Services, watch: Watch, since: datetime) -> None:
    """Tells five low replies a day one by one, of those that are the same only the first; the
    others of a day together, once it is over.
    """
    now = services.clock()
    low = await services.store.tallies.lowest(watched(watch), Span(since, now))
    days = grouped((day_of(delivered_at), case_id) for case_id, delivered_at in low)
    told = await _told_singly(services, watch, days)
    new = await _new(services, watch, [case_id for case_id, _ in low], told)
    for day, case_ids in days.items():
        news = _news_of(day, case_ids, told, new, is_over=day != day_of(now))
        for name, ids in news.items():
            await tell_once(services, watch, name, partial(_post, services, watch, ids), day)


async def _told_singly(
    services: Services, watch: Watch, days: Mapping[str, Sequence[int]]
) -> set[int]:
    """Those of these cases that were told one by one, or were meant to be."""
    notices = AlertNotices(services.store.database)
    told = set[int]()
    for day in days:
        names = await notices.of_day(watch, day)
        told |= {each for ids in days.values() for each in ids if _name_of(each) in names}
    return told


async def _new(
    services: Services, watch: Watch, case_ids: Sequence[int], told: set[int]
) -> set[int]:
    """Those of these cases that are told one by one: of those that are the same, the first."""
    low = await services.store.tallies.low_among(watched(watch), case_ids)
    return {reply.id for reply in folded(low) if told.isdisjoint(reply.ids)}


def _news_of(
    day: str, case_ids: Sequence[int], told: set[int], new: set[int], *, is_over: bool
) -> Mapping[str, Sequence[int]]:
    """What is told of a day's low replies: the cases by the name of their notice."""
    singly = [case_id for case_id in case_ids if case_id in told]
    rest = [case_id for case_id in case_ids if case_id not in told]
    if not is_over:
        room = max(_MOST_SINGLY - len(singly), 0)
        singly += [case_id for case_id in rest if case_id in new][:room]
        rest = []
    news = {_name_of(case_id): [case_id] for case_id in singly}
    return news | {f"day {day}": rest} if rest else news


def _name_of(case_id: int) -> str:
    return f"case {case_id}"


async def _post(services: Services, watch: Watch, case_ids: Sequence[int]) -> Telling | None:
    # Read right before the post: some may have been forgotten or deleted since.
    found = await services.store.tallies.low_among(watched(watch), case_ids)
    kept = folded(each for each in found if not each.deleted_at)
    if not kept:
        return None
    post = text.low_alert(
        watch, await services.members.name_of(watch.author_id), kept, services.identity.url
    )
    return post, ids_of(kept)
