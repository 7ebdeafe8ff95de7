"""Tells that another model answers under the judge's name."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import sqlalchemy as sa

from bot.domain.standing import subject_of
from bot.domain.watch import Watch
from bot.features.watch.notices import hearers, tell_once
from bot.features.watch.queries import WatchOrders, watched
from bot.features.watch.standing_text import new_model_notice
from bot.figures.quality import grouped
from bot.services import Services
from bot.store.database import Database
from bot.store.figures import Place, Span
from bot.store.schema import cases, ratings
from bot.store.tallies import is_public

_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)
_MIN_ANSWERS = 10
# of a day's ratings, and at most the rest of the week before: in a roll-out, both answer in turn
_LASTING = 0.8


class NewModels:
    """Looks at the assistants whose watches send alerts, at each when it has a new score."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._newest = dict[Watch, int]()

    async def look(self) -> None:
        orders = WatchOrders(self._services.store.database)
        watches = await orders.told_of(self._services.identity.team_id)
        with_alerts = [watch for watch in watches if watch.alerts_to]
        by_subject = grouped((subject_of(watch), watch) for watch in with_alerts)
        await asyncio.gather(*(self._look_at(_joined(each)) for each in by_subject.values()))

    async def _look_at(self, watch: Watch) -> None:
        services = self._services
        newest = await services.store.tallies.newest(watched(watch))
        if newest is None or self._newest.get(watch) == newest.id:
            return
        self._newest[watch] = newest.id
        names = await self._new_name(watch)
        if names is None:
            return
        who = await services.members.name_of(watch.author_id)
        post = new_model_notice(watch, who, *names)
        await tell_once(services, watch, f"answers as {names[0]}", post)

    async def _new_name(self, watch: Watch) -> tuple[str, str] | None:
        """Who answers now, and who did in the week before, if that has changed for good."""
        now = self._services.clock()
        span = Span(now - _DAY - _WEEK, now)
        counts = await _count_names(self._services.store.database, watched(watch), span, now - _DAY)
        for model in {model for model, _ in counts}:
            after = counts[model, True]
            before = counts[model, False]
            if min(after.total(), before.total()) < _MIN_ANSWERS:
                continue
            new, new_answers = after.most_common(1)[0]
            old, old_answers = before.most_common(1)[0]
            is_lasting = new_answers >= _LASTING * after.total()
            was_usual = 2 * old_answers > before.total()
            was_rare = before[new] <= (1 - _LASTING) * before.total()
            if new and old and is_lasting and was_usual and was_rare:
                return new, old
        return None


def _joined(watches: Sequence[Watch]) -> Watch:
    """One watch in place of those of an assistant: of all their channels, for all who hear of one."""
    channels = {channel for watch in watches for channel in watch.channels or (watch.channel_id,)}
    hearing = tuple(hearers(watches))
    return replace(watches[0], alerts_to=hearing, channels=tuple(sorted(channels)))


async def _count_names(
    database: Database, place: Place, span: Span, new_since: datetime
) -> dict[tuple[str, bool], Counter[str | None]]:
    """How often each name answered for each model, before and since `new_since`."""
    is_new = (cases.c.judged_at >= new_since).label("is_new")
    columns = ratings.c.model, ratings.c.served, is_new
    query = sa.select(*columns, sa.func.count().label("number")).join_from(cases, ratings)
    query = query.where(is_public(place, span)).group_by(*columns)
    counts = defaultdict[tuple[str, bool], Counter[str | None]](Counter)
    for row in await database.all(query):
        counts[row.model, bool(row.is_new)][row.served] += row.number
    return counts
