"""The figures of a channel, counted by the database.

Every query here sees only what everyone in that channel could see: verdicts in its threads.
Verdicts for one person alone, for whatever reason, are in no figure. Of several verdicts on one
reply the newest counts. What watches have drawn is counted separately.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot.domain.clock import utc_week
from bot.domain.verdict import MADE_UP, OFFLINE
from bot.store import figures
from bot.store.database import StoreQueries, columns_of
from bot.store.figures import BEGINNING, END, CountedCase, Kind, LowCase, Place, Span, TimedScore
from bot.store.labels import TIMES_DRAWN
from bot.store.schema import cases, causes, is_of_case, labels, ratings, replies
from bot.store.tables import Condition
from bot.store.visibility import (
    NEWER,
    Origin,
    counts,
    is_low,
    is_watched,
    superseded,
)


def cause_of_case() -> sa.ScalarSelect[str]:
    """What a case has in common with others, as it was sorted last."""
    its = sa.select(causes.c.name).where(is_of_case(causes)).order_by(causes.c.week.desc())
    return its.limit(1).scalar_subquery()


_AGREED = 2
_SURE = 2 / 3
_WORDS = 300  # more than is shown, because blanks and what people do not see are removed
_TEXTS = {
    "question": cases.c.question,
    "response": cases.c.response,
    "reason": cases.c.justification,
}
_IS_SHOWN = sa.and_(cases.c.deleted_at.is_(None), cases.c.forgotten_at.is_(None))


class Tallies(StoreQueries):
    async def scores(
        self, place: Place, span: Span, start: datetime
    ) -> Sequence[figures.ScoreCount]:
        """The last part of the span begins at `start`."""
        is_this = (cases.c.judged_at >= start).label("is_this")
        found = sa.select(*_OF_SCORES, is_this).where(is_public(place, span)).subquery()
        query = sa.select(found, sa.func.count().label("number")).group_by(*found.c)
        return await self._database.rows(figures.ScoreCount, query)

    async def counted(
        self, place: Place, span: Span, kind: Kind, starts: Sequence[datetime]
    ) -> Sequence[CountedCase]:
        """Each case with a score; `starts` are those of weeks, last one first."""
        query = _COUNTED.where(is_public(place, span), _is_of(kind))
        if place.origin is Origin.WATCHED:
            query = _with_draw(query)
        given = await self._blind_labels(place)
        rows = await self._database.all(query)
        return [_to_counted(row, starts, given.get(row.id)) for row in rows]

    async def _blind_labels(self, place: Place) -> Mapping[int, str]:
        """The blind labels of each case of a channel, as `CountedCase.given`.

        Not joined with the cases: SQLite would go through all labels for each case once it expects
        few cases.
        """
        label = labels.c.user_id.concat(" ").concat(sa.cast(labels.c.score, sa.String))
        given = sa.func.aggregate_strings(label, ",").label("given")
        blind = sa.select(labels.c.case_id, given).group_by(labels.c.case_id)
        blind = blind.filter_by(team_id=place.team_id, channel_id=place.channel_id, is_blind=True)
        return {row.case_id: row.given for row in await self._database.all(blind)}

    async def authors(self, place: Place, span: Span) -> Sequence[str]:
        """The authors of the replies that were scored, those with the most first."""
        author_id = cases.c.author_id
        query = sa.select(author_id).where(is_public(place, span), author_id.is_not(None))
        most_first = query.group_by(author_id).order_by(sa.func.count().desc(), author_id)
        return await self._database.values(most_first)

    async def usage(self, place: Place, span: Span) -> figures.Usage:
        (usage,) = await self._database.rows(figures.Usage, _USAGE.where(is_public(place, span)))
        return usage

    async def low(
        self,
        place: Place,
        span: Span,
        limit: int,
        is_newest_first: bool,
        author_ids: Collection[str] | None = None,
    ) -> list[LowCase]:
        """The low scores of all kinds, newest or lowest first; with `author_ids`, only what those
        authors wrote.
        """
        by_whom = sa.true() if author_ids is None else cases.c.author_id.in_(author_ids)
        newest = cases.c.judged_at.desc()
        order = [newest] if is_newest_first else [cases.c.score, newest]
        found = sa.select(cases.c.id).where(is_low(), is_public(place, span), by_whom)
        return await self._low_cases(cases.c.id.in_(found.order_by(*order).limit(limit)))

    async def low_among(self, place: Place, case_ids: Collection[int]) -> Sequence[LowCase]:
        """Those of the cases that the channel may still see, lowest first and newest first among
        equals.
        """
        always = Span(BEGINNING, END)
        are_public = [is_public(replace(place, origin=origin), always) for origin in Origin]
        return await self._low_cases(sa.and_(cases.c.id.in_(case_ids), sa.or_(*are_public)))

    async def _low_cases(self, which: Condition) -> list[LowCase]:
        """The lowest first, then the newest, then by id; without the texts of deleted or forgotten
        cases.
        """
        words = [
            sa.case((_IS_SHOWN, sa.func.substr(column, 1, _WORDS))).label(name)
            for name, column in _TEXTS.items()
        ]
        cause = sa.case((_IS_SHOWN, cause_of_case())).label("cause")
        columns = columns_of(cases, LowCase, *_TEXTS, "cause", "same")
        order = cases.c.score, cases.c.judged_at.desc(), cases.c.id
        query = sa.select(*columns, *words, cause).where(which).order_by(*order)
        return await self._database.rows(LowCase, query)

    async def lowest(self, place: Place, span: Span) -> Sequence[tuple[int, datetime]]:
        """The delivered replies of a watch in the lowest fifth of the scale (0 and 1 of 5), and
        when they were.

        At least two ratings are that low, or one gives two thirds of its probability to such
        scores. Deleted and forgotten replies are left out.
        """
        place = replace(place, origin=Origin.WATCHED)
        votes = Counter[tuple[int, datetime]]()
        for row in await self._database.all(_LOWEST.where(is_public(place, span))):
            chances = row.probabilities or {}
            low = sum(chance for score, chance in chances.items() if int(score) <= row.limit)
            vote = 1
            if chances:
                vote = _AGREED if low >= _SURE else 0
            votes[row.id, row.delivered_at] += vote
        return [reply for reply, number in votes.items() if number >= _AGREED]

    async def labelled(
        self, place: Place, span: Span, kind: Kind
    ) -> Sequence[figures.LabelledCount]:
        """Scores and labels of everything of the place's origin that was judged in the span."""
        given = _given(place)
        query = sa.select(given.c.is_blind, given.c.total, given.c.people, cases.c.score)
        query = query.add_columns(TIMES_DRAWN.label("times_drawn"))
        query = query.join(given, given.c.case_id == cases.c.id)
        found = query.where(_is_labelled(place, span, kind)).subquery()
        counted = sa.select(found, sa.func.count().label("number")).group_by(*found.c)
        return await self._database.rows(figures.LabelledCount, counted)

    async def in_order(self, place: Place, span: Span) -> Sequence[TimedScore]:
        oldest_first = _timed_scores(place, span).order_by(cases.c.judged_at, cases.c.id)
        return await self._database.rows(TimedScore, oldest_first)

    async def newest(self, place: Place) -> TimedScore | None:
        newest_first = _timed_scores(place, Span(BEGINNING, END)).order_by(cases.c.judged_at.desc())
        return await self._database.first(TimedScore, newest_first)

    async def why_unscored(self, place: Place, span: Span) -> str | None:
        """The reason of the newest verdict without a score."""
        query = sa.select(cases.c.unscored_reason).where(is_public(place, span))
        unscored = query.where(cases.c.unscored_reason.is_not(None))
        newest_first = unscored.order_by(cases.c.judged_at.desc())
        reason: str | None = await self._database.value(newest_first.limit(1))
        return reason


def _to_counted(row: sa.Row[Any], starts: Sequence[datetime], given: str | None) -> CountedCase:
    values = row._asdict()
    judged_at = values.pop("judged_at")
    back = sum(judged_at < start for start in starts)
    week = utc_week(judged_at).toordinal()
    return CountedCase(back=back, week=week, given=given, **values)


def _given(place: Place) -> sa.Subquery:
    """The labels of each case of a channel: their number and their sum, the blind ones apart."""
    of_case = labels.c.case_id, labels.c.is_blind
    total = sa.func.sum(labels.c.score).label("total")
    given = sa.select(*of_case, total, sa.func.count().label("people")).group_by(*of_case)
    return given.filter_by(team_id=place.team_id, channel_id=place.channel_id).subquery()


def _is_labelled(place: Place, span: Span, kind: Kind) -> Condition:
    # Labels are few: `concat` makes the database go from each label to its case, and not through
    # all cases.
    is_there = cases.c.team_id.concat("") == place.team_id
    is_before = cases.c.judged_at < span.end
    return sa.and_(is_there, is_before, _by(place), _is_of(kind), _is_of_origin(place, span))


def _with_draw(query: sa.Select[Any]) -> sa.Select[Any]:
    """The cases with the probability of a watch's draw, and the day on which it saw them."""
    is_its = sa.and_(
        replies.c.team_id == cases.c.team_id,
        replies.c.channel_id == cases.c.channel_id,
        replies.c.ts == cases.c.message_ts,
    )
    drawn_with = cases.c.probability.label("drawn_with")
    return query.add_columns(drawn_with, replies.c.day).outerjoin(replies, is_its)


_COUNTED = sa.select(
    cases.c.id,
    cases.c.score,
    cases.c.judged_at,
    sa.func.coalesce(cases.c.thread_ts, sa.cast(cases.c.id, sa.String)).label("thread"),
    TIMES_DRAWN.label("times_drawn"),
)
_VERSION = cases.c.judge_version.label("version")
_OF_SCORES = (
    *columns_of(cases, figures.ScoreCount, "version", "rater", "is_this", "number"),
    _VERSION,
    sa.case((cases.c.model.in_((OFFLINE, MADE_UP)), cases.c.model)).label("rater"),
)
_TIMED = sa.select(*columns_of(cases, TimedScore, "version"), _VERSION)


_LIMIT = cases.c.lowest + 0.2 * (cases.c.highest - cases.c.lowest)
_LOWEST = (
    sa.select(cases.c.id, cases.c.delivered_at, _LIMIT.label("limit"), ratings.c.probabilities)
    .join(ratings, is_of_case(ratings))
    .where(cases.c.score <= _LIMIT, ratings.c.score <= _LIMIT, _IS_SHOWN)
    .where(cases.c.delivered_at.is_not(None))
    .order_by(cases.c.delivered_at, cases.c.id)
)
_TOKENS = cases.c.input_tokens + cases.c.output_tokens
_USAGE = sa.select(
    sa.func.count().label("cases"),
    sa.func.coalesce(sa.func.sum(_TOKENS), 0).label("tokens"),
    sa.func.count(_TOKENS).label("with_tokens"),
    sa.func.coalesce(sa.func.sum(cases.c.cost_usd), 0.0).label("cost_usd"),
    sa.func.count(cases.c.cost_usd).label("with_cost"),
)


def _timed_scores(place: Place, span: Span) -> sa.Select[Any]:
    return _TIMED.where(cases.c.score.is_not(None), is_public(place, span))


def is_public(place: Place, span: Span) -> Condition:
    """What counts in the channel; the conditions are written as in the indexes, so that these are
    used.
    """
    within = sa.and_(
        cases.c.team_id == place.team_id,
        cases.c.channel_id.in_((place.channel_id, *place.others)),
        cases.c.judged_at >= span.start,
        cases.c.judged_at < span.end,
        _by(place),
    )
    return sa.and_(within, _is_of_origin(place, span))


def _is_of_origin(place: Place, span: Span) -> Condition:
    if place.origin is Origin.WATCHED:
        return is_watched(cases)
    return sa.and_(counts(cases), cases.c.id.not_in(_repeated(place, span)))


def _by(place: Place) -> Condition:
    return sa.true() if place.author_id is None else cases.c.author_id == place.author_id


def _is_of(kind: Kind) -> Condition:
    is_on_scale = sa.and_(
        cases.c.lowest == kind.lowest, cases.c.highest == kind.highest, cases.c.score.is_not(None)
    )
    return sa.and_(is_on_scale, cases.c.judge_version.is_not_distinct_from(kind.version))


def _repeated(place: Place, span: Span) -> sa.CompoundSelect[tuple[int]]:
    # A query for each channel: with `IN`, SQLite goes through all cases of the team.
    is_since = NEWER.c.team_id == place.team_id, NEWER.c.judged_at >= span.start
    channels = place.channel_id, *place.others
    return sa.union_all(*(superseded(*is_since, NEWER.c.channel_id == each) for each in channels))
