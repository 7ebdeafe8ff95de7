"""What a watch tells besides its alerts: that it is set, its first figures, and low replies, within
minutes.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from math import ceil

from bot.domain.standing import Standing, subject_of
from bot.domain.watch import Watch
from bot.features.watch import text
from bot.features.watch.notices import Telling, shown_to, tell_once
from bot.features.watch.queries import WatchOrders, watched
from bot.features.watch.week_text import standing_lines
from bot.figures.lowest import folded, ids_of, low_blocks
from bot.figures.quality import grouped
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack.members import MembershipError
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip
from bot.store.audit import Action
from bot.store.figures import Span, TimedScore
from bot.store.notices import Notices, day_of
from bot.store.standings import Standings
from judge.scoring.numbers import number_of

FIRST = 20
"""After so many scores of a new watch its first figures are told."""
# notices are kept for longer
_NEW_FOR = timedelta(weeks=8)
_LATE = timedelta(days=2)
_MOST_SINGLY = 5


async def announce(services: Services, watch: Watch, by: str) -> str:
    """Tells a channel once that it is watched, and by whom; returns why that did not reach it, or
    an empty string.
    """
    chosen = await services.rubrics.log.chosen(watch.team_id, watch.channel_id)
    model = chosen.model or services.settings.judge_model
    name = clip(await services.members.name_of(watch.author_id))
    said = (
        f"<@{by}> has *{name}* watched here: an AI judge, `{clip(model)}`, scores "
        f"{text.scored(watch)}"
    )
    to = replace(watch, alerts_to=(watch.channel_id,))
    post = Post(said.replace("*", ""), [ui.section(said)])
    name = f"announced {watch.since:%H:%M:%S}"
    return " ".join(
        text.not_reached(watch, await tell_once(services, to, name, post), "The announcement")
    )


def when_first(a_day: float) -> str:
    """When a new watch, which takes so many scores a day, tells its first figures."""
    pace = (
        f", at last week's pace in about {number_of(ceil(FIRST / a_day), 'day')}" if a_day else ""
    )
    return f"The first figures come after {FIRST} scores{pace}."


async def tell_first(services: Services) -> None:
    """Tells who hears of a new watch, or else who set it, its first figures, once there are enough
    scores.
    """
    notices = Notices(services.store.database)
    now = services.clock()
    for watch in await WatchOrders(services.store.database).told_of(services.identity.team_id):
        if now > watch.since + _NEW_FOR:
            continue
        its = Action.WATCH_SET, watch.team_id, watch.channel_id, watch.author_id
        to = watch.alerts_to or tuple(filter(None, [await services.store.audit.last_by(*its)]))
        told = replace(watch, alerts_to=to)
        name = f"first {watch.since:%H:%M:%S}"
        if await notices.is_settled(told, name, now):
            continue
        scores = await services.store.tallies.in_order(watched(watch), Span(watch.since, now))
        if len(scores) < FIRST:
            continue
        standing = await Standings(services.store.database).of(subject_of(watch))
        if standing and standing.looked_at > scores[FIRST - 1].judged_at:
            write = partial(_first, services, watch, standing, scores)
            await tell_once(services, told, name, write)


async def _first(
    services: Services, watch: Watch, standing: Standing, scores: Sequence[TimedScore]
) -> Telling | None:
    """The standing, and the case whose score is told with it; None if that comes too late."""
    if services.clock() > scores[FIRST - 1].judged_at + _LATE:
        return None
    name = await services.members.name_of(watch.author_id)
    lowest = list[int]()
    where = "all public channels"
    # Of all channels, the reader may not be in that of the lowest.
    if not watch.is_everywhere:
        lowest = [min(scores, key=lambda score: (score.score, -score.id)).id]
        where = f"<#{watch.channel_id}>"
    cases = await services.store.tallies.low_among(watched(watch), lowest)
    title = f"The first figures of the watch in {where}"
    lines = standing_lines(standing, name)
    blocks = [ui.section("\n".join([f"*{title}*", *lines]))]
    if cases:
        blocks.append(ui.section("*Lowest*"))
        blocks += low_blocks(cases, [name] * len(cases), services.identity.url)
    return Post(f"{title}: {lines[0]}".replace("*", ""), blocks), lowest


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
    if not watch.is_everywhere:
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
    notices = Notices(services.store.database)
    tallies = services.store.tallies
    now = services.clock()
    low = await tallies.lowest(watched(watch), Span(since, now))
    replies = await tallies.low_among(watched(watch), [case_id for case_id, _ in low])
    heads = {case_id: head.id for head in folded(replies) for case_id in head.ids}
    days = grouped((day_of(delivered_at), case_id) for case_id, delivered_at in low)
    told = {day: await notices.of_day(watch, day) for day in days}
    for day, due in _due(days, told, heads, day_of(now)).items():
        for name, case_ids in due.items():
            write = partial(_post, services, watch, case_ids)
            await tell_once(services, watch, name, write, day)


def _due(
    days: Mapping[str, Sequence[int]],
    told: Mapping[str, Collection[str]],
    heads: Mapping[int, int],
    today: str,
) -> Mapping[str, Mapping[str, Sequence[int]]]:
    """The cases to tell of each day, by the name of the notice.

    `told` are the names of those that were told or begun; `heads` gives the first of those that are
    the same.
    """
    told_heads = {
        heads.get(case_id)
        for day, case_ids in days.items()
        for case_id in case_ids
        if f"case {case_id}" in told[day]
    }
    due = dict[str, dict[str, list[int]]]()
    for day, case_ids in days.items():
        due[day] = defaultdict(list)
        singly = {name for name in told[day] if name.startswith("case ")}
        for case_id in case_ids:
            name = f"case {case_id}"
            head_id = heads.get(case_id)
            is_new = day == today and len(singly) < _MOST_SINGLY and head_id not in told_heads
            if is_new or name in singly:
                singly.add(name)
                told_heads.add(head_id)
                due[day][name].append(case_id)
            elif day != today:
                due[day][f"day {day}"].append(case_id)
    return due


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
