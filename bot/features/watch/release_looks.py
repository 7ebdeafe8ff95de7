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
from bot.features.watch.changes import Changes, with_cause
from bot.features.watch.findings import judge_change_of
from bot.features.watch.notices import TRIED_FOR, Telling, do_once, shown_to, tell_each
from bot.features.watch.queries import Release, Releases
from bot.features.watch.release_text import COMPARED_FOR, GIVEN_UP
from bot.features.watch.series import Series, read_series, replied_at
from bot.features.watch.standing_news import with_marker
from bot.features.watch.standings import LOOK_HOUR
from bot.features.watch.subjects import WatchedSubject, subjects_of
from bot.services import Services
from bot.slack.members import MembershipError
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
        self._changes = Changes(services)

    async def look(self) -> None:
        team_id = self._services.identity.team_id
        now = self._services.clock()
        to_announce = await self._releases.to_announce(team_id)
        to_compare = await self._releases.to_compare(team_id, now - GIVEN_UP)
        if not to_announce and not to_compare:
            return
        subjects = await subjects_of(self._services)
        for release in to_announce:
            await self._announce(release, subjects.get(release.subject))
        for release in to_compare:
            watched = subjects.get(release.subject)
            if watched:
                await self._look_at(release, watched)

    async def _announce(self, release: Release, watched: WatchedSubject | None) -> None:
        recipients = _others(release, watched)
        name = f"{'undone' if release.taken_back_at else 'mark'} {release.id}"
        write = partial(self._write, release, watched)
        reached = await tell_each(self._services, recipients, name, write)
        now = self._services.clock()
        # It may be of an earlier day.
        since = release.taken_back_at or release.set_at + COMPARED_FOR
        is_over = now > since + TRIED_FOR
        if is_over or len(reached) == len(recipients):
            await self._releases.note_announced(release, now)

    async def _write(
        self, release: Release, watched: WatchedSubject | None, to: str
    ) -> Telling | None:
        name = await self._services.members.name_of(release.author_id)
        if release.taken_back_at:
            return words.undone_notice(release, name), ()
        if watched is None:
            return None
        # Who is in one of the channels may take it back; without Slack's answer it is told as well.
        own = [with_marker(release, watched.watches)[to].channel_id]
        with suppress(MembershipError):
            own = await shown_to(self._services, to, watched.channel_ids) or own
        return words.mark_notice(release, name, own[0], watched.channel_ids), ()

    async def _look_at(self, release: Release, watched: WatchedSubject) -> None:
        """Stores what a release has changed, if that is due."""
        services = self._services
        local = services.clock().astimezone(services.schedule.zone)
        marks = await self._releases.of_subject(release.subject)
        later = [each for each in marks if (each.set_at, each.id) > (release.set_at, release.id)]
        end = _end_of_look(release, later, local)
        if end is None:
            return
        others = [each.day for each in marks if each.id != release.id]
        is_over = bool(later) or end >= release.day + COMPARED_FOR
        compare = partial(self._compare, release, watched, end, others, is_over=is_over)
        name = f"release {release.id} {local.date()} {len(later)}"
        # Before the judge is asked: each process would pay for it.
        await do_once(services, release.subject, name, compare)

    async def _compare(
        self,
        release: Release,
        watched: WatchedSubject,
        end: date,
        others: Sequence[date],
        *,
        is_over: bool,
    ) -> None:
        """Stores what a release has changed up to the day `end`, once half a point would be seen or
        more is plain, or if no other look follows; `others` are the days of other releases.
        """
        series = await read_series(self._services, watched.place)
        scores = _around(series, release, end) if series else None
        effect = _unknown_effect(release, self._services.clock())
        if scores:
            standing = await self._standings.of(release.subject)
            known = {*others, *_steps(standing, release)}
            effect = await asyncio.to_thread(_measured, effect, scores, release.day, end, known)
        if is_over or _is_plain(effect) or (scores and await _is_seen(release, scores, end)):
            await self._store(effect, scores, watched)

    async def _store(
        self, effect: Standing, scores: Series | None, watched: WatchedSubject
    ) -> None:
        """Stores an effect, once the judge was asked again whose it is."""
        day = effect.since
        if not effect.is_clear or effect.change is None or scores is None or day is None:
            await self._standings.begin(effect)
            return
        standing = await self._standings.of(effect.subject)
        if standing and standing.whose and _is_cause_known(standing, effect):
            asked = Asked(standing.whose, standing.why, standing.asked, judge_change_of(standing))
            await self._standings.begin(with_cause(effect, asked, standing.questions))
            return
        change = Change(scores.before(day), scores.since(day), effect.change)
        await self._changes.store(effect, change, await self._changes.ask(watched, change))


def _others(release: Release, watched: WatchedSubject | None) -> Mapping[str, Watch]:
    """Who is told that a release is marked or taken back: not the person who did it."""
    if watched is None:
        return {}
    recipients = with_marker(release, watched.watches)
    recipients.pop(release.taken_back_by or release.set_by, None)
    return recipients


def _unknown_effect(release: Release, now: datetime) -> Standing:
    """The effect of a release with too few scores."""
    return Standing(
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


def _measured(
    unknown: Standing, scores: Series, day: date, end: date, known: Collection[date]
) -> Standing:
    """The effect of a release of a day by these scores; `known` are the days of other changes."""
    kind = scores.kind
    dated = scores.dated()
    step = step_at(dated, day, end, kind.scale, known)
    level = _mean_of(scores, day)
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
        n=len(scores.since(day)),
        before=level_before(dated, day, kind.scale, level.mean, step.mean, known),
        step=step.mean,
        step_low=step.low,
        step_high=step.high,
    )


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
