"""A channel's week in numbers, computed from the store."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bot.domain.week import Week
from bot.figures import quality as figures_quality
from bot.figures.quality import add_up, grouped
from bot.store.figures import (
    BEGINNING,
    CountedCase,
    Kind,
    KindSum,
    LowCase,
    Place,
    ScoreCount,
    Span,
    Usage,
)
from bot.store.tallies import Tallies
from bot.store.visibility import Origin
from judge.evaluation.stats import (
    Interval,
    MeanEstimate,
    MeanEstimator,
    differences,
    kolmogorov_smirnov,
)
from judge.scoring.rubric import Scale

TREND_WEEKS = 8
LOWEST = 3
FEWEST = 5
"""With fewer scores no figure is shown: it would reveal the score of a reply that is yet to be labelled blind."""
_DEFAULT_SCALE = Scale(0, 5)

Choose = Callable[[Sequence[str]], Awaitable[Collection[str]]]
"""Selects the authors, given most replies first, whose replies may be listed; replies without an author are not."""


@dataclass(frozen=True)
class Tally:
    """How often each score was given; `threads` counts threads by how many scores they have and
    their sum.

    Without threads, each score is one of its own.
    """

    counts: Mapping[int, int]
    threads: Mapping[tuple[int, int], int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def mean(self) -> float | None:
        """The mean score; None with fewer than `FEWEST`."""
        return (
            sum(score * count for score, count in self.counts.items()) / self.n
            if self.n >= FEWEST
            else None
        )

    def share_up_to(self, highest: float) -> float | None:
        """The share of scores that are at most `highest`; None with fewer than `FEWEST`."""
        if self.n < FEWEST:
            return None
        return sum(count for score, count in self.counts.items() if score <= highest) / self.n

    def estimate(self, scale: Scale) -> MeanEstimate | None:
        """The estimated mean, for which only different threads are independent; None without a
        score.
        """
        mean = MeanEstimator(scale)
        for (n, total), number in (
            self.threads or {(1, score): count for score, count in self.counts.items()}
        ).items():
            mean.add_clusters(n, total, number)
        return mean.estimate()


@dataclass(frozen=True)
class Point:
    """One week of the trend, by the judge version that scored most of it; `mean` is None with too
    few scores.
    """

    week: Week
    mean: float | None
    version: str | None = None


@dataclass(frozen=True)
class Author:
    """The scores of one author's replies, this week and in the four weeks before, and how far the
    mean has moved.
    """

    id: str
    this: Tally
    last: Tally
    change: Interval | None


@dataclass(frozen=True)
class Glance:
    """A channel's week up to `until`, in short. All scores are of one kind, the week's most common.

    `trend` has up to eight weeks, oldest first, this one last. `raters` counts the scores of the
    offline rater, of the demo and (None) of models; `unread` the replies that show something that
    was not read. Scores on another scale (`off_scale`) or of another judge version (`off_version`)
    are in no other figure.
    """

    week: Week
    until: datetime
    kind: Kind
    this: Tally
    trend: tuple[Point, ...]
    raters: Mapping[str | None, int]
    unread: int
    off_scale: int
    off_version: int

    @property
    def scale(self) -> Scale:
        return self.kind.scale


@dataclass(frozen=True)
class Figures(Glance):
    """A channel's week in full.

    Attributes:
        last: The four weeks before, as scored by the same judge version.
        change: How far the mean has moved since then; None if that is not known.
        has_new_judge: Whether only other judge versions scored those weeks, so that the change is
            not known.
        unscored: The number of cases without a score, by reason.
        lowest: Up to three low scores, chosen or drawn, the lowest first and the newest first among
            equals.
        authors: Authors with scores this week, most scores first.
        blind: The judge's agreement with labels that people gave before they saw its score, from
            all time up to now.
        seen: The same for labels that people gave after they saw it.
        unlike: The p-value of a Kolmogorov-Smirnov test: how probable so large a difference between
            the scores of all labelled cases and this week's would be if they were alike.
        quality: What people would say of the last weeks' replies; None without a score.
        people: This week's quality as people would score, and its change since then; None if that
            week or those weeks have too few labels.
        uncounted: How many scores are in no figure: of people's replies (True) and of typed texts
            (False).
    """

    last: Tally
    change: Interval | None
    has_new_judge: bool
    unscored: Mapping[str, int]
    lowest: tuple[LowCase, ...]
    authors: tuple[Author, ...]
    blind: figures_quality.Agreement | None
    seen: figures_quality.Agreement | None
    unlike: float
    quality: figures_quality.Quality | None
    people: tuple[figures_quality.Quality, Interval | None] | None
    usage: Usage
    uncounted: Mapping[bool, int]


def passed(week: Week, now: datetime) -> Span:
    return Span(week.start, min(week.end, max(now, week.start)))


async def read_glances(
    tallies: Tallies, place: Place, week: Week, now: datetime
) -> Mapping[str, Glance]:
    """A glance at each channel of a place, with as few queries as for one."""
    span = passed(week, now)

    async def count(tallies: Tallies) -> Sequence[Sequence[Any]]:
        return await tallies.scores(place, span), await _sums(tallies, place, week)

    rows, sums = (
        grouped((row.channel_id, row) for row in part) for part in await tallies.together(count)
    )
    channels = place.channel_id, *place.others
    return {
        each: to_glance(week, span.end, rows.get(each, ()), sums.get(each, ())) for each in channels
    }


def to_glance(
    week: Week, until: datetime, rows: Sequence[ScoreCount], sums: Sequence[KindSum]
) -> Glance:
    kind = commonest(rows)
    this = tally_of(rows, kind)
    scored = add_up((row.kind.scale, row.number) for row in rows if row.score is not None)
    return Glance(
        week,
        until,
        kind,
        this,
        trend=(*_trend(sums, week, kind), Point(week, this.mean, kind.version)),
        raters=dict(add_up((row.rater, row.number) for row in rows)),
        unread=sum(row.number for row in rows if row.has_unread),
        off_scale=scored.total() - scored[kind.scale],
        off_version=scored[kind.scale] - this.n,
    )


async def read_figures(
    tallies: Tallies, place: Place, week: Week, now: datetime, choose: Choose | None = None
) -> Figures:
    """The figures of a week, or of its part that has passed; `choose` selects the authors of the
    lowest scores.
    """
    span = passed(week, now)
    starts = [
        week.start,
        *(week.before(back).start for back in range(1, figures_quality.WEEKS + 1)),
    ]

    async def count(tallies: Tallies) -> tuple[Any, ...]:
        rows = await tallies.scores(place, span)
        kind = commonest(rows)
        return (
            rows,
            await _sums(tallies, place, week),
            await tallies.counted(place, Span(starts[-1], span.end), kind, starts),
            await tallies.usage(place, span, kind),
            await tallies.uncounted(place, span),
            await tallies.labelled(place, Span(BEGINNING, span.end), kind),
            await tallies.low(replace(place, origin=Origin.WATCHED), span, LOWEST, False),
        )

    rows, sums, scored, (usage,), uncounted, labelled, low = await tallies.together(count)
    this = [each for each in scored if not each.back]
    before = [each for each in scored if each.back]
    last = _tally(before)
    glance = replace(to_glance(week, span.end, rows, sums), this=_tally(this))
    kind = glance.kind
    first = TREND_WEEKS - 1 - figures_quality.WEEKS
    earlier = {each.kind.scale for each in sums if each.position >= first}
    authors = _authors(this, before, kind.scale)
    recent = [each for each in scored if each.back < figures_quality.WEEKS]
    quality = figures_quality.to_quality(recent, kind.scale)
    some = frozenset(await choose([author.id for author in authors])) if choose else None
    low += await tallies.low(place, span, LOWEST, False, some)
    low.sort(key=lambda case: (case.score, -case.judged_at.timestamp()))
    unscored = add_up((row.unscored_reason or "", row.number) for row in rows if row.score is None)
    return Figures(
        **vars(glance),
        last=last,
        change=changes_of([(glance.this, last)], kind.scale)[0],
        has_new_judge=not last.n and kind.scale in earlier,
        unscored=dict(unscored.most_common()),
        lowest=tuple(low[:LOWEST]),
        authors=authors,
        blind=figures_quality.to_agreement((row for row in labelled if row.is_blind), kind.scale),
        seen=figures_quality.to_agreement(
            (row for row in labelled if not row.is_blind), kind.scale
        ),
        unlike=kolmogorov_smirnov(
            add_up((row.score, row.number) for row in labelled), glance.this.counts
        ),
        quality=quality,
        people=figures_quality.as_people(quality)
        and figures_quality.as_people(
            *(figures_quality.to_quality(each, kind.scale, among=scored) for each in (this, before))
        ),
        usage=usage,
        uncounted={bool(of_person): number for of_person, number in uncounted},
    )


def changes_of(pairs: Sequence[tuple[Tally, Tally]], scale: Scale) -> Sequence[Interval | None]:
    """How far each mean is above the earlier one; None if one has fewer than `FEWEST` scores, or a
    single thread.

    The rows of one table have its chance of a false alarm together.
    """
    means = [
        [each.estimate(scale) if each.n >= FEWEST else None for each in pair] for pair in pairs
    ]
    return differences([(now, before) for now, before in means])


def _weeks_of_trend(week: Week) -> Sequence[Week]:
    return [week.before(back) for back in range(TREND_WEEKS - 1, 0, -1)]


async def _sums(tallies: Tallies, place: Place, week: Week) -> Sequence[KindSum]:
    return await tallies.sums(place, [Span(each.start, each.end) for each in _weeks_of_trend(week)])


def _trend(sums: Sequence[KindSum], week: Week, kind: Kind) -> Sequence[Point]:
    """The weeks before this one, each by the judge version that scored most of it on the scale."""
    weeks = _weeks_of_trend(week)
    on_scale = [each for each in sums if each.kind.scale == kind.scale]
    most = {
        each.position: each
        for each in sorted(on_scale, key=lambda each: (each.n, each.version or ""))
    }
    points = [Point(each, None) for each in weeks]
    for position, found in most.items():
        mean = found.total / found.n if found.n >= FEWEST else None
        points[position] = Point(weeks[position], mean, found.version)
    return points


def commonest(rows: Iterable[ScoreCount]) -> Kind:
    """The most common judge version of the most common scale; without scores, the scale is 0 to 5."""
    kinds = add_up((row.kind, row.number) for row in rows if row.score is not None)
    scales = add_up((kind.scale, number) for kind, number in kinds.items())
    scale = max(
        scales,
        key=lambda scale: (scales[scale], scale == _DEFAULT_SCALE, scale),
        default=_DEFAULT_SCALE,
    )
    of_scale = [kind for kind in kinds if kind.scale == scale]
    return max(
        of_scale, key=lambda kind: (kinds[kind], kind.version or ""), default=Kind(*scale, None)
    )


def tally_of(rows: Iterable[ScoreCount], kind: Kind) -> Tally:
    return Tally(
        add_up(
            (row.score, row.number) for row in rows if row.score is not None and row.kind == kind
        )
    )


def _tally(scored: Sequence[CountedCase]) -> Tally:
    threads = Counter((len(each), sum(each)) for each in figures_quality.by_thread(scored))
    return Tally(Counter(each.score for each in scored), threads)


def _authors(
    this: Sequence[CountedCase], before: Sequence[CountedCase], scale: Scale
) -> tuple[Author, ...]:
    """The authors of this week's scores, and what they had before: clearly worse ones first, then
    by scores.
    """
    now, earlier = (grouped((each.author_id, each) for each in part) for part in (this, before))
    tallies = {
        by: (_tally(its), _tally(earlier.get(by, ()))) for by, its in now.items() if by is not None
    }
    changes = changes_of(list(tallies.values()), scale)
    found = [
        Author(each, *pair, change)
        for (each, pair), change in zip(tallies.items(), changes, strict=True)
    ]
    return tuple(sorted(found, key=lambda each: (worse_first(each.change), -each.this.n, each.id)))


def worse_first(change: Interval | None) -> float:
    """A key to sort by: clear drops come first, the largest of them before the others."""
    return change.mean if change and change.high is not None and change.high < 0 else 0
