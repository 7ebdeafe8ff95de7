"""Alerts, sent once and the same day: an assistant is clearly worse, better or gone, or its watch
has no scores.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

import structlog

from bot.domain.watch import Watch
from bot.feature import Services
from bot.features.watch import text
from bot.features.watch.changes import (
    RECENT,
    REFERENCE,
    AskedAgain,
    Change,
    questions_line,
    who_changed,
)
from bot.features.watch.notices import Telling, send_alert, tell_once
from bot.features.watch.queries import Notices, Releases, WatchOrders, day_of, watched
from bot.features.watch.reply_queries import Replies, together
from bot.figures.week import FEWEST, LOWEST
from bot.slack.messenger import Post
from bot.store.figures import BEGINNING, Place, Span, TimedScore
from judge.evaluation import drift

AlertKind = Literal["worse", "below", "unread", "silent", "gone", "better"]
"""What an alert reports, the most urgent first.

The assistant is worse than before, or below its floor; the channel cannot be read; the watch has no scores; the
assistant no longer writes, or is better than before.
"""
SILENT_FOR = timedelta(hours=6)
_PATIENCE = timedelta(hours=1)  # a reply drawn more recently may still be waiting for its score
_AT_IT = timedelta(minutes=15)  # longer than the judge is asked before an alert

logger = structlog.get_logger(__name__)


class DriftAlerts:
    """Checks each watch that sends alerts; while a drop lasts, its alert is repeated every seven
    days.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tallies = services.store.tallies
        self._orders = WatchOrders(services.store.database)
        self._replies = Replies(services.store.database)
        self._notices = Notices(services.store.database)
        self._releases = Releases(services.store.database)
        self._newest: dict[tuple[Place, float | None], int] = {}
        self._judges: dict[Place, str | None] = {}
        self._asked = AskedAgain(services)

    async def look(self) -> None:
        asking = list[Coroutine[Any, Any, None]]()
        try:
            for watch in await self._orders.of(self._services.identity.team_id):
                if watch.alerts_to:
                    await self._tell_of_new_judge(watch)
                    asking += await self._look_at(watch)
        finally:
            await asyncio.gather(*asking)

    async def _tell_of_new_judge(self, watch: Watch) -> None:
        place = watched(watch)
        newest = await self._tallies.newest(place)
        if newest is None or self._judges.get(place, "") == newest.version:
            return
        if await self._orders.note_judge(watch, newest.version):
            post = text.new_judge_notice(
                watch, await self._services.members.name_of(watch.author_id), newest.version
            )
            errors = (await send_alert(self._services, watch, post)).values()
            logger.info(
                "new_judge_told",
                channel=watch.channel_id,
                missed=len([each for each in errors if each]),
            )
        self._judges[place] = newest.version

    async def _look_at(self, watch: Watch) -> Sequence[Coroutine[Any, Any, None]]:
        """Sends what is due, at most one alert a day; that of a change is returned: the judge is
        asked first.
        """
        now = self._services.clock()
        day = day_of(now)
        yesterday = day_of(now - timedelta(days=1))
        others = {"unread": self._unread, "silent": self._silent, "gone": self._gone}
        today = await self._notices.of_day(watch, day)
        # What was begun before midnight goes on under its name, by which the channel is searched
        # for it.
        old = today | await self._notices.lost(watch, yesterday, now)
        kinds: Sequence[AlertKind] = get_args(AlertKind)
        names = {
            at if (at := f"{kind} {yesterday}") in old else f"{kind} {day}": kind for kind in kinds
        }
        begun = [name for name in names if name in today]
        if begun and await self._notices.is_settled(watch, begun[0], now):
            return []
        changes = await self._changes(watch)
        for name in begun or names:
            kind = names[name]
            due = await others[kind](watch) if kind in others else changes.get(kind)
            if due is None:
                continue
            # One process at a time, before the judge is asked: each would pay for it, and two might
            # tell two things.
            if await self._notices.claim(watch, "alert", "", day, now, _AT_IT) is None:
                break
            if not isinstance(due, Post):
                return [self._tell(watch, name, day, *due)]
            await tell_once(self._services, watch, name, due, day, may_repeat=True)
            break
        return []

    async def _tell(
        self, watch: Watch, name: str, day: str, drop: drift.Drop, change: Change
    ) -> None:
        found = await self._asked.about(watch, name, change)
        place = watched(watch)
        after = change.after
        who = await self._services.members.name_of(watch.author_id)
        lowest = (
            []
            if drop.kind == "rise"
            else sorted(after, key=lambda each: (each.score, -each.id))[:LOWEST]
        )
        told = [each.id for each in (lowest if len(after) >= FEWEST else after)]
        lines = [
            who_changed(found, change, "rise" if drop.kind == "rise" else "drop"),
            await questions_line(self._services.store.database, place, change),
        ]
        its = (after[0].judged_at, len(after))
        beside = "\n".join(filter(None, lines))
        scale = after[0].kind.scale
        url = self._services.identity.url

        async def write() -> Telling:
            cases = await self._tallies.low_among(place, [each.id for each in lowest])
            return text.drift_alert(watch, who, drop, its, cases, scale, url, beside), told

        sent = await tell_once(self._services, watch, name, write, day, may_repeat=True)
        await self._asked.note(watch, change, found, sent)

    async def _changes(self, watch: Watch) -> Mapping[AlertKind, tuple[drift.Drop, Change]]:
        """What has clearly changed and was not told lately; empty without a score that is new since
        that was so.
        """
        now = self._services.clock()
        floor = watch.floor
        place = watched(watch)
        tested = (place, floor)
        newest = await self._tallies.newest(place)
        if newest is None or self._newest.get(tested) == newest.id:
            return {}
        # Sorted by the time of the reply, because scores may come late and in no order.
        scores = sorted(
            await self._tallies.in_order(place, Span(now - RECENT - REFERENCE, now)),
            key=lambda each: (replied_at(each), each.id),
        )
        if not scores:
            return {}
        judge = scores[-1].kind
        # After a release, everything is compared with what came after it.
        released = max((each.set_at for each in await self._releases.of(place)), default=BEGINNING)
        recent = [
            each
            for each in scores
            if each.kind == judge and replied_at(each) >= max(released, now - RECENT)
        ]
        earlier = [each for each in scores if replied_at(each) < now - RECENT]
        same = [each for each in earlier if each.kind == judge]
        before = [each for each in same if replied_at(each) >= released]
        scale = judge.scale
        since = _scored(recent)
        drops: dict[AlertKind, tuple[drift.Drop | None, Sequence[TimedScore]]] = {
            "worse": (drift.find_drop(_scored(before), since, scale), before),
            "better": (drift.find_rise(_scored(before), since, scale), before),
        }
        if (
            floor is not None and scale.low < floor < scale.high
        ):  # otherwise it was set for another rubric's scale
            # Earlier scores only show how scores vary, so those of another judge on the same scale
            # count too.
            on_scale = _scored([each for each in earlier if each.kind.scale == judge.scale])
            drops["below"] = drift.find_below(floor, on_scale, since, scale), same
        found = {
            kind: (drop, Change(drop.kind, of, recent[drop.since :]))
            for kind, (drop, of) in drops.items()
            if drop and not await self._was_told(watch, kind)
        }
        if not found:
            self._newest[tested] = newest.id
        return found

    async def _unread(self, watch: Watch) -> Post | None:
        unread = (await self._orders.unread(watch.team_id, self._services.clock())).get(
            watch.channel_id
        )
        told = await self._last(watch, "unread") if unread else None
        if unread is None or (told and told > unread.since):
            return None
        return text.unread_alert(
            watch, await self._services.members.name_of(watch.author_id), unread
        )

    async def _silent(self, watch: Watch) -> Post | None:
        now = self._services.clock()
        span = Span(now - SILENT_FOR, now)
        expected = await self._replies.expected(watched(watch), span.start, now - _PATIENCE)
        if expected < 3 or await self._tallies.in_order(
            watched(watch), span
        ):  # of fewer, silence may be chance
            return None
        return text.silent_alert(
            watch, await self._services.members.name_of(watch.author_id), expected, SILENT_FOR
        )

    async def _gone(self, watch: Watch) -> Post | None:
        """The alert if no reply of the assistant was seen for a week, after at least ten in the
        week before.
        """
        week_ago = self._services.clock() - RECENT
        place = watched(watch)
        by_day = await self._replies.coverage(place, day_of(week_ago - RECENT))
        before = together(by_day.values()).seen
        is_there = any(day >= day_of(week_ago) for day in by_day)
        if is_there or before < 10 or await self._was_told(watch, "gone"):
            return None
        return text.gone_alert(watch, await self._services.members.name_of(watch.author_id), before)

    async def _was_told(self, watch: Watch, kind: AlertKind) -> bool:
        last = await self._last(watch, kind)
        for_how_long = RECENT + REFERENCE if kind == "better" else RECENT
        return last is not None and last > self._services.clock() - for_how_long

    async def _last(self, watch: Watch, kind: AlertKind) -> datetime | None:
        """When that was told last, before today: what is told today may not have reached all yet."""
        return await self._notices.last(watch, kind, day_of(self._services.clock()))


def replied_at(each: TimedScore) -> datetime:
    return datetime.fromtimestamp(float(each.message_ts), UTC)


def _scored(scores: Sequence[TimedScore]) -> Sequence[drift.DatedScore]:
    return [
        drift.DatedScore(each.score, replied_at(each).date(), each.thread_ts or each.message_ts)
        for each in scores
    ]
