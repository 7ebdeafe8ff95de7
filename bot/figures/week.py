"""What the log says of a channel's week, as numbers."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from math import floor

from bot.domain.week import Week
from bot.figures.quality import Agreement, Quality, read_quality, to_agreement, to_scores
from bot.store.figures import Kind, LowCase, Place, ScoreCount, Span, Tallies, Usage, VersionSum
from judge.stats import kolmogorov_smirnov

TREND_WEEKS = 8
LOWEST = 3
FEWEST = 5
"""Of fewer scores no figure is shown: it would tell the score of a reply that somebody may be asked to label blind."""
_DEFAULT_SCALE = (0, 5)
_LOW_SHARE = 0.4

Scale = tuple[int, int]
Choose = Callable[[Sequence[str]], Awaitable[Collection[str]]]
"""Gives those of the authors, most replies first, whose replies may be listed; what nobody wrote is then not."""


@dataclass(frozen=True)
class Tally:
    counts: Mapping[int, int]

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def mean(self) -> float | None:
        """Their mean; None of fewer than `FEWEST`."""
        return sum(score * count for score, count in self.counts.items()) / self.n if self.n >= FEWEST else None

    @property
    def median(self) -> float | None:
        """The middle score, or the mean of the two in the middle; None of fewer than `FEWEST`."""
        if self.n < FEWEST:
            return None
        return (self.at((self.n - 1) // 2) + self.at(self.n // 2)) / 2

    def share_up_to(self, highest: float) -> float | None:
        """The share of scores that are not above `highest`; None of fewer than `FEWEST`."""
        if self.n < FEWEST:
            return None
        return sum(count for score, count in self.counts.items() if score <= highest) / self.n

    def at(self, position: int) -> int:
        """The score at that position from the lowest, counted from 0; the highest one beyond the end, 0 without any."""
        for score in sorted(self.counts):
            position -= self.counts[score]
            if position < 0:
                return score
        return max(self.counts, default=0)


@dataclass(frozen=True)
class Point:
    """One week of the trend, by the judge version that scored most of it; of too few scores `mean` is None."""

    week: Week
    mean: float | None
    n: int
    version: str | None = None


@dataclass(frozen=True)
class Author:
    """The scores of what one bot or person wrote, this week and the week before."""

    id: str
    this: Tally
    last: Tally


@dataclass(frozen=True)
class Glance:
    """A channel's week in short. All scores are of one kind, the week's commonest; `last` has its own judge version.

    Attributes:
        until: The moment up to which the week was counted; its end once it is over.
        trend: Up to eight weeks, oldest first, this one last.
        raters: How many cases were scored by the offline rater or made up for the demo; those of models are None's.
        off_scale: How many scores are on another scale, and in no other figure.
        off_version: How many on this scale are of another judge version, and in no other figure.
    """

    week: Week
    until: datetime
    kind: Kind
    this: Tally
    last: Tally
    trend: tuple[Point, ...]
    raters: Mapping[str | None, int]
    off_scale: int
    off_version: int

    @property
    def scale(self) -> Scale:
        return self.kind.scale

    @property
    def has_new_judge(self) -> bool:
        """Whether last week's scores are of another judge version, so that no change can be told."""
        return self.trend[-2].version != self.kind.version


@dataclass(frozen=True)
class Figures(Glance):
    """A channel's week in full.

    Attributes:
        unscored: Cases without a score, by the reason.
        lowest: Up to three low scores, the lowest first and the newest first among equals.
        authors: With scores this week, most first.
        agreement: This week's; None without a label.
        agreement_ever: Of all time up to now.
        unlike: How easily the scores of all labelled cases would differ so much from this week's, were they alike: the
            p of a Kolmogorov-Smirnov test.
        quality: What people would say of the last weeks' replies; None without a score.
    """

    unscored: Mapping[str, int]
    lowest: tuple[LowCase, ...]
    authors: tuple[Author, ...]
    agreement: Agreement | None
    agreement_ever: Agreement | None
    unlike: float
    quality: Quality | None
    usage: Usage

    @property
    def is_quiet(self) -> bool:
        return self.usage.cases == 0

    @property
    def is_finished(self) -> bool:
        return self.until >= self.week.end

    @property
    def low(self) -> int:
        """The highest score that counts as low: 2 of 0 to 5."""
        return _low(self.scale)


async def read_glance(tallies: Tallies, place: Place, week: Week, now: datetime) -> Glance:
    glance, _, _ = await _read_glance(tallies, place, week, now)
    return glance


async def _read_glance(
    tallies: Tallies, place: Place, week: Week, now: datetime
) -> tuple[Glance, Sequence[ScoreCount], Sequence[ScoreCount]]:
    span, before = _passed(week, now), week.before()
    rows, earlier = await asyncio.gather(
        tallies.scores(place, span), tallies.scores(place, Span(before.start, before.end))
    )
    kind = commonest(rows)
    was = commonest((row for row in earlier if row.kind.scale == kind.scale), kind.scale)
    this, last = tally_of(rows, kind), tally_of(earlier, was)
    newest = Point(before, last.mean, last.n, was.version), Point(week, this.mean, this.n, kind.version)
    trend = (*await _read_trend(tallies, place, week, kind), *newest)
    glance = Glance(
        week,
        span.end,
        kind,
        this,
        last,
        trend,
        raters=count_raters(rows),
        off_scale=_count(rows, lambda row: row.kind.scale != kind.scale),
        off_version=_count(rows, lambda row: row.kind.scale == kind.scale and row.version != kind.version),
    )
    return glance, rows, earlier


async def read_figures(
    tallies: Tallies, place: Place, week: Week, now: datetime, choose: Choose | None = None
) -> Figures:
    """The figures of a week, or of the part of it that has passed; `choose` says of whom the lowest scores are."""
    glance, rows, earlier = await _read_glance(tallies, place, week, now)
    kind, span = glance.kind, Span(week.start, glance.until)
    authors = _authors(rows, earlier, kind)
    usage, labelled, quality, lowest = await asyncio.gather(
        tallies.usage(place, span, kind),
        tallies.labelled(place, span, kind),
        read_quality(tallies, place, week, span.end, kind),
        _read_lowest(tallies, place, span, kind, authors, glance.this, choose),
    )
    return Figures(
        **{each.name: getattr(glance, each.name) for each in fields(Glance)},
        unscored=_unscored(rows),
        lowest=lowest,
        authors=authors,
        agreement=to_agreement(row for row in labelled if row.is_new),
        agreement_ever=to_agreement(labelled),
        unlike=kolmogorov_smirnov(to_scores(labelled), glance.this.counts),
        quality=quality,
        usage=usage,
    )


async def _read_lowest(
    tallies: Tallies,
    place: Place,
    span: Span,
    kind: Kind,
    authors: Sequence[Author],
    this: Tally,
    choose: Choose | None,
) -> tuple[LowCase, ...]:
    chosen = await choose([author.id for author in authors]) if choose else None
    if chosen is not None:
        this = _together(author.this for author in authors if author.id in chosen)
    up_to = min(this.at(LOWEST - 1), _low(kind.scale))
    return tuple(await tallies.lowest(place, span, kind, up_to, LOWEST, chosen))


def _low(scale: Scale) -> int:
    lowest, highest = scale
    return lowest + floor((highest - lowest) * _LOW_SHARE)


def _together(parts: Iterable[Tally]) -> Tally:
    return Tally(sum((Counter(part.counts) for part in parts), Counter[int]()))


def _passed(week: Week, now: datetime) -> Span:
    return Span(week.start, min(week.end, max(now, week.start)))


async def _read_trend(tallies: Tallies, place: Place, week: Week, kind: Kind) -> Iterator[Point]:
    """The weeks before the last, each by the judge version that scored most of it."""
    weeks = [week.before(back) for back in range(TREND_WEEKS - 1, 1, -1)]
    sums = await tallies.sums(place, [Span(each.start, each.end) for each in weeks], kind.scale)
    most: dict[int, VersionSum] = {}
    for each in sums:
        if each.position not in most or _rank(each) > _rank(most[each.position]):
            most[each.position] = each
    return (_to_point(each, most.get(position)) for position, each in enumerate(weeks))


def _rank(each: VersionSum) -> tuple[int, str]:
    return each.n, each.version or ""


def _to_point(week: Week, found: VersionSum | None) -> Point:
    if found is None:
        return Point(week, None, 0)
    return Point(week, found.total / found.n if found.n >= FEWEST else None, found.n, found.version)


def commonest(rows: Iterable[ScoreCount], otherwise: Scale = _DEFAULT_SCALE) -> Kind:
    """Of the commonest scale the commonest judge version; where there is no score, the scale `otherwise`."""
    scales, kinds = Counter[Scale](), Counter[Kind]()
    for row in rows:
        if row.score is not None:
            scales[row.kind.scale] += row.number
            kinds[row.kind] += row.number
    scale = max(scales, key=lambda scale: (scales[scale], scale == _DEFAULT_SCALE, scale), default=otherwise)
    of_scale = [kind for kind in kinds if kind.scale == scale]
    return max(of_scale, key=lambda kind: (kinds[kind], kind.version or ""), default=Kind(*scale, None))


def count_raters(rows: Iterable[ScoreCount]) -> Mapping[str | None, int]:
    """How many cases each rater has, as `ScoreCount` names them."""
    counts = Counter[str | None]()
    for row in rows:
        counts[row.rater] += row.number
    return dict(counts)


def _count(rows: Iterable[ScoreCount], is_meant: Callable[[ScoreCount], bool]) -> int:
    return sum(row.number for row in rows if row.score is not None and is_meant(row))


def tally_of(rows: Iterable[ScoreCount], kind: Kind) -> Tally:
    counts = Counter[int]()
    for row in rows:
        if row.score is not None and row.kind == kind:
            counts[row.score] += row.number
    return Tally(counts)


def _unscored(rows: Iterable[ScoreCount]) -> Mapping[str, int]:
    counts = Counter[str]()
    for row in rows:
        if row.score is None:
            counts[row.unscored_reason or ""] += row.number
    return dict(counts.most_common())


def _authors(rows: Iterable[ScoreCount], earlier: Iterable[ScoreCount], kind: Kind) -> tuple[Author, ...]:
    this, last = _by_author(rows, kind), _by_author(earlier, kind)
    authors = [Author(each, Tally(counts), Tally(last.get(each, {}))) for each, counts in this.items()]
    return tuple(sorted(authors, key=lambda each: (-each.this.n, each.id)))


def _by_author(rows: Iterable[ScoreCount], kind: Kind) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for row in rows:
        if row.author_id is not None and row.score is not None and row.kind == kind:
            counts = found.setdefault(row.author_id, {})
            counts[row.score] = counts.get(row.score, 0) + row.number
    return found
