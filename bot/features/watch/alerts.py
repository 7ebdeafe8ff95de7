"""Alerts, sent once and the same day: an assistant is clearly below its floor or gone, or its watch
has no scores.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial

from bot.domain.standing import subject_of
from bot.domain.watch import Watch
from bot.features.watch import text
from bot.features.watch.examples import read_low_part
from bot.features.watch.notices import AlertNotices, Telling, Write, tell_once
from bot.features.watch.pauses import Pauses
from bot.features.watch.queries import WatchOrders, watched
from bot.features.watch.reply_queries import Replies
from bot.features.watch.series import read_series, today_of
from bot.pipeline.verdict_text import cause_of
from bot.services import Services
from bot.slack.messenger import Post
from bot.store.figures import Span
from bot.store.notices import day_of
from judge.evaluation.standing import below
from judge.evaluation.stats import Interval

_PAUSED = {"below", "unanswered"}
SILENT_FOR = timedelta(hours=6)
RECENT = timedelta(days=7)
_PATIENCE = timedelta(hours=1)  # a reply drawn more recently may still be waiting for its score


class Alerts:
    """Checks each watch that sends alerts; an alert is repeated every seven days while its reason
    lasts.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tallies = services.store.tallies
        self._orders = WatchOrders(services.store.database)
        self._replies = Replies(services.store.database)
        self._notices = AlertNotices(services.store.database)
        self._pauses = Pauses(services.store.database)
        self._looked = set[tuple[Watch, date]]()
        # What is due of each kind, the most urgent first: the assistant is below its floor; the
        # channel cannot be read; questions have no answer; the watch has no scores; the assistant
        # no longer writes.
        self._checks: Mapping[str, Callable[[Watch], Awaitable[Post | Write | None]]] = {
            "below": self._below,
            "unread": self._unread,
            "unanswered": services.alert,
            "silent": self._silent,
            "gone": self._gone,
        }

    async def look(self) -> None:
        for watch in await self._orders.told_of(self._services.identity.team_id):
            if watch.alerts_to:
                await self._look_at(watch)

    async def _look_at(self, watch: Watch) -> None:
        """Sends what is due, at most one alert a day."""
        now = self._services.clock()
        day = day_of(now)
        today = await self._notices.of_day(watch, day)
        begun = [kind for kind in self._checks if f"{kind} {day}" in today]
        if begun and await self._notices.is_settled(watch, f"{begun[0]} {day}", now):
            return
        paused = await self._pauses.of(subject_of(watch), now)
        awake = replace(watch, alerts_to=tuple(to for to in watch.alerts_to if to not in paused))
        for kind in begun or self._checks:
            told = awake if kind in _PAUSED else watch
            due = await self._checks[kind](told) if told.alerts_to else None
            if due is not None:
                await tell_once(self._services, told, f"{kind} {day}", due, day, may_repeat=True)
                return

    async def _below(self, watch: Watch) -> Write | None:
        """The alert of a mean clearly below the floor, looked at once a day."""
        floor = watch.floor
        today = today_of(self._services)
        if floor is None or (watch, today) in self._looked or await self._was_told(watch, "below"):
            return None
        self._looked = {key for key in self._looked if key[1] == today}
        series = await read_series(self._services, watched(watch))
        # On another scale, the floor was set for another rubric.
        if series is None or not series.kind.lowest < floor < series.kind.highest:
            return None
        scale = series.kind.scale
        mean = await asyncio.to_thread(below, floor, series.dated(), today, scale)
        if mean is None:
            self._looked.add((watch, today))
            return None
        return partial(self._write_below, watch, mean)

    async def _write_below(self, watch: Watch, mean: Interval) -> Telling:
        services = self._services
        place = watched(watch)
        shown_in = (place.channel_id, *place.others)
        part = await read_low_part(services, subject_of(watch), place, shown_in)
        name = await services.members.name_of(watch.author_id)
        return text.floor_alert(watch, name, mean, part.blocks), part.told

    async def _unread(self, watch: Watch) -> Post | None:
        known = await self._orders.unread(watch.team_id, self._services.clock())
        told = await self._last(watch, "unread")
        for channel_id in (watch.channel_id, *watch.channels):
            unread = known.get(channel_id)
            if unread and not (told and told > unread.since):
                name = await self._services.members.name_of(watch.author_id)
                return text.unread_alert(replace(watch, channel_id=channel_id), name, unread)
        return None

    async def _silent(self, watch: Watch) -> Post | None:
        """The alert if no drawn reply was scored for a while; once in a week for each cause."""
        now = self._services.clock()
        place = watched(watch)
        newest = await self._tallies.newest(place)
        if newest and newest.judged_at > now - SILENT_FOR:
            return None
        since = max(watch.since, newest.judged_at) if newest else watch.since
        expected = await self._replies.expected(place, since, now - _PATIENCE)
        if expected < 3:  # of fewer, silence may be chance
            return None
        cause = await self._tallies.why_unscored(place, Span(since, now))
        told = await self._last(watch, "silent")
        if told and told > max(since, now - RECENT):
            cause_then = await self._tallies.why_unscored(place, Span(since, told))
            if cause == cause_then:
                return None
        name = await self._services.members.name_of(watch.author_id)
        return text.silent_alert(watch, name, since, expected, cause_of(cause or ""))

    async def _gone(self, watch: Watch) -> Post | None:
        """The alert if no reply of the assistant was seen for a week, after at least ten in the
        week before.
        """
        week_ago = self._services.clock() - RECENT
        place = watched(watch)
        by_day = await self._replies.coverage(place, day_of(week_ago - RECENT))
        before = sum(coverage.seen for coverage in by_day.values())
        is_there = any(day >= day_of(week_ago) for day in by_day)
        if is_there or before < 10 or await self._was_told(watch, "gone"):
            return None
        return text.gone_alert(watch, await self._services.members.name_of(watch.author_id), before)

    async def _was_told(self, watch: Watch, kind: str) -> bool:
        last = await self._last(watch, kind)
        return last is not None and last > self._services.clock() - RECENT

    async def _last(self, watch: Watch, kind: str) -> datetime | None:
        """When that was told last, before today: what is told today may not have reached all yet."""
        return await self._notices.last(watch, kind, day_of(self._services.clock()))
