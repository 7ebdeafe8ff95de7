"""Alerts about single low replies: within minutes, five a day one by one, and the others of a day together after it."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from bot.domain.watch import Watch
from bot.feature import Services
from bot.features.watch import text
from bot.features.watch.figures import name_of
from bot.features.watch.notices import tell_once
from bot.features.watch.queries import Notices, day_of, watched
from bot.slack.messenger import Post
from bot.store.figures import Span

_SINGLY = 5


async def tell_low(services: Services) -> None:
    for watch in await services.store.watches.of(services.identity.team_id):
        if watch.low_since:
            await _tell_of(services, watch, max(watch.low_since, services.clock() - timedelta(days=2)))


async def _tell_of(services: Services, watch: Watch, since: datetime) -> None:
    notices, now, low = Notices(services.store.database), services.clock(), services.store.low_replies
    by_day = defaultdict[str, list[int]](list)
    for case_id, delivered_at in await low.lowest(watched(watch), Span(since, now)):
        by_day[day_of(delivered_at)].append(case_id)
    for day, case_ids in by_day.items():
        told, due = await notices.of_day(watch, day), defaultdict[str, list[int]](list)
        for case_id in case_ids:
            name, is_today = f"case {case_id}", day == day_of(now)
            if name in told or (is_today and len(told) < _SINGLY):
                told.add(name)
                due[name].append(case_id)
            elif not is_today:
                due[f"day {day}"].append(case_id)
        for name, its in due.items():
            await tell_once(services, watch, name, day, partial(_post, services, watch, its))


async def _post(services: Services, watch: Watch, case_ids: Sequence[int]) -> tuple[Post, Sequence[int]] | None:
    # Read right before the post: some may have been forgotten or deleted since.
    found = await services.store.low_replies.among(watched(watch), case_ids)
    kept = [each for each in found if not each.deleted_at]
    if not kept:
        return None
    post = text.low_alert(watch, await name_of(services, watch.author_id), kept, services.identity.url)
    return post, [each.id for each in kept]
