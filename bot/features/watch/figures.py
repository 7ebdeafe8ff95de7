"""The figures of watched assistants for a week, from random replies only, not from those that
people chose.
"""

from collections.abc import Sequence
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
from bot.slack.invocation import Invocation
from bot.slack.members import MembershipError
from bot.store import Store
from bot.store.figures import Place, Span, to_ts
from bot.store.visibility import Origin
from judge.evaluation.stats import Interval, MeanEstimate, differences
from judge.scoring.ways import DECISION

_WHOLE = {
    ReplyOutcome.TAKEN,
    ReplyOutcome.NO_ANSWER,
    ReplyOutcome.BROKE_OFF,
    ReplyOutcome.EDITED,
    ReplyOutcome.PART,
}


@dataclass(frozen=True)
class Watched(figures_week.Glance):
    """One assistant's week; its `trend` has eight weeks, of which those with too few scores of the
    kind have no mean.

    Attributes:
        quality: That of all replies of this week, estimated from those drawn; None without a score.
        change: How far the mean has moved since the four weeks before; None with too few scores by
            this judge version.
        weeks: The last four weeks, for the correction by labels.
        is_corrected: Whether the week is shown as people would score: it has enough labels, and so
            has what it is compared with.
        coverage: The outcomes of all its replies of this week.
        earlier: How many of the scored replies are not in `coverage`: they were written before this
            week, late on its last day or while the app was down, or the store no longer says when.
    """

    author_id: str
    quality: Quality | None
    change: Interval | None
    weeks: Quality | None
    is_corrected: bool
    coverage: Coverage
    earlier: int

    @property
    def others(self) -> int:
        return self.off_scale + self.off_version

    @property
    def is_whole(self) -> bool:
        """Whether a decision judge scored every reply of the week that answers somebody to its
        end.
        """
        is_left_out = (
            self.others
            or self.earlier
            or self.coverage.outcomes.keys() - _WHOLE
            or not self.coverage.seen
        )
        return f", {DECISION}" in (self.kind.version or "") and not is_left_out

    @property
    def is_of_finished(self) -> bool:
        """Whether so many replies broke off that the mean of the others is not that of all."""
        scored = self.quality.mean.n if self.quality else 0
        broke_off = self.coverage.broke_off
        return 10 * broke_off > scored + broke_off


async def read_watched(store: Store, place: Place, week: Week, now: datetime) -> Sequence[Watched]:
    """The week so far of each watched assistant with replies that were scored or broke off: what
    got worse first, then those with the most scores.

    If the place names an author, only that author's.
    """
    watched = replace(place, origin=Origin.WATCHED)
    span = figures_week.passed(week, now)
    scored = await store.tallies.authors(watched, span)
    broken_off = await Replies(store.database).broken_off(place, span)
    authors = dict.fromkeys([*scored, *broken_off])
    found = [await _read(store, replace(watched, author_id=each), week, span) for each in authors]
    changes = differences([(_mean_of(each.quality), before) for each, before in found])
    changed = [
        replace(each, change=change) for (each, _), change in zip(found, changes, strict=True)
    ]
    return sorted(changed, key=lambda each: figures_week.worse_first(each.change))


async def _read(
    store: Store, its: Place, week: Week, span: Span
) -> tuple[Watched, MeanEstimate | None]:
    """The week, whose change is not known yet, and the mean of the four weeks before it."""
    tallies = store.tallies
    replies = Replies(store.database)
    glance = figures_week.to_glance(week, span.end, await tallies.scores(its, span), ())
    kind = glance.kind
    weeks = [week.before(back) for back in range(figures_week.TREND_WEEKS)]
    first_day = day_of(weeks[-1].start - timedelta(days=1))
    coverage = await replies.coverage(its, first_day)

    counted = await tallies.counted(
        its, Span(weeks[-1].start, span.end), kind, [each.start for each in weeks]
    )
    found = [[each for each in counted if each.back == back] for back in range(len(weeks))]
    scored = found[0]
    earlier = [*chain(*found[1 : WEEKS + 1])]
    this, before = (
        to_quality(each, kind.scale, coverage, [*scored, *earlier]) for each in (scored, earlier)
    )
    means = [_mean_of(to_quality(each, kind.scale, coverage)) for each in found]
    points = zip(weeks, (mean.judge.mean if mean else None for mean in means), strict=True)
    its_week = Watched(
        **vars(glance) | {"trend": tuple(figures_week.Point(*each) for each in points)[::-1]},
        author_id=its.author_id or "",
        quality=this,
        change=None,
        weeks=to_quality([*chain(*found[:WEEKS])], kind.scale, coverage),
        is_corrected=as_people(this, before) is not None,
        coverage=together((await replies.coverage(its, first_day, span)).values()),
        earlier=sum((each.ts or "") < to_ts(week.start) for each in scored),
    )
    return its_week, _mean_of(before)


def _mean_of(quality: Quality | None) -> MeanEstimate | None:
    return quality.mean if quality is not None and quality.mean.n >= figures_week.FEWEST else None


@dataclass(frozen=True)
class CountedWatch:
    watch: Watch
    name: str
    coverage: Coverage
    unread: Unread | None


async def watches_of(
    services: Services, person: Invocation, most: int
) -> tuple[Sequence[CountedWatch], int]:
    """Up to `most` watches of the channels that a person and the app are in, and how many more
    there are.

    Empty if Slack does not list those channels.
    """
    watches = await services.store.watches.of(person.team_id)
    if not watches:
        return (), 0
    try:
        theirs = await services.memberships.of(person.user_id)
        ours = await services.memberships.of()
    except MembershipError:
        return (), 0
    seen = [each for each in watches if each.channel_id in theirs and each.channel_id in ours]
    return await counted(services, seen[:most]), len(seen[most:])


async def counted(services: Services, watches: Sequence[Watch]) -> Sequence[CountedWatch]:
    names = await services.members.of_all({watch.author_id for watch in watches})
    now = services.clock()
    found = list[CountedWatch]()
    database = services.store.database
    unread = await WatchOrders(database).unread(services.identity.team_id, now)
    since = day_of(now - timedelta(days=6))  # with today, a week
    for watch in watches:
        days = await Replies(database).coverage(watched(watch), since)
        member = names.get(watch.author_id)
        name = member.name if member else watch.author_id
        coverage = together(days.values())
        found.append(CountedWatch(watch, name, coverage, unread.get(watch.channel_id)))
    return found
