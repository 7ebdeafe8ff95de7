"""What the screens show of watched assistants: their standing, and their volume beside it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeVar

from bot.domain.standing import ChangeByTopic, Standing, Subject, subject_of
from bot.domain.watch import Coverage, ReplyOutcome, Watch
from bot.domain.week import Week
from bot.features.watch.queries import Unread, WatchOrders
from bot.features.watch.reply_queries import LowCount, Replies, SeenCount
from bot.figures.lowest import causes_in_order
from bot.figures.quality import WEEKS, Agreement, Quality, add_up, grouped, to_agreement, to_quality
from bot.figures.week import TREND_WEEKS, Point, Tally, commonest, passed, tally_of, trend_of
from bot.services import Services
from bot.slack.invocation import Invocation
from bot.slack.members import MembershipError
from bot.store.figures import BEGINNING, END, CountedCase, Kind, Place, ScoreCount, Span
from bot.store.notices import day_of
from bot.store.standings import Standings
from bot.store.visibility import Origin
from judge.evaluation.naming import OTHER
from judge.evaluation.standing import Direction

MOST_AT_HOME = 10
C = TypeVar("C", SeenCount, LowCount, ScoreCount)
LOW_FOR = timedelta(days=7)
"""The Home tab and alerts count the low replies of so long, and their causes."""


@dataclass(frozen=True)
class Volume:
    """An assistant's replies in a week of a channel, and what has become of them.

    `askers` are the people whose questions the scored ones answer. `raters` counts the scores of
    the offline rater, of the demo and (None) of models.
    """

    coverage: Coverage = field(default_factory=lambda: Coverage({}))
    scored: int = 0
    askers: int = 0
    raters: Mapping[str | None, int] = field(default_factory=dict)

    @property
    def is_of_all(self) -> bool:
        """Whether every reply was drawn."""
        return ReplyOutcome.PASSED not in self.coverage.outcomes


@dataclass(frozen=True)
class AssistantWeek:
    """A watched assistant in a channel's digest: its standing, over `channels` channels, and its
    volume there in the week and in the time of equal length before it; `lines` are other features'
    about it.

    Of a past week, `level` are its scores; so they are once the watch has ended, with `channels` 0.
    Where several channels are shown, `only_in` is the one that this is of, if it is of one.
    """

    author_id: str
    standing: Standing | None
    channels: int
    this: Volume
    before: Volume
    lines: Sequence[str] = ()
    level: Tally | None = None
    only_in: str = ""


async def read_assistants(
    services: Services, place: Place, week: Week, *, is_past: bool = False
) -> Sequence[AssistantWeek]:
    """Those that are watched in a channel, the worst first, and those whose watch has ended, if they
    have scores of the week; if the place names an author, only that one.
    """
    span = passed(week, services.clock())
    subjects = await _subjects_at(services, place, span)
    if not subjects:
        return []
    volumes = await _read_volumes(services, place, week, subjects)
    weeks = list[AssistantWeek]()
    for subject, here in subjects.items():
        this, before = volumes[subject]
        assistant = AssistantWeek(subject.author_id, None, here.watches, this, before)
        if here.watches:
            assistant = await _with_standing(services, assistant, subject, span)
        if is_past or not here.watches:
            assistant = replace(assistant, level=tally_of(here.rows, commonest(here.rows)))
        if place.others:
            assistant = replace(assistant, only_in=subject.channel_id)
        weeks.append(assistant)
    return sorted(weeks, key=lambda each: worst_first(each.standing))


async def _with_standing(
    services: Services, assistant: AssistantWeek, subject: Subject, span: Span
) -> AssistantWeek:
    """What is known of an assistant now, and what other features say of its week."""
    standing = await Standings(services.store.database).of(subject)
    lines = list[str]()
    for feature in services.features:
        if feature.standing_line and (line := await feature.standing_line(subject, span.end)):
            lines.append(line)
    return replace(assistant, standing=standing, lines=lines)


class _Here(NamedTuple):
    """A subject in a place: its channels there with their scores, and how many `watches` it has in
    all; none, if the one there has ended.
    """

    channel_ids: Sequence[str]
    watches: int
    rows: Sequence[ScoreCount]


async def _subjects_at(services: Services, place: Place, span: Span) -> Mapping[Subject, _Here]:
    """Those that are watched there, and those whose watch has ended, if they have scores."""
    watches = await services.store.watches.of(place.team_id)
    drawn = replace(place, origin=Origin.WATCHED)
    rows = await services.store.tallies.scores(drawn, span, span.start)
    watched = _watched_at(place, watches)
    numbers = Counter(subject_of(watch) for watch in watches)
    subjects = dict[Subject, _Here]()
    for subject, channel_ids in (watched | _ended_at(place, watched, rows)).items():
        its = _of(rows, subject.author_id, channel_ids)
        subjects[subject] = _Here(channel_ids, numbers[subject], its)
    return subjects


def _of(counts: Iterable[C], author_id: str, channel_ids: Collection[str]) -> list[C]:
    """Those of an assistant in these channels."""
    return [
        count
        for count in counts
        if count.author_id == author_id and count.channel_id in channel_ids
    ]


def _watched_at(place: Place, watches: Sequence[Watch]) -> dict[Subject, Sequence[str]]:
    """The subjects of the place's watches, and in which of its channels these are."""
    channels = {place.channel_id, *place.others}
    return dict(
        grouped(
            (subject_of(watch), watch.channel_id)
            for watch in watches
            if watch.channel_id in channels and place.author_id in {None, watch.author_id}
        )
    )


def _ended_at(
    place: Place, watched: Mapping[Subject, Sequence[str]], rows: Sequence[ScoreCount]
) -> dict[Subject, Sequence[str]]:
    """Those whose watch has ended in a channel where they have scores."""
    scored = {
        (row.author_id, row.channel_id) for row in rows if row.author_id and row.score is not None
    }
    for subject, channel_ids in watched.items():
        scored -= {(subject.author_id, channel_id) for channel_id in channel_ids}
    return {
        Subject(place.team_id, channel_id, author_id): [channel_id]
        for author_id, channel_id in scored
    }


async def _read_volumes(
    services: Services, place: Place, week: Week, subjects: Mapping[Subject, _Here]
) -> Mapping[Subject, tuple[Volume, Volume]]:
    """The volume of each subject in its channels, in the week and in the one before."""
    replies = Replies(services.store.database)
    last = week.previous()
    this = await replies.counts(place, passed(week, services.clock()))
    before = await replies.counts(place, Span(last.start, last.end))
    volumes = dict[Subject, tuple[Volume, Volume]]()
    for subject, here in subjects.items():
        to_volume = partial(_to_volume, subject.author_id, here.channel_ids)
        volumes[subject] = to_volume(this), to_volume(before)
    return volumes


def _to_volume(
    author_id: str, channel_ids: Collection[str], all_counts: Sequence[SeenCount]
) -> Volume:
    """The volume of an assistant in these channels."""
    counts = _of(all_counts, author_id, channel_ids)
    outcomes = add_up(
        (ReplyOutcome(count.outcome) if count.outcome else None, count.number) for count in counts
    )
    return Volume(
        Coverage(outcomes),
        scored=sum(count.scored for count in counts),
        askers=len({count.asker_id for count in counts} - {None}),
        raters=dict(add_up((count.rater, count.scored) for count in counts if count.scored)),
    )


class AssistantDetails(NamedTuple):
    """The quality of four weeks as people score, the mean of each week, and the judge's agreement
    with all blind labels of its watched replies.
    """

    quality: Quality | None
    trend: Sequence[Point]
    blind: Agreement | None = None


async def read_details(services: Services, place: Place, week: Week) -> AssistantDetails:
    """What a digest leaves out of one assistant in its channel."""
    its = replace(place, origin=Origin.WATCHED)
    tallies = services.store.tallies
    weeks = [week.before(back) if back else week for back in range(TREND_WEEKS)]
    eight_weeks = Span(weeks[-1].start, passed(week, services.clock()).end)
    kind = commonest(await tallies.scores(its, eight_weeks, week.start))
    scored = await tallies.counted(its, eight_weeks, kind, [each.start for each in weeks])
    labelled = await tallies.labelled(its, replace(eight_weeks, start=BEGINNING), kind)
    return AssistantDetails(
        await _quality(services, its, scored, kind, weeks[-1].start),
        trend_of(scored, weeks),
        to_agreement(row for row in labelled if row.is_blind),
    )


async def _quality(
    services: Services, place: Place, scored: Sequence[CountedCase], kind: Kind, since: datetime
) -> Quality | None:
    """That of four weeks, from the scores since then, all of one kind."""
    first_day = day_of(since - timedelta(days=1))
    coverage = await Replies(services.store.database).coverage(place, first_day)
    recent = [case for case in scored if case.back < WEEKS]
    return to_quality(recent, kind.scale, coverage)


def worst_first(standing: Standing | None) -> tuple[float, float]:
    """A key to sort by: what got lower first, by how much; then the others, by their level."""
    if standing is None or standing.level is None:
        return 1, float("inf")
    drop = standing.step or 0 if standing.direction is Direction.LOWER else 0
    return drop, standing.level


def main_cause(numbers: Mapping[str | None, int]) -> str:
    """The most frequent cause of several low replies; empty if none is known of two."""
    for cause in causes_in_order(numbers)[:1]:
        if cause != OTHER and numbers[cause] > 1:
            return cause
    return ""


@dataclass(frozen=True)
class AssistantAtHome:
    """An assistant in a person's Home tab; `low` counts its low replies of the last seven days, in
    channels of theirs, by cause. `only_in` is the one topic that its change lies in.
    """

    subject: Subject
    name: str
    standing: Standing | None
    low: Mapping[str | None, int]
    only_in: str = ""

    @property
    def cause(self) -> str:
        """The most frequent cause of its low replies; empty if none is known of two."""
        return main_cause(self.low)


async def assistants_of(
    services: Services, person: Invocation
) -> tuple[Sequence[AssistantAtHome], int]:
    """The assistants that are watched in channels of a person, the worst first, and how many more
    there are.

    Empty if Slack does not list those channels.
    """
    watches = await watches_of(services, person)
    if not watches:
        return (), 0
    subjects = grouped((subject_of(watch), watch.channel_id) for watch in watches)
    standings = await Standings(services.store.database).of_team(person.team_id)
    ordered = sorted(subjects, key=lambda subject: worst_first(standings.get(subject)))
    shown = {subject: subjects[subject] for subject in ordered[:MOST_AT_HOME]}
    low = await _low_by_cause(services, person.team_id, shown)
    return await _at_home(services, low, standings), len(ordered) - len(shown)


async def _at_home(
    services: Services,
    low: Mapping[Subject, Mapping[str | None, int]],
    standings: Mapping[Subject, Standing],
) -> Sequence[AssistantAtHome]:
    names = await _names(services, {subject.author_id for subject in low})
    assistants = list[AssistantAtHome]()
    for subject, causes in low.items():
        standing = standings.get(subject)
        by_topic = await services.change_by_topic(standing) if standing else ChangeByTopic()
        name = names[subject.author_id]
        assistants.append(AssistantAtHome(subject, name, standing, causes, by_topic.only_in))
    return assistants


async def _names(services: Services, author_ids: Collection[str]) -> Mapping[str, str]:
    """Their names, or their ids where Slack gives none in time."""
    members = await services.members.of_all(author_ids)
    return {each: members[each].name if each in members else each for each in author_ids}


async def _low_by_cause(
    services: Services, team_id: str, subjects: Mapping[Subject, Sequence[str]]
) -> Mapping[Subject, Mapping[str | None, int]]:
    """How many low replies each subject has in its channels, by cause."""
    everywhere = {channel_id for channel_ids in subjects.values() for channel_id in channel_ids}
    replies = Replies(services.store.database)
    counts = await replies.low_counts(team_id, everywhere, services.clock() - LOW_FOR)
    return {
        subject: add_up(
            (count.cause, count.number) for count in _of(counts, subject.author_id, channel_ids)
        )
        for subject, channel_ids in subjects.items()
    }


async def watches_of(services: Services, person: Invocation) -> Sequence[Watch]:
    """The watches of the channels that a person and the app are in.

    Empty if Slack does not list those channels.
    """
    watches = await services.store.watches.of(person.team_id)
    if not watches:
        return ()
    try:
        theirs = await services.memberships.of(person.user_id)
        ours = await services.memberships.of()
    except MembershipError:
        return ()
    return [watch for watch in watches if watch.channel_id in theirs.keys() & ours.keys()]


@dataclass(frozen=True)
class CountedWatch:
    watch: Watch
    name: str
    coverage: Coverage
    unread: Unread | None


async def counted(services: Services, watches: Collection[Watch]) -> Sequence[CountedWatch]:
    if not watches:
        return []
    names = await _names(services, {watch.author_id for watch in watches})
    now = services.clock()
    orders = WatchOrders(services.store.database)
    unread = await orders.unread(services.identity.team_id, now)
    counts = await _counts_of(services, watches, Span(now - timedelta(days=7), END))
    return [
        CountedWatch(
            watch,
            names[watch.author_id],
            _to_volume(watch.author_id, [watch.channel_id], counts).coverage,
            unread.get(watch.channel_id),
        )
        for watch in watches
    ]


async def _counts_of(
    services: Services, watches: Collection[Watch], span: Span
) -> Sequence[SeenCount]:
    first, *others = sorted({watch.channel_id for watch in watches})
    place = Place(services.identity.team_id, first, others=tuple(others))
    return await Replies(services.store.database).counts(place, span)
