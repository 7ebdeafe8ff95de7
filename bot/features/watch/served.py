"""Tells once that another model answers under the judge's name, and whether it scores as the one before."""

import asyncio
from collections import Counter, defaultdict
from datetime import timedelta

import sqlalchemy as sa

from bot.domain.watch import Watch
from bot.feature import Services
from bot.features.watch.again import AskedAgain, Change, who_changed
from bot.features.watch.alerts import RECENT, REFERENCE
from bot.features.watch.figures import name_of
from bot.features.watch.notices import tell_post
from bot.features.watch.queries import Notices, watched
from bot.features.watch.text import new_model_notice
from bot.store.figures import Span
from bot.store.schema import cases, ratings
from bot.store.tallies import is_public

_DAY, _FEWEST = timedelta(days=1), 10
_LASTING = 0.8  # of a day's ratings, and at most the rest of the week before: in a roll-out, both answer in turn


class NewModels:
    """Looks at the watches that send alerts, at each when it has a new score."""

    def __init__(self, services: Services) -> None:
        self._services, self._asked, self._newest = services, AskedAgain(services), dict[Watch, int]()

    async def look(self) -> None:
        watches = await self._services.store.watches.of(self._services.identity.team_id)
        await asyncio.gather(*[self._tell(each, *names) for each in watches if (names := await self._names(each))])

    async def _names(self, watch: Watch) -> tuple[str, str] | None:
        """Who answers now, and who did in the week before, if that has changed for good and is not told yet."""
        now, newest = self._services.clock(), await self._services.store.tallies.newest(watched(watch))
        if not watch.alerts_to or newest is None or self._newest.get(watch) == newest.id:
            return None
        self._newest[watch] = newest.id
        columns = ratings.c.model, ratings.c.served, (cases.c.judged_at >= now - _DAY).label("is_new")
        query = sa.select(*columns, sa.func.count().label("number")).join_from(cases, ratings)
        query = query.where(is_public(watched(watch), Span(now - _DAY - RECENT, now))).group_by(*columns)
        answers = defaultdict[tuple[str, bool], Counter[str | None]](Counter)
        for row in await self._services.store.database.all(query):
            answers[row.model, bool(row.is_new)][row.served] += row.number
        for model in {model for model, _ in answers}:
            after, before = answers[model, True], answers[model, False]
            if min(after.total(), before.total()) < _FEWEST:
                continue
            ((new, number),), ((old, earlier),) = after.most_common(1), before.most_common(1)
            is_lasting = number >= _LASTING * after.total() and 2 * earlier > before.total()
            if new and old and is_lasting and before[new] <= (1 - _LASTING) * before.total():
                told = await Notices(self._services.store.database).told(watch, f"answers as {new}")
                return None if told.issuperset(watch.alerts_to) else (new, old)
        return None

    async def _tell(self, watch: Watch, new: str, old: str) -> None:
        services, now, name = self._services, self._services.clock(), f"answers as {new}"
        scores = await services.store.tallies.in_order(watched(watch), Span(now - RECENT - REFERENCE, now))
        its = [each for each in scores if each.kind == scores[-1].kind]
        before, after = ([each for each in its if (each.judged_at >= now - _DAY) == is_new] for is_new in (False, True))
        change = Change("mean", before, after)
        found = await self._asked.about(watch, name, change)
        who = await name_of(services, watch.author_id)
        await tell_post(services, watch, name, new_model_notice(watch, who, new, old, who_changed(found, change)))
        await self._asked.note(watch, change, found)
