"""The figures of watched assistants for a week, from random replies only, not from those that people chose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain

from bot.domain.watch import Coverage, ReplyOutcome, Watch
from bot.domain.week import Week
from bot.feature import Services
from bot.features.watch.queries import Unread, WatchOrders, day_of, watched
from bot.features.watch.reply_queries import Replies, together
from bot.figures import week as figures_week
from bot.figures.quality import WEEKS, Quality, as_people, to_quality
from bot.slack.members import MembershipError
from bot.store.figures import Place, Span, to_ts
from bot.store.tallies import Tallies
from bot.store.visibility import Origin
from judge.evaluation.stats import Interval, MeanEstimate, differences
from judge.scoring.rubric import Scale
from judge.scoring.ways import DECISION

_WHOLE = {ReplyOutcome.TAKEN, ReplyOutcome.NO_ANSWER, ReplyOutcome.EDITED, ReplyOutcome.PART}


@dataclass(frozen=True)
class Watched:
    """One assistant's week, as scored by the judge version that scored most of it.

    Attributes:
        tally: How often each score was given this week.
        week: The quality of all replies of this week, estimated from those drawn; None without a score.
        change: How far the mean has moved since the four weeks before; None with too few scores by this judge version.
        trend: Eight weeks, this one last; those with too few scores of this judge version have no mean.
        weeks: The last four weeks, for the correction by labels.
        is_corrected: Whether the week is shown as people would score: it has enough labels, and so has what it is
            compared with.
        coverage: The outcomes of all its replies of this week.
        earlier: How many of the scored replies are not in `coverage`: they were written before this week, late on
            its last day or while the app was down, or the store no longer says when.
        others: How many scores of this week have another judge version or scale; no other figure contains them.
        raters: How many cases of this week each rater judged: OFFLINE, MADE_UP, or None for all models.
        unread: How many cases of this week are of replies that show something that was not read.
    """

    author_id: str
    scale: Scale
    judge_version: str | None
    tally: figures_week.Tally
    week: Quality | None
    change: Interval | None
    trend: Sequence[figures_week.Point]
    weeks: Quality | None
    is_corrected: bool
    coverage: Coverage
    earlier: int
    others: int
    raters: Mapping[str | None, int]
    unread: int

    @property
    def is_whole(self) -> bool:
        """Whether a decision judge scored every reply of the week that answers somebody."""
        is_left_out = self.others or self.earlier or self.coverage.outcomes.keys() - _WHOLE or not self.coverage.seen
        return f", {DECISION}" in (self.judge_version or "") and not is_left_out


async def read_watched(
    tallies: Tallies, replies: Replies, place: Place, week: Week, now: datetime
) -> Sequence[Watched]:
    """The week so far of each watched assistant with scored replies: what got worse first, then those with the most.

    If the place names an author, only that author's.
    """
    watched, span = replace(place, origin=Origin.WATCHED), figures_week.passed(week, now)
    authors = await tallies.authors(watched, span)
    found = [await _read(tallies, replies, replace(watched, author_id=each), week, span) for each in authors]
    changes = differences([(_mean_of(each.week), before) for each, before in found])
    changed = [replace(each, change=change) for (each, _), change in zip(found, changes, strict=True)]
    return sorted(changed, key=lambda each: figures_week.worse_first(each.change))


async def _read(
    tallies: Tallies, replies: Replies, its: Place, week: Week, span: Span
) -> tuple[Watched, MeanEstimate | None]:
    """The week, whose change is not known yet, and the mean of the week before it."""
    rows = await tallies.scores(its, span)
    kind = figures_week.commonest(rows)
    weeks = [week.before(back) for back in range(figures_week.TREND_WEEKS)]
    first_day = day_of(weeks[-1].start - timedelta(days=1))
    coverage = await replies.coverage(its, first_day)

    counted = await tallies.counted(its, Span(weeks[-1].start, span.end), kind, [each.start for each in weeks])
    found = [[each for each in counted if each.back == back] for back in range(len(weeks))]
    scored, earlier = found[0], [*chain(*found[1 : WEEKS + 1])]
    this, before = (to_quality(each, kind.scale, coverage, [*scored, *earlier]) for each in (scored, earlier))
    means = [_mean_of(to_quality(each, kind.scale, coverage)) for each in found]
    its_week = Watched(
        its.author_id or "",
        kind.scale,
        kind.version,
        figures_week.tally_of(rows, kind),
        week=this,
        change=None,
        trend=[
            figures_week.Point(each, mean.judge.mean if mean else None)
            for each, mean in zip(weeks[::-1], means[::-1], strict=True)
        ],
        weeks=to_quality([*chain(*found[:WEEKS])], kind.scale, coverage),
        is_corrected=as_people(this, before) is not None,
        coverage=together((await replies.coverage(its, first_day, span)).values()),
        earlier=sum((each.ts or "") < to_ts(week.start) for each in scored),
        others=sum(row.number for row in rows if row.score is not None and row.kind != kind),
        raters=figures_week.count_raters(rows),
        unread=figures_week.count_unread(rows),
    )
    return its_week, _mean_of(before)


def _mean_of(quality: Quality | None) -> MeanEstimate | None:
    return quality.mean if quality is not None and quality.mean.n >= figures_week.FEWEST else None


_BEFORE_TODAY = timedelta(days=6)  # with today, a week


@dataclass(frozen=True)
class CountedWatch:
    watch: Watch
    name: str
    coverage: Coverage
    unread: Unread | None


async def name_of(services: Services, author_id: str) -> str:
    return (await services.members.of(author_id)).name


async def watches_of_person(
    services: Services, team_id: str, user_id: str, most: int
) -> tuple[Sequence[CountedWatch], int]:
    """Up to `most` watches of the channels that a person and the app are in, and how many more there are.

    Empty if Slack does not list those channels.
    """
    watches = await services.store.watches.of(team_id)
    if not watches:
        return (), 0
    try:
        theirs, ours = await services.memberships.of(user_id), await services.memberships.of()
    except MembershipError:
        return (), 0
    seen = [each for each in watches if each.channel_id in theirs and each.channel_id in ours]
    return await counted(services, seen[:most]), len(seen[most:])


async def counted(services: Services, watches: Sequence[Watch]) -> Sequence[CountedWatch]:
    names = await services.members.of_all({watch.author_id for watch in watches})
    now, found = services.clock(), list[CountedWatch]()
    database = services.store.database
    unread = await WatchOrders(database).unread(services.identity.team_id, now)
    for watch in watches:
        days = await Replies(database).coverage(watched(watch), day_of(now - _BEFORE_TODAY))
        member = names.get(watch.author_id)
        name, coverage = member.name if member else watch.author_id, together(days.values())
        found.append(CountedWatch(watch, name, coverage, unread.get(watch.channel_id)))
    return found
