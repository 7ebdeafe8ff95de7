"""The scores that people gave, one for each person and case, and which cases are drawn for blind
labels.

Nothing is drawn in advance. Whether a case is in a week's sample follows from a number computed
from its id and its channel, so that a retry, a restart and a second process draw the same.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any

import sqlalchemy as sa
from sqlalchemy import case
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import LoggedCase
from bot.domain.clock import utc_now, utc_week
from bot.domain.label import EVERYBODY, Label
from bot.store.database import (
    StoreQueries,
    columns_of,
    in_transaction,
    lock_for_transaction,
    upsert,
)
from bot.store.schema import assignments, cases, channels, contradicted, is_of_case, labels
from bot.store.tables import Condition
from bot.store.visibility import counts, is_watched
from bot.store.writer import after_commit


class Labels(StoreQueries):
    @in_transaction
    async def put(
        self, connection: AsyncConnection, case: LoggedCase, user_id: str, label: Label
    ) -> Label | None:
        """Records a person's label and returns the one that it replaces; None if it is their first.

        A label that they gave blind is not replaced.
        """
        key = {"team_id": case.team_id, "case_id": case.id, "user_id": user_id}
        await lock_for_transaction(connection, f"label of {key}")
        row = (await connection.execute(_LABELS.filter_by(**key))).one_or_none()
        earlier = Label(**row._mapping) if row else None
        values = key | label_values(label, case.channel_id, utc_now())
        putting = upsert(self._database, labels, values, ("created_at",), ~labels.c.is_blind)
        is_changed = (await connection.execute(putting)).rowcount > 0
        if is_changed and earlier and earlier.reason not in (None, label.reason):
            after_commit(connection, self._database.note_deletion)
        return earlier

    async def get(self, case: LoggedCase, user_id: str) -> Label | None:
        theirs = _LABELS.filter_by(team_id=case.team_id, case_id=case.id, user_id=user_id)
        return await self._database.first(Label, theirs)

    async def choices(
        self, team_id: str, case_ids: Collection[int], reader: str
    ) -> Mapping[tuple[int, bool], int]:
        """How many people who saw a case's score agree with it (True), and how many do not; of one
        reader or EVERYBODY.
        """
        query = _CHOICES.where(labels.c.team_id == team_id, labels.c.case_id.in_(case_ids))
        if reader != EVERYBODY:
            query = query.where(labels.c.user_id == reader)
        rows = await self._database.all(query)
        return {(row.case_id, bool(row.is_agreed)): row.number for row in rows}

    async def teams(self, *, has_unlabelled: bool = False) -> Sequence[str]:
        team_id = (cases if has_unlabelled else labels).c.team_id
        return await self._database.values(sa.select(team_id).distinct().order_by(team_id))


_LABELS = sa.select(*columns_of(labels, Label))
_IS_AGREED = (labels.c.score == cases.c.score).label("is_agreed")
_CHOICES = (
    sa.select(labels.c.case_id, _IS_AGREED, sa.func.count().label("number"))
    .join(cases, is_of_case(labels))
    .where(~labels.c.is_blind)
    .group_by(labels.c.case_id, _IS_AGREED)
)


def label_values(label: Label, channel_id: str, now: datetime) -> dict[str, Any]:
    """The columns of a label that is given now, but for whose and which case's it is."""
    return asdict(label) | {"channel_id": channel_id, "created_at": now, "updated_at": now}


WEEKS = 4
"""The number of weeks that cases are drawn from, including the current one."""

LABELS_PER_WEEK = 20
"""How many blind labels a channel wants in a week by default."""

_PRIME = 2**31 - 1
_FOR_TWO = 5  # one of so many replies is labelled by two people

_MORE_OFTEN = 4
"""How many times as often as others a reply is drawn whose asker contradicted its score."""
IS_CONTRADICTED = sa.exists().where(is_of_case(contradicted))
TIMES_DRAWN: sa.ColumnElement[int] = case((IS_CONTRADICTED, _MORE_OFTEN), else_=1)

_ByWeek = tuple[str, int, bool]
"""A channel, a week counted back from the current one, and whether watches drew the replies."""


@dataclass(frozen=True)
class LabelBudget:
    weekly: int = LABELS_PER_WEEK
    used: int = 0

    @property
    def left(self) -> int:
        return max(self.weekly - self.used, 0)


@dataclass(frozen=True)
class LabelDraw:
    """What is drawn from a channel: cases of each week that begins then (in UTC, newest first),
    with that probability, and the contradicted ones of them with a higher one.

    `is_watched`: those that watches have drawn, not those that people chose.
    """

    team_id: str
    channel_id: str
    weeks: Sequence[tuple[datetime, float]]
    is_watched: bool = False

    def has_drawn(self) -> Condition:
        is_there = sa.and_(cases.c.team_id == self.team_id, cases.c.channel_id == self.channel_id)
        is_its = is_watched(cases) if self.is_watched else counts(cases)
        is_recent = cases.c.judged_at >= self.weeks[-1][0]
        # In this order, so that few cases are looked up.
        is_more = sa.and_(self._number() < self._below() * _MORE_OFTEN, IS_CONTRADICTED)
        is_drawn = sa.or_(self._number() < self._below(), is_more)
        return sa.and_(is_there, is_recent, is_its, is_drawn)

    def probability(self) -> sa.ColumnElement[Any]:
        share = by_week(self.weeks) * TIMES_DRAWN
        return case((share > 1, 1.0), else_=share)

    def position(self) -> sa.ColumnElement[Any]:
        """Where a drawn case is in line, from 0 to at most 1: each has the same chances, however
        small its week's sample is; a contradicted one always has more than others.
        """
        return sa.cast(self._number(), sa.Float) / (self._below() * TIMES_DRAWN)

    def is_for_two(self) -> Condition:
        """Whether a second person is asked, too: without such replies nobody knows how strict
        people are.
        """
        return self._number() % _FOR_TWO == 0

    def _below(self) -> sa.ColumnElement[Any]:
        """The number below which the cases of a week are drawn, but for contradicted ones."""
        below = [(start, ceil(probability * _PRIME)) for start, probability in self.weeks]
        return sa.cast(by_week(below), sa.BigInteger)

    def _number(self) -> sa.ColumnElement[Any]:
        """The case's number, from 0 to the prime: (id + salt)^5 mod 2^31 - 1, which no two ids
        share.

        Both databases can compute it, so that a query on a channel of 100,000 cases returns only
        those that are drawn. Source: Niederreiter (1992), Random Number Generation, chapter 8
        (nonlinear congruential numbers): such polynomials spread consecutive ids evenly, and the
        next number does not follow from the last ones.
        """
        salt = (
            int(hashlib.sha256(f"{self.team_id}/{self.channel_id}".encode()).hexdigest(), 16)
            % _PRIME
        )
        base: sa.ColumnElement[Any] = (sa.cast(cases.c.id, sa.BigInteger) + salt) % _PRIME
        square = base * base % _PRIME
        return square * square % _PRIME * base % _PRIME


def by_week(weeks: Sequence[tuple[Any, Any]]) -> sa.ColumnElement[Any]:
    """The value of the week that a case was judged in; each week has its start and its value, the
    newest first.
    """
    return case(
        *((cases.c.judged_at >= start, value) for start, value in weeks), else_=weeks[-1][1]
    )


async def read_budgets(
    connection: AsyncConnection, team_id: str, channel_ids: Collection[str], now: datetime
) -> Mapping[str, LabelBudget]:
    chosen = sa.select(channels.c.channel_id, channels.c.labels_per_week.label("number"))
    wanted = await _numbers(connection, chosen.filter_by(team_id=team_id))
    number = sa.func.count().label("number")
    given = sa.select(labels.c.channel_id, number).group_by(labels.c.channel_id)
    given = given.filter_by(team_id=team_id, is_blind=True)
    given = given.where(labels.c.channel_id.in_(channel_ids))
    used = await _numbers(connection, given.where(labels.c.created_at >= utc_week(now)))
    return {
        each: LabelBudget(wanted.get(each, LABELS_PER_WEEK), used.get(each, 0))
        for each in channel_ids
    }


async def _numbers(connection: AsyncConnection, query: sa.Select[Any]) -> Mapping[str, int]:
    """The number of each channel that has one."""
    rows = await connection.execute(query)
    return {row.channel_id: row.number for row in rows if row.number is not None}


def _used(sizes: Mapping[_ByWeek, int]) -> Mapping[str, bool]:
    """The channels with cases that are drawn from, and whether watches drew these."""
    used = dict[str, bool]()
    for channel_id, week, is_drawn in sizes:
        if week < WEEKS:
            used[channel_id] = used.get(channel_id, False) or is_drawn
    return used


def _share(weekly: int, sizes: Mapping[_ByWeek, int], key: _ByWeek) -> float:
    channel_id, week, is_drawn = key
    before = channel_id, week + 1, is_drawn
    return min(1.0, weekly / max(sizes.get(key, 0), sizes.get(before, 0), 1))


class LabelDraws(StoreQueries):
    async def of(
        self, team_id: str, budgets: Mapping[str, LabelBudget], now: datetime
    ) -> Sequence[LabelDraw]:
        """What is drawn from each channel that wants more blind labels this week and has cases.

        If a watch has drawn any in these weeks, only these are used, because no one picked them.

        A week's probability is its budget divided by its cases so far, or by those of the week
        before if there are more of those; at most 1. It is fixed when the first of its cases is
        drawn, so that all of a week's labels have the same probability, whatever is scored,
        forgotten or set in the meantime.
        """
        wanted = [channel_id for channel_id, budget in budgets.items() if budget.left]
        if not wanted:
            return ()
        starts = [utc_week(now) - timedelta(weeks=number) for number in range(WEEKS + 1)]
        sizes = await self._sizes(team_id, wanted, starts)
        fixed = await self._probabilities(team_id, wanted, starts)
        draws = []
        for channel_id, is_drawn in _used(sizes).items():
            weeks = []
            for week, start in enumerate(starts[:WEEKS]):
                key = channel_id, week, is_drawn
                share = _share(budgets[channel_id].weekly, sizes, key)
                weeks.append((start, fixed.get(key) or share))
            draws.append(LabelDraw(team_id, channel_id, weeks, is_drawn))
        return draws

    async def _sizes(
        self, team_id: str, channel_ids: Sequence[str], starts: Sequence[datetime]
    ) -> Mapping[_ByWeek, int]:
        """The cases with a score in each channel and week, of which watches drew some."""
        is_there = cases.c.team_id == team_id, cases.c.channel_id.in_(channel_ids)
        scored = *is_there, cases.c.score.is_not(None)
        # Two queries, so that each uses its index.
        chosen = await self._by_week(cases, sa.func.count(), starts, *scored, counts(cases))
        drawn = await self._by_week(cases, sa.func.count(), starts, *scored, is_watched(cases))
        return chosen | drawn

    async def _probabilities(
        self, team_id: str, channel_ids: Sequence[str], starts: Sequence[datetime]
    ) -> Mapping[_ByWeek, float]:
        # Few cases were drawn: `concat` makes the database go from each of these to its case, as in
        # `Tallies.labelled`.
        is_there = cases.c.team_id.concat("") == team_id, cases.c.channel_id.in_(channel_ids)
        was_drawn = assignments.c.team_id == team_id, assignments.c.probability > 0
        drawn = cases.join(assignments, assignments.c.case_id == cases.c.id)
        highest = sa.func.max(assignments.c.probability)
        which = *is_there, *was_drawn, ~IS_CONTRADICTED
        return await self._by_week(drawn, highest, starts, *which)

    async def _by_week(
        self,
        source: sa.FromClause,
        value: sa.ColumnElement[Any],
        starts: Sequence[datetime],
        *which: Condition,
    ) -> dict[_ByWeek, Any]:
        week = by_week([(start, number) for number, start in enumerate(starts)]).label("week")
        by = cases.c.channel_id, week, is_watched(cases).label("is_drawn")
        query = sa.select(*by, value.label("value")).select_from(source)
        query = query.where(cases.c.judged_at >= starts[-1], *which)
        query = query.group_by(cases.c.channel_id, "week", "is_drawn")
        rows = await self._database.all(query)
        return {(row.channel_id, row.week, bool(row.is_drawn)): row.value for row in rows}
