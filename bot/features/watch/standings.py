"""Looks at each standing once a day, and tells each change of it once.

A change is stored before it is told, and told under the number of its row. So a process that dies
between the two leaves a change that another one tells.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial

import structlog

from bot.domain.shared import AnswerCache
from bot.domain.standing import Standing, Subject, Whose, subject_of
from bot.domain.verdict import later_version
from bot.domain.watch import Watch
from bot.features.watch.asked_again import PASSING, Asked, AskedAgain, Change
from bot.features.watch.examples import LowPart, read_low_part
from bot.features.watch.figures import LOW_FOR
from bot.features.watch.notices import TRIED_FOR, Telling, hearers, shown_to, tell_each
from bot.features.watch.pauses import Pauses
from bot.features.watch.queries import Release, Releases, WatchOrders
from bot.features.watch.questions import MIX_MOVED, compare_questions
from bot.features.watch.series import Series, read_series, today_of
from bot.features.watch.standing_text import new_judge_notice, share_line, standing_alert
from bot.figures.quality import grouped
from bot.services import Services
from bot.slack.blocks import section
from bot.slack.members import MembershipError
from bot.slack.messenger import drawn_from
from bot.store.figures import Kind, Place, Span
from bot.store.notices import Notices, day_of
from bot.store.standings import Standings
from bot.store.visibility import Origin
from bot.store.watches import EVERYWHERE
from judge.evaluation.standing import Direction, Event, Look, State, look

LOOK_HOUR = 6
"""The hour from which a day's look is due, by the workspace's clock: before people's day begins."""
LEASE = timedelta(minutes=15)  # longer than the judge is asked again
_ASKED_FOR = timedelta(days=3)  # as long as it is open whose change it is
_NO_LIMIT = 10_000
_PATIENCE_S = 5.0
_UNKNOWN = (None, None, None)  # instead of an interval

logger = structlog.get_logger(__name__)


class StandingLooks:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._standings = Standings(services.store.database)
        self._orders = WatchOrders(services.store.database)
        self._notices = Notices(services.store.database)
        self._pauses = Pauses(services.store.database)
        self._asked = AskedAgain(services)
        # A digest that needs a first look waits for the one that is under way.
        self._looking = asyncio.Lock()
        self._first = AnswerCache[str, None](lambda _: self.look(), kept_s=60.0, most=1)

    async def look(self) -> None:
        """Looks at the subjects whose look of the day is due, and tells what changed."""
        async with self._looking:
            subjects = await self.subjects()
            standings = await self._standings.of_team(self._services.identity.team_id)
            for subject, watches in subjects.items():
                standing = standings.get(subject)
                if self._is_due(standing):
                    await self._look_at(subject, watches, standing)
            await self._tell(subjects)

    async def look_first(self) -> None:
        """Looks at what was never looked at; goes on beside the caller if it takes longer than a
        few seconds, as when the judge is asked again.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await self._first.get(self._services.identity.team_id)

    async def subjects(self) -> Mapping[Subject, Sequence[Watch]]:
        """The watches of each subject."""
        watches = await self._orders.of(self._services.identity.team_id)
        known = await self._with_privacy(watches)
        return grouped((subject_of(watch), watch) for watch in known)

    async def _with_privacy(self, watches: Sequence[Watch]) -> Sequence[Watch]:
        """The watches, as private as their channels are now, as far as Slack says so."""
        if not watches:
            return watches
        try:
            listed = await self._services.memberships.of()
        except MembershipError as exc:
            logger.warning("channels_not_listed", reason=str(exc))
            return watches
        now_known = list[Watch]()
        for watch in watches:
            channel = listed.get(watch.channel_id)
            if channel and channel.is_private != watch.is_private:
                watch = replace(watch, is_private=channel.is_private)
                await self._orders.note_privacy(watch, is_private=channel.is_private)
            now_known.append(watch)
        return now_known

    def _is_due(self, standing: Standing | None) -> bool:
        if standing is None:
            return True
        local = self._services.clock().astimezone(self._services.schedule.zone)
        last = standing.looked_at.astimezone(local.tzinfo)
        return last.date() < local.date() and local.hour >= LOOK_HOUR

    async def _look_at(
        self, subject: Subject, watches: Sequence[Watch], standing: Standing | None
    ) -> None:
        now = self._services.clock()
        today = today_of(self._services)
        name = f"look {today}"
        # One process at a time, before the judge is asked: each would pay for it.
        if await self._notices.claim(subject, name, "", day_of(now), now, LEASE) is None:
            return
        known = kind_of(standing) if standing else None
        series = await read_series(self._services, place_of(subject, watches), known)
        if series:
            await self._store(subject, watches, standing, series)
        await self._notices.note_told(subject, name, "", self._services.clock())

    async def _store(
        self,
        subject: Subject,
        watches: Sequence[Watch],
        standing: Standing | None,
        series: Series,
    ) -> None:
        """Looks at the scores, and stores what is found: a change as a row of its own."""
        # Scores of another kind are not compared with what is remembered: another standing begins.
        is_another = standing is None or kind_of(standing) != series.kind
        state = State() if standing is None or is_another else standing.state
        today = today_of(self._services)
        judged_on = series.day_of(series.scores[-1])
        finding = await asyncio.to_thread(look, series.dated(), today, series.kind.scale, state)
        now = self._services.clock()
        has_changed = is_another or finding.event or finding.state.direction != state.direction
        if standing and not has_changed:
            current = replace(with_figures(standing, finding, now), judged_on=judged_on)
            if not await self._ask_once_more(current, finding, series, watches):
                await self._standings.go_on(current)
            return
        new = new_standing(subject, series.kind, finding, now)
        new = replace(new, judged_on=judged_on, follows=standing.id if standing else 0)
        if finding.event in {Event.BEGAN, Event.FURTHER}:
            change = change_of(new, finding, series)
            await self.store_change(new, change, await self.ask(new, change, watches))
            return
        # So is another judge, which has no event.
        is_to_tell = finding.event is not None or (standing is not None and is_another)
        await self._standings.begin(replace(new, is_to_tell=is_to_tell))

    async def ask(self, standing: Standing, change: Change, watches: Sequence[Watch]) -> Asked:
        """Asks the judge again whose change it is."""
        # Asking again costs at most what the watches may spend in a day.
        # Those that follow from an order have one limit together.
        limits = {
            EVERYWHERE if watch.is_derived else watch.channel_id: watch.per_day or _NO_LIMIT
            for watch in watches
        }
        most = sum(limits.values())
        return await self._asked.about(standing.team_id, change, most)

    async def _ask_once_more(
        self, standing: Standing, finding: Look, series: Series, watches: Sequence[Watch]
    ) -> bool:
        """Whether it is known now whose change it is, which was not when it was found; then it is
        stored, to be told.
        """
        is_open = standing.whose is Whose.OPEN or standing.why in PASSING
        is_old = standing.looked_at > standing.stored_at + _ASKED_FOR
        if not standing.is_clear or not is_open or is_old:
            return False
        change = change_of(standing, finding, series)
        asked = await self.ask(standing, change, watches)
        if asked.whose in {Whose.OPEN, Whose.NOT_ASKED}:
            return False
        anew = replace(standing, stored_at=standing.looked_at, follows=standing.id)
        await self.store_change(anew, change, asked)
        return True

    async def store_change(self, begun: Standing, change: Change, asked: Asked) -> None:
        """Stores a direction, and that it is to be told."""
        questions = await compare_questions(
            self._services.store.database,
            [score.id for score in change.before],
            [score.id for score in change.after],
        )
        by_topic = await self._services.change_by_topic(begun)
        if by_topic.has_mix_moved:
            questions = MIX_MOVED
        standing = replace(with_cause(begun, asked, questions), is_to_tell=True, told_at=None)
        if asked.whose not in {Whose.JUDGE, Whose.BOTH}:
            await self._standings.begin(standing)
            return
        first = change.after[0]
        anew = replace(
            standing,
            version=later_version(begun.version or "", first.judged_at),
            direction=Direction.TOO_FEW,
            origin=begun.since,
            begun_on=None,
            ended=(),
        )
        channels = sorted({score.channel_id for score in (*change.before, *change.after)})
        await self._standings.begin_with_judge(anew, begun.version, first.judged_at, channels)

    async def _tell(self, subjects: Mapping[Subject, Sequence[Watch]]) -> None:
        for standing in await self._standings.untold(self._services.identity.team_id):
            now = self._services.clock()
            watches = subjects.get(standing.subject, ())
            recipients = await self._recipients(standing, watches)
            if standing.event is Event.FURTHER:
                paused = await self._pauses.of(standing.subject, now)
                recipients = {to: watch for to, watch in recipients.items() if to not in paused}
            if recipients:
                await self._sort_low(standing, watches)
            write = partial(self._write, standing, watches)
            name = f"standing {standing.id}"
            reached = await tell_each(self._services, recipients, name, write)
            is_over = now > standing.stored_at + TRIED_FOR
            if is_over or len(reached) == len(recipients):
                await self._standings.note_told(standing, now if reached else None)

    async def _sort_low(self, standing: Standing, watches: Sequence[Watch]) -> None:
        """Has low replies sorted into causes, once, before a drop is told."""
        subject = standing.subject
        now = self._services.clock()
        name = f"causes of {standing.id}"
        if standing.direction is not Direction.LOWER:
            return
        if await self._notices.claim(subject, name, "", day_of(now), now) is None:
            return
        await self._notices.note_told(subject, name, "", now)
        span = Span(now - LOW_FOR, now)
        for watch in watches:
            place = Place(watch.team_id, watch.channel_id, watch.author_id)
            await self._services.sort_low(place, span)

    async def _recipients(
        self, standing: Standing, watches: Sequence[Watch]
    ) -> Mapping[str, Watch]:
        """Who hears of a change; of what a release has changed, also the person who marked it."""
        if standing.release_id is None or not watches:
            return hearers(watches)
        releases = await Releases(self._services.store.database).of_subject(standing.subject)
        for release in releases:
            if release.id == standing.release_id:
                return with_marker(release, watches)
        return {}  # it was taken back

    async def _write(self, standing: Standing, watches: Sequence[Watch], to: str) -> Telling | None:
        """The alert for one person or channel, with examples from channels that they may see."""
        services = self._services
        place = place_of(standing.subject, watches)
        channels = [watch.channel_id for watch in watches]
        name = await services.members.name_of(standing.author_id)
        if standing.event is None and standing.release_id is None:
            return new_judge_notice(standing, name, channels), ()
        part = LowPart()
        lines = list[str]()
        if standing.direction is Direction.LOWER and standing.since:
            shown_in = list[str]()
            # Without Slack's answer, the change is told without replies.
            with suppress(MembershipError):
                shown_in = await shown_to(services, to, channels)
            part = await read_low_part(services, standing.subject, place, shown_in)
            if series := await read_series(services, place, kind_of(standing)):
                lines.append(share_line(series, standing.since))
        if standing.release_id is not None and standing.since:
            lines += await services.release_lines(standing.subject, standing.since)
        low_part = list(part.blocks)
        by_topic = await services.change_by_topic(standing)
        if by_topic.line:
            low_part.insert(0, drawn_from(by_topic.drawn_from, section(by_topic.line)))
        post = standing_alert(standing, name, channels, lines, low_part)
        return post, part.told


def with_marker(release: Release, watches: Sequence[Watch]) -> dict[str, Watch]:
    """Who hears of a release: who hears of its watches, and the person who marked it."""
    recipients = hearers(watches)
    if not release.set_by.startswith("os:"):  # an operator's name in Slack is not known
        recipients.setdefault(release.set_by, watches[0])
    return recipients


def place_of(subject: Subject, watches: Sequence[Watch]) -> Place:
    """Where a subject's replies are."""
    first, *others = sorted(watch.channel_id for watch in watches)
    return Place(subject.team_id, first, subject.author_id, Origin.WATCHED, others=tuple(others))


def change_of(standing: Standing, finding: Look, series: Series) -> Change:
    """The scores before and since the change of a standing."""
    if standing.since is None or finding.step is None:
        raise ValueError(f"a change without its day: {finding}")
    return Change(series.before(standing.since), series.since(standing.since), finding.step)


def kind_of(standing: Standing) -> Kind:
    """What all scores of a standing share."""
    return Kind(standing.lowest, standing.highest, standing.version)


def new_standing(subject: Subject, kind: Kind, finding: Look, now: datetime) -> Standing:
    """A new row, with what people are told of the change."""
    step, step_low, step_high = finding.step or _UNKNOWN
    standing = Standing(
        **subject._asdict(),
        lowest=kind.lowest,
        highest=kind.highest,
        version=kind.version,
        direction=finding.state.direction,
        event=finding.event,
        stored_at=now,
        looked_at=now,
        before=finding.before,
        since=_since(finding),
        step=step,
        step_low=step_low,
        step_high=step_high,
    )
    return with_figures(standing, finding, now)


def _since(finding: Look) -> date | None:
    """The day that people are told of."""
    match finding.event:
        case Event.BEGAN | Event.FURTHER if finding.state.since:
            return max([finding.state.since, *finding.state.ended])
        case Event.STAYED:
            return finding.state.origin
        case _:
            return finding.turned


def with_figures(standing: Standing, finding: Look, now: datetime) -> Standing:
    """The standing with the level of this look, and what the next one must remember."""
    level, level_low, level_high = finding.level or _UNKNOWN
    state = finding.state
    return replace(
        standing,
        looked_at=now,
        level=level,
        level_low=level_low,
        level_high=level_high,
        n=finding.n,
        begun_on=state.since,
        origin=state.origin,
        ended=tuple(day.isoformat() for day in state.ended),
    )


def with_cause(standing: Standing, asked: Asked, questions: str) -> Standing:
    whose = asked.whose
    if whose is Whose.ASSISTANT and questions:
        whose = Whose.QUESTIONS
    step, low, high = asked.judge or _UNKNOWN
    return replace(
        standing,
        whose=whose,
        why=asked.why,
        asked=asked.n,
        judge_step=step,
        judge_low=low,
        judge_high=high,
        questions=questions,
    )
