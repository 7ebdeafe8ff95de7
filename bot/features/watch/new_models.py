"""Tells that another model answers under the judge's name."""

from collections import Counter, defaultdict
from datetime import datetime, timedelta

import sqlalchemy as sa

from bot.domain.standing import Subject, subject_of
from bot.features.watch.notices import hearers, tell_each
from bot.features.watch.standing_text import new_model_notice
from bot.features.watch.subjects import WatchedSubject
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
        self._newest = dict[Subject, int]()

    async def look(self) -> None:
        services = self._services
        watches = await services.store.watches.of(services.identity.team_id)
        by_subject = grouped((subject_of(watch), watch) for watch in watches if watch.alerts_to)
        for subject, its_watches in by_subject.items():
            watched = WatchedSubject(subject, its_watches)
            place = watched.place
            newest = await services.store.tallies.newest(place)
            if newest is None or self._newest.get(subject) == newest.id:
                continue
            self._newest[subject] = newest.id
            if names := await self._new_name(place):
                await self._tell(watched, *names)

    async def _tell(self, watched: WatchedSubject, new: str, old: str) -> None:
        services = self._services
        who = await services.members.name_of(watched.subject.author_id)
        notice = new_model_notice(who, watched.channel_ids, new, old)
        await tell_each(services, hearers(watched.watches), f"answers as {new}", notice)

    async def _new_name(self, place: Place) -> tuple[str, str] | None:
        """Who answers now, and who did in the week before, if that has changed for good."""
        now = self._services.clock()
        span = Span(now - _DAY - _WEEK, now)
        counts = await _count_names(self._services.store.database, place, span, now - _DAY)
        for model in {model for model, _ in counts}:
            after = counts[model, True]
            before = counts[model, False]
            if changed := _changed(before, after):
                return changed
        return None


def _changed(before: Counter[str | None], after: Counter[str | None]) -> tuple[str, str] | None:
    """The usual name now and the one before, if the first is new and stays."""
    if min(after.total(), before.total()) < _MIN_ANSWERS:
        return None
    new, new_answers = after.most_common(1)[0]
    old, old_answers = before.most_common(1)[0]
    is_lasting = new_answers >= _LASTING * after.total()
    was_usual = 2 * old_answers > before.total()
    was_rare = before[new] <= (1 - _LASTING) * before.total()
    return (new, old) if new and old and is_lasting and was_usual and was_rare else None


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
