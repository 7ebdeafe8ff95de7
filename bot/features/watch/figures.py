"""What the screens show of watched assistants: their standing, and their volume beside it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import NamedTuple

from bot.domain.standing import ChangeByTopic, Standing, Subject, subject_of
from bot.domain.watch import Coverage, ReplyOutcome, Watch
from bot.domain.week import Week
from bot.features.watch.queries import Unread, WatchOrders
from bot.features.watch.reply_queries import Replies, SeenCount
from bot.figures.lowest import main_cause
from bot.figures.quality import WEEKS, Agreement, Quality, add_up, grouped, to_agreement, to_quality
from bot.figures.week import TREND_WEEKS, Point, Tally, commonest, passed, tally_of, trend_of
from bot.services import Services
from bot.slack.invocation import Invocation
from bot.slack.members import MembershipError
from bot.store.figures import BEGINNING, END, Place, Span
from bot.store.notices import day_of
from bot.store.standings import Standings
from bot.store.visibility import Origin
from judge.evaluation.standing import Direction

MOST_AT_HOME = 10
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
    watches = await services.store.watches.of(place.team_id)
    here = {place.channel_id, *place.others}
    pairs = [
        (subject_of(watch), watch.channel_id)
        for watch in watches
        if watch.channel_id in here and place.author_id in {None, watch.author_id}
    ]
    span = passed(week, services.clock())
    drawn = replace(place, origin=Origin.WATCHED)
    rows = await services.store.tallies.scores(drawn, span, span.start)
    scored = {(row.author_id, row.channel_id) for row in rows if row.score is not None}
    ended = scored - {(subject.author_id, channel_id) for subject, channel_id in pairs}
    for author_id, channel_id in ended:
        if author_id:
            pairs.append((Subject(place.team_id, channel_id, author_id), channel_id))
    if not pairs:
        return []
    standings = await Standings(services.store.database).of_team(place.team_id)
    channels = Counter(subject_of(watch) for watch in watches)
    replies = Replies(services.store.database)
    this = await replies.counts(place, span)
    last = week.previous()
    before = await replies.counts(place, Span(last.start, last.end))
    weeks = list[AssistantWeek]()
    for subject, channel_ids in grouped(pairs).items():
        author_id = subject.author_id
        is_watched = subject in channels
        assistant = AssistantWeek(
            author_id,
            standings.get(subject) if is_watched else None,
            channels[subject],
            _to_volume(author_id, channel_ids, this),
            _to_volume(author_id, channel_ids, before),
            only_in=subject.channel_id if place.others else "",
        )
        if is_past or not is_watched:
            its = [
                row for row in rows if row.author_id == author_id and row.channel_id in channel_ids
            ]
            assistant = replace(assistant, level=tally_of(its, commonest(its)))
        if is_watched:
            lines = await services.standing_lines(subject, span.end)
            assistant = replace(assistant, lines=lines)
        weeks.append(assistant)
    return sorted(weeks, key=lambda each: worst_first(each.standing))


def _to_volume(
    author_id: str, channel_ids: Collection[str], all_counts: Sequence[SeenCount]
) -> Volume:
    """The volume of an assistant in these channels."""
    counts = [
        count
        for count in all_counts
        if count.author_id == author_id and count.channel_id in channel_ids
    ]
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
    span = passed(week, services.clock())
    weeks = [week.before(back) if back else week for back in range(TREND_WEEKS)]
    eight_weeks = Span(weeks[-1].start, span.end)
    kind = commonest(await tallies.scores(its, eight_weeks, week.start))
    scored = await tallies.counted(its, eight_weeks, kind, [each.start for each in weeks])
    first_day = day_of(weeks[-1].start - timedelta(days=1))
    coverage = await Replies(services.store.database).coverage(its, first_day)
    recent = [case for case in scored if case.back < WEEKS]
    labelled = await tallies.labelled(its, Span(BEGINNING, span.end), kind)
    return AssistantDetails(
        to_quality(recent, kind.scale, coverage),
        trend_of(scored, weeks),
        to_agreement(row for row in labelled if row.is_blind),
    )


def worst_first(standing: Standing | None) -> tuple[float, float]:
    """A key to sort by: what got lower first, by how much; then the others, by their level."""
    if standing is None or standing.level is None:
        return 1, float("inf")
    drop = standing.step or 0 if standing.direction is Direction.LOWER else 0
    return drop, standing.level


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
    database = services.store.database
    standings = await Standings(database).of_team(person.team_id) if watches else {}
    subjects = grouped((subject_of(watch), watch.channel_id) for watch in watches)
    ordered = sorted(subjects, key=lambda subject: worst_first(standings.get(subject)))
    shown = ordered[:MOST_AT_HOME]
    names = await services.members.of_all({subject.author_id for subject in shown})
    channels = {channel_id for subject in shown for channel_id in subjects[subject]}
    since = services.clock() - LOW_FOR
    counts = await Replies(database).low_counts(person.team_id, channels, since)
    assistants = list[AssistantAtHome]()
    for subject in shown:
        member = names.get(subject.author_id)
        causes = add_up(
            (count.cause, count.number)
            for count in counts
            if count.author_id == subject.author_id and count.channel_id in subjects[subject]
        )
        name = member.name if member else subject.author_id
        standing = standings.get(subject)
        by_topic = await services.change_by_topic(standing) if standing else ChangeByTopic()
        assistants.append(AssistantAtHome(subject, name, standing, causes, by_topic.only_in))
    return assistants, len(ordered) - len(shown)


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
    names = await services.members.of_all({watch.author_id for watch in watches})
    now = services.clock()
    team_id = services.identity.team_id
    database = services.store.database
    unread = await WatchOrders(database).unread(team_id, now)
    first, *others = sorted({watch.channel_id for watch in watches})
    place = Place(team_id, first, others=tuple(others))
    counts = await Replies(database).counts(place, Span(now - timedelta(days=7), END))
    counted_watches = list[CountedWatch]()
    for watch in watches:
        member = names.get(watch.author_id)
        name = member.name if member else watch.author_id
        coverage = _to_volume(watch.author_id, [watch.channel_id], counts).coverage
        counted_watches.append(CountedWatch(watch, name, coverage, unread.get(watch.channel_id)))
    return counted_watches
