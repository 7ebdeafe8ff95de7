"""The replies that people chose to have scored: their week in a channel, and their level.

People do not choose at random, so these figures have no direction.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from bot.domain.week import Week
from bot.figures.quality import (
    WEEKS,
    Agreement,
    Quality,
    add_up,
    grouped,
    to_agreement,
    to_quality,
)
from bot.store.figures import (
    BEGINNING,
    CountedCase,
    Kind,
    LabelledCount,
    Place,
    ScoreCount,
    Span,
    Usage,
)
from bot.store.tallies import Tallies
from judge.evaluation.selection import Candidate, chance_of_draw
from judge.scoring.rubric import Scale

FEWEST = 5
"""With fewer scores no figure is shown: it would reveal the score of a reply that is yet to be labelled blind."""
TREND_WEEKS = 8
LONGEST_WEEK = 14  # days, after a change of its digest's day
_DEFAULT_SCALE = Scale(0, 5)


@dataclass(frozen=True)
class Tally:
    """How often each score was given."""

    counts: Mapping[int, int]

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def mean(self) -> float | None:
        """The mean score; None with fewer than `FEWEST`."""
        if self.n < FEWEST:
            return None
        return sum(score * count for score, count in self.counts.items()) / self.n


@dataclass(frozen=True)
class Author:
    """What people chose of one author's replies: of the week, and of the four weeks up to its end."""

    id: str
    this: Tally
    level: Tally


@dataclass(frozen=True)
class Chosen:
    """The replies of a channel or author that people chose, in a week up to `until`.

    All scores are of one kind, the most common of the four weeks. `level` has those four weeks, so
    that it is over the same time as a standing. `raters` counts those of the week by the offline
    rater, of the demo and (None) of models. Scores that were given `otherwise`, on another scale or
    by another judge version, are in no other figure. `authors` are those with scores this week, most
    scores first.
    """

    week: Week
    until: datetime
    kind: Kind
    this: Tally
    level: Tally
    authors: tuple[Author, ...]
    raters: Mapping[str | None, int]
    unscored: Mapping[str, int]
    otherwise: int

    @property
    def scale(self) -> Scale:
        return self.kind.scale


@dataclass(frozen=True)
class Point:
    """One week: its mean is None with too few scores."""

    week: Week
    mean: float | None


@dataclass(frozen=True)
class Details:
    """What a digest leaves out.

    Attributes:
        quality: That of the four weeks, with what people's blind labels say of it; None without a
            score.
        trend: The weekly means of up to eight weeks, oldest first.
        blind: The judge's agreement with labels that people gave before they saw its score, from
            all time up to now.
        seen: The same for labels that people gave after they saw it.
        unlike: How probable so large a difference between the mean scores of all labelled cases and
            the week's would be if they were alike.
    """

    quality: Quality | None
    trend: Sequence[Point]
    blind: Agreement | None
    seen: Agreement | None
    unlike: float
    usage: Usage


def passed(week: Week, now: datetime) -> Span:
    return Span(week.start, min(week.end, max(now, week.start)))


def four_weeks(week: Week, now: datetime) -> Span:
    """The four weeks that end with this one, or with its part that has passed; a longer time alone."""
    if week.days > LONGEST_WEEK:
        return passed(week, now)
    return Span(week.before(WEEKS - 1).start, passed(week, now).end)


async def read_chosen(tallies: Tallies, place: Place, week: Week, now: datetime) -> Chosen:
    span = four_weeks(week, now)
    rows = await tallies.scores(place, span, week.start)
    this = [row for row in rows if row.is_this]
    kind = commonest(rows)
    tally = tally_of(this, kind)
    counted = [row for row in this if row.score is not None and row.kind == kind]
    unscored = add_up((row.unscored_reason or "", row.number) for row in this if row.score is None)
    return Chosen(
        week=week,
        until=span.end,
        kind=kind,
        this=tally,
        level=tally_of(rows, kind),
        authors=_authors(rows, kind),
        raters=dict(add_up((row.rater, row.number) for row in counted)),
        unscored=dict(unscored.most_common()),
        otherwise=sum(row.number for row in this if row.score is not None) - tally.n,
    )


def _authors(rows: Sequence[ScoreCount], kind: Kind) -> tuple[Author, ...]:
    found = list[Author]()
    by_author = grouped((row.author_id, row) for row in rows)
    for author_id, theirs in by_author.items():
        this = tally_of((row for row in theirs if row.is_this), kind)
        if author_id is not None and this.n:
            found.append(Author(author_id, this, tally_of(theirs, kind)))
    return tuple(sorted(found, key=lambda author: (-author.this.n, author.id)))


async def read_details(tallies: Tallies, place: Place, chosen: Chosen) -> Details:
    week = chosen.week
    kind = chosen.kind
    weeks = [week.before(back) if back else week for back in range(TREND_WEEKS)]
    span = Span(weeks[-1].start, chosen.until)
    scored = await tallies.counted(place, span, kind, [each.start for each in weeks])
    labelled = await tallies.labelled(place, Span(BEGINNING, span.end), kind)
    return Details(
        quality=to_quality([case for case in scored if case.back < WEEKS], kind.scale),
        trend=trend_of(scored, weeks),
        blind=to_agreement(row for row in labelled if row.is_blind),
        seen=to_agreement(row for row in labelled if not row.is_blind),
        unlike=_unlike(labelled, chosen.this),
        usage=await tallies.usage(place, Span(week.start, span.end)),
    )


def _unlike(labelled: Iterable[LabelledCount], this: Tally) -> float:
    of_labelled = add_up((row.score, row.number) for row in labelled)
    candidates = [Candidate(score, True) for score in of_labelled.elements()]
    candidates += [Candidate(score, False) for score in Counter(this.counts).elements()]
    return chance_of_draw(candidates)


def trend_of(scored: Sequence[CountedCase], weeks: Sequence[Week]) -> Sequence[Point]:
    """The mean of each week, oldest first; the weeks are given newest first."""
    scores = grouped((case.back, case.score) for case in scored)
    points = list[Point]()
    for back, week in enumerate(weeks):
        points.append(Point(week, Tally(add_up((score, 1) for score in scores[back])).mean))
    return points[::-1]


def weekly_means(trend: Sequence[Point]) -> str:
    """The trend in words; empty with fewer than two means."""
    means = [
        f"{day_name(point.week.first_day)}: {point.mean:.1f}".replace(" ", "\u00a0")
        for point in trend
        if point.mean is not None
    ]
    return " · ".join(means) if len(means) > 1 else ""


def commonest(rows: Iterable[ScoreCount]) -> Kind:
    """The most common judge version of the most common scale; without scores, the scale is 0 to 5."""
    kinds = add_up((row.kind, row.number) for row in rows if row.score is not None)
    scales = add_up((kind.scale, number) for kind, number in kinds.items())
    scale = max(
        scales,
        key=lambda scale: (scales[scale], scale),
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


def four_weeks_words(week: Week) -> str:
    """The days of the four weeks that end with this one, such as 27 Oct to 23 Nov."""
    return days_words(replace(week, start=week.before(WEEKS - 1).start))


def days_words(week: Week) -> str:
    """Its first and last day, such as 16 Nov to 23 Nov."""
    last = (week.end.astimezone(week.zone) - timedelta(microseconds=1)).date()
    return f"{day_name(week.first_day)} to {day_name(last)}"


def day_name(day: date) -> str:
    """A day and month, such as 12 Oct."""
    return f"{day.day} {day:%b}"
