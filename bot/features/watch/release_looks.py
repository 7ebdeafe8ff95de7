"""Releases, told, and compared with the time before once half a point would be seen.

A mark, what it has changed, and that it is taken back are stored before they are told.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial

from bot.domain.standing import Standing, Whose
from bot.domain.watch import Watch
from bot.features.watch import release_text as words
from bot.features.watch.asked_again import Asked, Change
from bot.features.watch.notices import TRIED_FOR, Telling, shown_to, tell_each
from bot.features.watch.queries import Release, Releases
from bot.features.watch.release_text import COMPARED_FOR, GIVEN_UP
from bot.features.watch.series import Series, read_series, replied_at
from bot.features.watch.standings import (
    LEASE,
    LOOK_HOUR,
    StandingLooks,
    place_of,
    with_cause,
    with_marker,
)
from bot.services import Services
from bot.slack.members import MembershipError
from bot.store.notices import Notices, day_of
from bot.store.standings import Standings
from judge.evaluation.standing import Direction, days_until_clear, level_before, step_at
from judge.evaluation.stats import Interval, MeanEstimator

_PLAIN = 1.5  # half widths of the range: three standard errors


class ReleaseLooks:
    """Tells that a release is marked or taken back, and looks at each once a day until it is known
    what it has changed.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._releases = Releases(services.store.database)
        self._standings = Standings(services.store.database)
        self._notices = Notices(services.store.database)
        self._looks = StandingLooks(services)

    async def look(self) -> None:
        team_id = self._services.identity.team_id
        now = self._services.clock()
        to_announce = await self._releases.to_announce(team_id)
        to_compare = await self._releases.to_compare(team_id, now - GIVEN_UP)
        if not to_announce and not to_compare:
            return
        subjects = await self._looks.subjects()
        for release in to_announce:
            await self._announce(release, subjects.get(release.subject, ()))
        for release in to_compare:
            watches = subjects.get(release.subject, ())
            if watches:
                await self._look_at(release, watches)

    async def _announce(self, release: Release, watches: Sequence[Watch]) -> None:
        recipients = with_marker(release, watches) if watches else {}
        # Not the person who did it.
        recipients.pop(release.taken_back_by or release.set_by, None)
        name = f"{'undone' if release.taken_back_at else 'mark'} {release.id}"
        write = partial(self._write, release, recipients, [watch.channel_id for watch in watches])
        reached = await tell_each(self._services, recipients, name, write)
        now = self._services.clock()
        # It may be of an earlier day.
        since = release.taken_back_at or release.set_at + COMPARED_FOR
        is_over = now > since + TRIED_FOR
        if is_over or len(reached) == len(recipients):
            await self._releases.note_announced(release, now)

    async def _write(
        self, release: Release, recipients: Mapping[str, Watch], channels: Sequence[str], to: str
    ) -> Telling:
        name = await self._services.members.name_of(release.author_id)
        if release.taken_back_at:
            return words.undone_notice(release, name), ()
        # Who is in one of the channels may take it back; without Slack's answer it is told as well.
        own = [recipients[to].channel_id]
        with suppress(MembershipError):
            own = await shown_to(self._services, to, channels) or own
        channel_id = own[0]
        return words.mark_notice(release, name, channel_id, channels), ()

    async def _look_at(self, release: Release, watches: Sequence[Watch]) -> None:
        """Stores what a release has changed, if that is due: once half a point would be seen or
        more is plain, after four weeks, or because another one is marked.
        """
        services = self._services
        local = services.clock().astimezone(services.schedule.zone)
        marks = await self._releases.of_subject(release.subject)
        later = [each for each in marks if (each.set_at, each.id) > (release.set_at, release.id)]
        end = _end_of_look(release, later, local)
        if end is None:
            return
        name = f"release {release.id} {local.date()} {len(later)}"
        now = services.clock()
        subject = release.subject
        # One process at a time, before the judge is asked: each would pay for it.
        if await self._notices.claim(subject, name, "", day_of(now), now, LEASE) is None:
            return
        others = {each.day for each in marks if each.id != release.id}
        series = await read_series(services, place_of(subject, watches))
        scores = _around(series, release, end) if series else None
        effect = await self._effect(release, scores, end, others)
        is_over = later or end >= release.day + COMPARED_FOR
        if is_over or _is_plain(effect) or (scores and await _is_seen(release, scores, end)):
            await self._store(effect, scores, watches)
        await self._notices.note_told(subject, name, "", services.clock())

    async def _effect(
        self, release: Release, scores: Series | None, end: date, others: Collection[date]
    ) -> Standing:
        """What a release has changed up to the day `end`; `others` are the days of other releases."""
        now = self._services.clock()
        unknown = Standing(
            **release.subject._asdict(),
            release_id=release.id,
            follows=None,
            since=release.day,
            lowest=0,
            highest=5,
            version=None,
            direction=Direction.TOO_FEW,
            event=None,
            stored_at=now,
            looked_at=now,
            is_to_tell=True,
        )
        if scores is None:
            return unknown
        kind = scores.kind
        standing = await self._standings.of(release.subject)
        known = {*others, *_steps(standing, release)}
        step = await asyncio.to_thread(step_at, scores.dated(), release.day, end, kind.scale, known)
        level = _mean_of(scores, release.day)
        if step is None or level is None:
            return unknown
        return replace(
            unknown,
            lowest=kind.lowest,
            highest=kind.highest,
            version=kind.version,
            direction=_direction_of(step),
            level=level.mean,
            level_low=level.low,
            level_high=level.high,
            n=len(scores.since(release.day)),
            before=level_before(
                scores.dated(), release.day, kind.scale, level.mean, step.mean, known
            ),
            step=step.mean,
            step_low=step.low,
            step_high=step.high,
        )

    async def _store(
        self, effect: Standing, scores: Series | None, watches: Sequence[Watch]
    ) -> None:
        """Stores an effect, once the judge was asked again whose it is."""
        day = effect.since
        if not effect.is_clear or effect.change is None or scores is None or day is None:
            await self._standings.begin(effect)
            return
        standing = await self._standings.of(effect.subject)
        if standing and standing.whose and _is_cause_known(standing, effect):
            asked = Asked(standing.whose, standing.why, standing.asked, standing.judge_change)
            await self._standings.begin(with_cause(effect, asked, standing.questions))
            return
        change = Change(scores.before(day), scores.since(day), effect.change)
        asked = await self._looks.ask(effect, change, watches)
        await self._looks.store_change(effect, change, asked)


def _end_of_look(release: Release, later: Sequence[Release], local: datetime) -> date | None:
    """The day up to which a release is compared now; None if it is too early to look at it.

    It is looked at after whole weeks, because each look is another chance to be wrong.
    """
    if later:
        return min(each.day for each in later)
    weeks, days = divmod((local.date() - release.day).days, 7)
    # What became due earlier, while the app was down, does not wait for the morning.
    if weeks < 1 or (days == 0 and local.hour < LOOK_HOUR):
        return None
    return release.day + timedelta(weeks=weeks)


async def _is_seen(release: Release, scores: Series, end: date) -> bool:
    """Whether half a point would probably be seen by now."""
    scale = scores.kind.scale
    days = await asyncio.to_thread(days_until_clear, scores.dated(), release.day, end, scale)
    return days is not None and release.day + timedelta(days=days) <= end


def _is_plain(effect: Standing) -> bool:
    """Whether a change is so clear that it may be told before half a point would be seen: three
    such looks before the last one add less than half a percent to what is wrong by chance.
    """
    step = effect.change
    if step is None or step.low is None:
        return False
    return abs(step.mean) > _PLAIN * (step.mean - step.low)


def _around(series: Series, release: Release, end: date) -> Series | None:
    """The scores up to the day `end`, without those of the release's day that are older than it;
    None if there are none.
    """
    kept = [
        score
        for score in series.scores
        if series.day_of(score) < end
        and (series.day_of(score) != release.day or replied_at(score) >= release.set_at)
    ]
    return replace(series, scores=kept) if kept else None


def _steps(standing: Standing | None, release: Release) -> list[date]:
    """The days of other changes that are known; the release's own is told by its release."""
    if standing is None:
        return []
    state = standing.state
    days = [*state.ended, *([state.since] if state.since else [])]
    return [day for day in days if standing.released_on != release.day or day != standing.since]


def _is_cause_known(standing: Standing, effect: Standing) -> bool:
    """Whether the standing has told the effect of a release, and the judge was asked again then."""
    is_same = standing.released_on == effect.since and standing.direction is effect.direction
    return is_same and standing.whose is not Whose.NOT_ASKED


def _direction_of(step: Interval) -> Direction:
    if not step.is_clear:
        return Direction.STEADY
    return Direction.HIGHER if step.mean > 0 else Direction.LOWER


def _mean_of(series: Series, since: date) -> Interval | None:
    """The mean of the scores since then, with its range; a thread's depend on each other."""
    mean = MeanEstimator(series.kind.scale)
    for score in series.since(since):
        mean.add(score.score, cluster=(score.channel_id, score.thread_ts or score.message_ts))
    estimate = mean.estimate()
    return estimate.judge if estimate else None
