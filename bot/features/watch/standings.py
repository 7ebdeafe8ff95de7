"""Looks at each standing once a day, and tells each change of it once.

A change is stored before it is told, and told under the number of its row. So a process that dies
between the two leaves a change that another one tells.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

from bot.domain.shared import AnswerCache
from bot.domain.standing import Standing, Whose
from bot.features.watch.asked_again import PASSING
from bot.features.watch.changes import Changes
from bot.features.watch.findings import change_of, kind_of, new_standing, with_figures
from bot.features.watch.notices import do_once
from bot.features.watch.series import Series, read_series, today_of
from bot.features.watch.standing_news import StandingNews
from bot.features.watch.standing_queries import StandingSteps
from bot.features.watch.subjects import WatchedSubject, subjects_of
from bot.services import Services
from judge.evaluation.standing import Event, Look, State, look

LOOK_HOUR = 6
"""The hour from which a day's look is due, by the workspace's clock: before people's day begins."""
_ASKED_FOR = timedelta(days=3)  # as long as it is open whose change it is
_PATIENCE_S = 5.0


class StandingLooks:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._standings = StandingSteps(services.store.database)
        self._changes = Changes(services)
        self._news = StandingNews(services)
        # A digest that needs a first look waits for the one that is under way.
        self._looking = asyncio.Lock()
        self._first = AnswerCache[str, None](lambda _: self.look(), kept_s=60.0, most=1)

    async def look(self) -> None:
        """Looks at the subjects whose look of the day is due, and tells what changed."""
        async with self._looking:
            subjects = await subjects_of(self._services)
            standings = await self._standings.of_team(self._services.identity.team_id)
            for subject, watched in subjects.items():
                standing = standings.get(subject)
                if self._is_due(standing):
                    name = f"look {today_of(self._services)}"
                    # Before the judge is asked: each process would pay for it.
                    look_at = partial(self._look_at, watched, standing)
                    await do_once(self._services, subject, name, look_at)
            await self._news.tell(subjects)

    async def look_first(self) -> None:
        """Looks at what was never looked at; goes on beside the caller if it takes longer than a
        few seconds, as when the judge is asked again.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await self._first.get(self._services.identity.team_id)

    def _is_due(self, standing: Standing | None) -> bool:
        if standing is None:
            return True
        local = self._services.clock().astimezone(self._services.schedule.zone)
        last = standing.looked_at.astimezone(local.tzinfo)
        return last.date() < local.date() and local.hour >= LOOK_HOUR

    async def _look_at(self, watched: WatchedSubject, standing: Standing | None) -> None:
        known = kind_of(standing) if standing else None
        series = await read_series(self._services, watched.place, known)
        if series:
            await self._look_through(watched, standing, series)

    async def _look_through(
        self, watched: WatchedSubject, standing: Standing | None, series: Series
    ) -> None:
        """Looks at the scores, and stores what is found: a change as a row of its own."""
        # Scores of another kind are not compared with what is remembered: another standing begins.
        known = standing if standing and kind_of(standing) == series.kind else None
        finding = await self._find(series, known.state if known else State())
        now = self._services.clock()
        if known and not finding.event and finding.state.direction == known.direction:
            await self._go_on(watched, with_figures(known, series, finding, now), finding, series)
            return
        follows = standing.id if standing else 0
        new = replace(new_standing(watched.subject, series, finding, now), follows=follows)
        if finding.event in {Event.BEGAN, Event.FURTHER}:
            await self._begin(watched, new, finding, series)
            return
        # So is another judge, which has no event.
        is_to_tell = finding.event is not None or (standing is not None and known is None)
        await self._standings.begin(replace(new, is_to_tell=is_to_tell))

    async def _begin(
        self, watched: WatchedSubject, new: Standing, finding: Look, series: Series
    ) -> None:
        """Stores a direction, once it is known whose change it is."""
        change = change_of(new, finding, series)
        await self._changes.store(new, change, await self._changes.ask(watched, change))

    async def _find(self, series: Series, state: State) -> Look:
        scores = series.dated()
        today = today_of(self._services)
        return await asyncio.to_thread(look, scores, today, series.kind.scale, state)

    async def _go_on(
        self, watched: WatchedSubject, standing: Standing, finding: Look, series: Series
    ) -> None:
        """Stores the figures of a look that has found no change. If it was left open whose the last
        one is and that is known now, it is stored anew, to be told.
        """
        is_open = standing.whose is Whose.OPEN or standing.why in PASSING
        is_new = standing.looked_at <= standing.stored_at + _ASKED_FOR
        if standing.is_clear and is_open and is_new:
            change = change_of(standing, finding, series)
            asked = await self._changes.ask(watched, change)
            if asked.whose not in {Whose.OPEN, Whose.NOT_ASKED}:
                anew = replace(standing, stored_at=standing.looked_at, follows=standing.id)
                await self._changes.store(anew, change, asked)
                return
        await self._standings.go_on(standing)
