"""Looks at each standing once a day, and tells each change of it once.

A change is stored before it is told, and told under the number of its row. So a process that dies
between the two leaves a change that another one tells.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial

import structlog

from bot.domain.standing import Standing, Subject, Whose
from bot.domain.verdict import later_version
from bot.domain.watch import Watch
from bot.feature import Services
from bot.features.watch.asked_again import Asked, AskedAgain, Change
from bot.features.watch.notices import Telling, tell_once
from bot.features.watch.queries import Notices, WatchOrders, day_of
from bot.features.watch.questions import Questions, compare_questions
from bot.features.watch.standing_text import standing_alert
from bot.figures.quality import grouped
from bot.figures.week import LOWEST
from bot.slack.members import MembershipError
from bot.store.figures import Kind, LowCase, Place, Span, TimedScore
from bot.store.standings import Standings
from bot.store.visibility import Origin
from judge.evaluation.standing import DatedScore, Direction, Event, Look, State, look

LOOK_HOUR = 6
"""The hour from which a day's look is due, by the workspace's clock: before people's day begins."""
DAYS = 49
"""How many days a look goes back."""
_KIND_DAYS = 7  # the judge version of most scores of so many days is that of the standing
_LEASE = timedelta(minutes=15)  # longer than the judge is asked again
_TOLD_FOR = timedelta(days=2)  # whom Slack refuses is tried again for so long
_NO_LIMIT = 10_000

logger = structlog.get_logger(__name__)


class StandingLooks:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._standings = Standings(services.store.database)
        self._orders = WatchOrders(services.store.database)
        self._notices = Notices(services.store.database)
        self._asked = AskedAgain(services)

    async def look(self) -> None:
        """Looks at the subjects whose look of the day is due, and tells what changed."""
        team_id = self._services.identity.team_id
        watches = await self._with_privacy(await self._orders.of(team_id))
        subjects = grouped((subject_of(watch), watch) for watch in watches)
        standings = await self._standings.of_team(team_id)
        for subject, its_watches in subjects.items():
            standing = standings.get(subject)
            if self._is_due(standing):
                await self._look_at(subject, its_watches, standing)
        await self._tell(subjects)

    async def _with_privacy(self, watches: Sequence[Watch]) -> Sequence[Watch]:
        """The watches, as private as their channels are now, as far as Slack says so."""
        if not watches:
            return watches
        try:
            listed = await self._services.memberships.of()
        except MembershipError as exc:
            logger.warning("channels_not_listed", reason=str(exc))
            return watches
        found = list[Watch]()
        for watch in watches:
            channel = listed.get(watch.channel_id)
            if channel and channel.is_private != watch.is_private:
                await self._orders.note_privacy(watch, is_private=channel.is_private)
                watch = replace(watch, is_private=channel.is_private)
            found.append(watch)
        return found

    def _today(self) -> datetime:
        return self._services.clock().astimezone(self._services.schedule.zone)

    def _is_due(self, standing: Standing | None) -> bool:
        if standing is None:
            return True
        local = self._today()
        last = standing.looked_at.astimezone(local.tzinfo)
        return last.date() < local.date() and local.hour >= LOOK_HOUR

    async def _look_at(
        self, subject: Subject, watches: Sequence[Watch], standing: Standing | None
    ) -> None:
        now = self._services.clock()
        today = self._today().date()
        name = f"look {today}"
        # One process at a time, before the judge is asked: each would pay for it.
        if await self._notices.claim(subject, name, "", day_of(now), now, _LEASE) is None:
            return
        scores = await self._scores(place_of(subject, watches), today)
        if scores:
            await self._store(subject, watches, standing, scores, today)
        await self._notices.note_told(subject, name, "", self._services.clock())

    async def _scores(self, place: Place, today: date) -> Sequence[TimedScore]:
        """The scores of replies before today, of the kind that most of the last ones have, by the
        time of the reply.
        """
        now = self._services.clock()
        span = Span(now - timedelta(days=DAYS + 1), now)
        scores = await self._services.store.tallies.in_order(place, span)
        in_time = [score for score in scores if self._day_of(score) < today]
        if not in_time:
            return ()
        in_time.sort(key=lambda score: (replied_at(score), score.id))
        last_day = self._day_of(in_time[-1])
        since = last_day - timedelta(days=_KIND_DAYS)
        kinds = Counter(score.kind for score in in_time if self._day_of(score) > since)
        kind = max(kinds, key=lambda each: (kinds[each], each.version or ""))
        return [score for score in in_time if score.kind == kind]

    def _day_of(self, score: TimedScore) -> date:
        return replied_at(score).astimezone(self._services.schedule.zone).date()

    async def _store(
        self,
        subject: Subject,
        watches: Sequence[Watch],
        standing: Standing | None,
        scores: Sequence[TimedScore],
        today: date,
    ) -> None:
        """Looks at the scores, and stores what is found: a change as a row of its own."""
        kind = scores[-1].kind
        is_known = standing is not None and is_of_kind(standing, kind)
        state = standing.state if standing and is_known else State()
        dated = [
            DatedScore(
                score.score,
                self._day_of(score),
                channel=score.channel_id,
                thread=score.thread_ts and (score.channel_id, score.thread_ts),
            )
            for score in scores
        ]
        found = await asyncio.to_thread(look, dated, today, kind.scale, state)
        now = self._services.clock()
        has_changed = found.event or found.state.direction != state.direction
        if standing and is_known and not has_changed:
            await self._standings.go_on(with_figures(standing, found, now))
            return
        begun = with_figures(first_standing(subject, kind, found, now), found, now)
        if found.event not in {Event.BEGAN, Event.FURTHER}:
            is_told = found.event is None
            await self._standings.begin(replace(begun, told_at=now if is_told else None))
            return
        await self._store_change(begun, found, scores, watches)

    async def _store_change(
        self, begun: Standing, found: Look, scores: Sequence[TimedScore], watches: Sequence[Watch]
    ) -> None:
        """Stores a new direction, once the judge was asked again whose change it is."""
        since = found.state.since
        if since is None or found.step is None:
            raise ValueError(f"a change without its day: {found}")
        before = [score for score in scores if self._day_of(score) < since]
        after = [score for score in scores if self._day_of(score) >= since]
        # Asking again costs at most what the watches may spend in a day.
        most = sum(watch.per_day or _NO_LIMIT for watch in watches)
        asked = await self._asked.about(begun.team_id, Change(before, after, found.step), most)
        questions = await compare_questions(
            self._services.store.database,
            [score.id for score in before],
            [score.id for score in after],
        )
        standing = with_cause(begun, asked, questions)
        if asked.whose not in {Whose.JUDGE, Whose.BOTH}:
            await self._standings.begin(standing)
            return
        first = after[0]
        version = later_version(begun.version or "", first.judged_at)
        anew = replace(
            standing,
            version=version,
            direction=Direction.TOO_FEW,
            origin=since,
            found_on=None,
        )
        channels = sorted({score.channel_id for score in scores})
        await self._standings.begin_with_judge(anew, begun.version, first.judged_at, channels)

    async def _tell(self, subjects: Mapping[Subject, Sequence[Watch]]) -> None:
        for standing in await self._standings.untold(self._services.identity.team_id):
            now = self._services.clock()
            watches = subjects.get(standing.subject, ())
            name = f"standing {standing.id}"
            refused = list[str]()
            told = dict[str, Watch]()
            for watch in watches:
                for to in watch.alerts_to:
                    told.setdefault(to, watch)
            for to, watch in told.items():
                write = partial(self._write, standing, watches, to)
                errors = await tell_once(
                    self._services, replace(watch, alerts_to=(to,)), name, write, day_of(now)
                )
                refused += [each for each, error in errors.items() if error]
            is_over = now > standing.stored_at + _TOLD_FOR
            if is_over or not refused:
                whom = tuple(to for to in told if to not in refused)
                await self._standings.note_told(standing, now, whom)

    async def _write(self, standing: Standing, watches: Sequence[Watch], to: str) -> Telling | None:
        """The alert for one person or channel, with the lowest replies of channels that they may
        see.
        """
        services = self._services
        name = await services.members.name_of(standing.author_id)
        shown = [watch for watch in watches if watch.channel_id == to]
        if not shown:
            theirs = await services.memberships.of(to)
            shown = [watch for watch in watches if watch.channel_id in theirs]
        lowest = list[LowCase]()
        if shown and standing.direction is Direction.LOWER and standing.since:
            begin = datetime.combine(
                standing.since, datetime.min.time(), services.schedule.zone
            ).astimezone(UTC)
            place = place_of(standing.subject, shown)
            span = Span(begin, services.clock())
            lowest = await services.store.tallies.low(place, span, LOWEST, False)
        channels = [watch.channel_id for watch in watches]
        post = standing_alert(standing, name, channels, lowest, services.identity.url)
        return post, [case.id for case in lowest]


def subject_of(watch: Watch) -> Subject:
    return Subject(watch.team_id, watch.channel_id if watch.is_private else "", watch.author_id)


def place_of(subject: Subject, watches: Sequence[Watch]) -> Place:
    """Where a subject's replies are."""
    first, *others = sorted(watch.channel_id for watch in watches)
    return Place(subject.team_id, first, subject.author_id, Origin.WATCHED, others=tuple(others))


def replied_at(score: TimedScore) -> datetime:
    return datetime.fromtimestamp(float(score.message_ts), UTC)


def is_of_kind(standing: Standing, kind: Kind) -> bool:
    return (standing.scale, standing.version) == (kind.scale, kind.version)


def first_standing(subject: Subject, kind: Kind, found: Look, now: datetime) -> Standing:
    """A new row, without figures yet."""
    return Standing(
        team_id=subject.team_id,
        channel_id=subject.channel_id,
        author_id=subject.author_id,
        lowest=kind.lowest,
        highest=kind.highest,
        version=kind.version,
        direction=found.state.direction,
        event=found.event,
        stored_at=now,
        looked_at=now,
        before=found.before,
        since=found.state.since,
        step=found.step.mean if found.step else None,
        step_low=found.step.low if found.step else None,
        step_high=found.step.high if found.step else None,
    )


def with_figures(standing: Standing, found: Look, now: datetime) -> Standing:
    return replace(
        standing,
        looked_at=now,
        level=found.level.mean,
        level_low=found.level.low,
        level_high=found.level.high,
        n=found.n,
        found_on=found.state.found_on,
        origin=found.state.origin,
        ended=tuple(day.isoformat() for day in found.state.ended),
    )


def with_cause(standing: Standing, asked: Asked, questions: Questions) -> Standing:
    whose = asked.whose
    if whose is Whose.ASSISTANT and questions.changed:
        whose = Whose.QUESTIONS
    judge = asked.judge
    return replace(
        standing,
        whose=whose,
        why=asked.why,
        asked=asked.n,
        judge_step=judge.mean if judge else None,
        judge_low=judge.low if judge else None,
        judge_high=judge.high if judge else None,
        questions=questions.line,
    )
