"""Releases: marked in the series of an assistant, listed, taken back, and compared with the time
before once half a point would be seen.

A mark, what it has changed, and that it is taken back are stored before they are told.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.domain.standing import Standing, Subject, Whose
from bot.domain.watch import Watch, is_channel
from bot.feature import Services
from bot.features.watch import ids, orders, text
from bot.features.watch import release_text as words
from bot.features.watch.asked_again import Change
from bot.features.watch.notices import TRIED_FOR, Telling, tell_each
from bot.features.watch.queries import Notices, Release, Releases, day_of
from bot.features.watch.release_text import COMPARED_FOR, Outlook, ReleaseState
from bot.features.watch.series import Series, read_series, replied_at, today_of
from bot.features.watch.standings import (
    LEASE,
    LOOK_HOUR,
    StandingLooks,
    place_of,
    with_cause_of,
    with_marker,
)
from bot.slack import invocation as payloads
from bot.slack.invocation import Invocation, Raw
from bot.slack.members import MembershipError
from bot.slack.messenger import Post
from bot.store.figures import Place
from bot.store.standings import Standings
from judge.evaluation.standing import Direction, days_until_clear, step_at
from judge.evaluation.stats import Interval, MeanEstimator

_GIVEN_UP = 2 * COMPARED_FOR  # the app was down for so long that nobody waits for it any more
_PLAIN = 1.5  # half widths of the range: three standard errors
_SHARES = (0.05, 0.2, 0.5, 1.0)


async def answer(services: Services, invocation: Invocation, typed: str) -> Post | str:
    """Marks a release, lists those of the channel, or takes one back."""
    place = Place(invocation.team_id, invocation.channel_id)
    is_list = typed in {"", "list"}
    refusal = await orders.refusal_of(services, invocation, place.channel_id, is_change=not is_list)
    if refusal:
        return refusal
    if is_list:
        return await _listed(services, place)
    word, _, rest = typed.partition(" ")
    if word == "undo":
        return await _take_back(services, place, rest, invocation.user_id)
    try:
        return await mark_as_typed(services, place, typed, invocation.user_id)
    except ValueError as exc:
        return str(exc)


async def _listed(services: Services, place: Place) -> str:
    releases = await Releases(services.store.database).of(place)
    names = {
        author_id: await services.members.name_of(author_id)
        for author_id in {release.author_id for release in releases}
    }
    numbers = [release.id for release in releases]
    effects = await Standings(services.store.database).of_releases(numbers)
    return words.listed(releases, names, effects)


async def _take_back(services: Services, place: Place, number: str, by: str) -> str:
    """Takes back the release with this number, if the channel sees it."""
    releases = Releases(services.store.database)
    release = None
    if number.isdecimal():
        release = await releases.find(place, int(number[:9]))
    if release is None:
        return words.NO_RELEASE
    if not await releases.take_back(release, by, services.clock()):
        return words.undone_before(await releases.find(place, release.id) or release)
    return words.undone(release)


async def mark_as_typed(services: Services, place: Place, typed: str, by: str) -> Post:
    """Marks a release now, of the assistant whose name `typed` begins with; the rest is its note.

    Raises:
        ValueError: No watched assistant has that name.
    """
    names = await orders.watched_names(services, place.team_id, place.channel_id)
    author_id, note = _split(typed.removeprefix("@"), names)
    return await mark(services, replace(place, author_id=author_id), note, by)


def _split(typed: str, names: Mapping[str, str]) -> tuple[str, str]:
    """The assistant with whose name or id a text begins, and what follows."""
    fitting = [
        (len(called), author_id)
        for author_id, name in names.items()
        for called in (author_id, name)
        if f"{typed} ".lower().startswith(f"{called} ".lower())
    ]
    if not fitting:
        raise ValueError(text.not_watched(typed.partition(" ")[0], list(names.values())))
    length, author_id = max(fitting)
    return author_id, typed[length:].strip()


async def mark(services: Services, place: Place, note: str, by: str) -> Post:
    """Marks a release of the place's assistant now; returns the answer.

    Raises:
        ValueError: The assistant is not watched there any more.
    """
    subject, watches = await _subject_at(services, place)
    releases = Releases(services.store.database)
    running = await _running(services, subject)
    today = today_of(services)
    now = services.clock()
    number = await releases.add(subject, note[: words.NOTE_LENGTH], by, now, today)
    release = await releases.find(place, number)
    if release is None:
        raise ValueError(text.NOT_WATCHED)
    outlook = await _outlook(services, subject, watches)
    name = await services.members.name_of(subject.author_id)
    channels = [watch.channel_id for watch in watches]
    when = words.when_compared(outlook, _share_of(watches), today, by)
    return words.marked(release, name, place.channel_id, channels, running, when)


async def _subject_at(services: Services, place: Place) -> tuple[Subject, Sequence[Watch]]:
    """The subject of the place's watch, and all its watches."""
    subjects = await StandingLooks(services).subjects()
    for subject, watches in subjects.items():
        for watch in watches:
            if (watch.channel_id, watch.author_id) == (place.channel_id, place.author_id):
                return subject, watches
    raise ValueError(text.NOT_WATCHED)


async def _running(services: Services, subject: Subject) -> Sequence[Release]:
    """The releases of a subject that are being compared."""
    since = services.clock() - _GIVEN_UP
    to_compare = await Releases(services.store.database).to_compare(subject.team_id, since)
    return [release for release in to_compare if release.subject == subject]


def _share_of(watches: Sequence[Watch]) -> float:
    return max(watch.share for watch in watches)


async def _outlook(services: Services, subject: Subject, watches: Sequence[Watch]) -> Outlook:
    series = await read_series(services, place_of(subject, watches))
    if series is None:
        return Outlook(None, None)
    today = today_of(services)
    share = _share_of(watches)
    for possible in (share, *_SHARES):
        if possible < share:
            continue
        days = await asyncio.to_thread(
            days_until_clear,
            series.dated(),
            today,
            today,
            series.kind.scale,
            times=possible / share,
        )
        if days is not None:
            return Outlook(possible, today + timedelta(days=days))
    return Outlook(None, None)


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
        to_compare = await self._releases.to_compare(team_id, now - _GIVEN_UP)
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
        name = f"mark {release.id}"
        if release.taken_back_at:
            recipients = await self._who_know(release, recipients)
            name = f"undone {release.id}"
        write = partial(self._write, release, recipients, [watch.channel_id for watch in watches])
        reached = await tell_each(self._services, recipients, name, write)
        now = self._services.clock()
        is_over = now > (release.taken_back_at or release.set_at) + TRIED_FOR
        if is_over or len(reached) == len(recipients):
            await self._releases.note_announced(release, now)

    async def _who_know(
        self, release: Release, recipients: Mapping[str, Watch]
    ) -> dict[str, Watch]:
        """Those who have been told of a mark, and the person who made it."""
        return {
            to: watch
            for to, watch in recipients.items()
            if to == release.set_by or await self._notices.was_told(watch, f"mark {release.id}", to)
        }

    async def _write(
        self, release: Release, recipients: Mapping[str, Watch], channels: Sequence[str], to: str
    ) -> Telling:
        name = await self._services.members.name_of(release.author_id)
        if release.taken_back_at:
            return words.undone_notice(release, name), ()
        theirs: Collection[str] = ()
        if not is_channel(to):
            # Without Slack's answer it is told as well.
            with suppress(MembershipError):
                theirs = await self._services.memberships.of(to)
        # Who is in one of the channels may take it back.
        own = [channel_id for channel_id in channels if channel_id in theirs]
        channel_id = own[0] if own else recipients[to].channel_id
        return words.mark_notice(release, name, channel_id, channels), ()

    async def _look_at(self, release: Release, watches: Sequence[Watch]) -> None:
        """Stores what a release has changed, if that is due: once half a point would be seen or
        more is plain, after four weeks, or because another one is marked.
        """
        services = self._services
        local = services.clock().astimezone(services.schedule.zone)
        today = local.date()
        marks = await self._releases.of_subject(release.subject)
        later = [each for each in marks if (each.set_at, each.id) > (release.set_at, release.id)]
        weeks, days = divmod((today - release.day).days, 7)
        # What became due earlier, while the app was down, does not wait for the morning.
        is_too_early = weeks < 1 or (days == 0 and local.hour < LOOK_HOUR)
        if is_too_early and not later:
            return
        name = f"release {release.id} {today} {len(later)}"
        now = services.clock()
        subject = release.subject
        # One process at a time, before the judge is asked: each would pay for it.
        if await self._notices.claim(subject, name, "", day_of(now), now, LEASE) is None:
            return
        # Looked at after whole weeks: each look is another chance to be wrong.
        end = min((each.day for each in later), default=release.day + timedelta(weeks=weeks))
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
            before=min(max(level.mean - step.mean, kind.lowest), kind.highest),
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
        if standing and _is_cause_known(standing, effect):
            await self._standings.begin(with_cause_of(effect, standing))
            return
        change = Change(scores.before(day), scores.since(day), effect.change)
        asked = await self._looks.ask(effect, change, watches)
        await self._looks.store_change(effect, change, asked)


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


def register(app: AsyncApp, services: Services) -> None:
    messenger = services.messenger

    @payloads.on_click(app, ids.ACTION_RELEASE)
    async def open_window(invocation: Invocation, _: Raw) -> None:
        opened = await messenger.open_modal(invocation.trigger_id, words.said_modal("_…_"))
        if not opened:
            await messenger.tell(invocation.recipient, invocation.too_slow)
            return
        await messenger.update_modal(opened.id, await _window(services, invocation))

    @app.view(ids.VIEW_RELEASE)
    async def mark_with_note(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        state = ReleaseState.of(body["view"])
        note = payloads.typed(body["view"]["state"]["values"], ids.BLOCK_NOTE)
        channel_id = state.channel_id or ""
        refusal = await orders.refusal_of(services, invocation, channel_id, is_change=True)
        if refusal:
            await ack(response_action="update", view=words.said_modal(refusal))
            return
        await ack()
        place = Place(invocation.team_id, channel_id, state.author_id)
        try:
            said: Post | str = await mark(services, place, note, invocation.user_id)
        except ValueError as exc:
            said = str(exc)
        recipient = Recipient(invocation.user_id, state.told_at or channel_id)
        await messenger.tell(recipient, said)

    @payloads.on_click(app, ids.ACTION_UNDO_RELEASE)
    async def undo(invocation: Invocation, _: Raw) -> None:
        channel_id, number = orders.clicked_watch(invocation)
        refusal = await orders.refusal_of(services, invocation, channel_id, is_change=True)
        if refusal:
            await messenger.tell(invocation.recipient, refusal)
            return
        place = Place(invocation.team_id, channel_id)
        said = await _take_back(services, place, number, invocation.user_id)
        await messenger.replace(invocation.recipient, said)


async def _window(services: Services, invocation: Invocation) -> dict[str, Any]:
    """The window for a note, or why a release cannot be marked."""
    channel_id, author_id = orders.clicked_watch(invocation)
    refusal = await orders.refusal_of(services, invocation, channel_id, is_change=True)
    if refusal:
        return words.said_modal(refusal)
    try:
        place = Place(invocation.team_id, channel_id, author_id)
        subject, watches = await _subject_at(services, place)
    except ValueError as exc:
        return words.said_modal(str(exc))
    name = await services.members.name_of(author_id)
    channels = [watch.channel_id for watch in watches]
    running = await _running(services, subject)
    state = ReleaseState(channel_id=channel_id, author_id=author_id, told_at=invocation.channel_id)
    return words.release_modal(state, name, channels, running)
