"""Blind labels: which case a person is shown next, and the label that they give before they see the
judge's score.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy import case
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus
from bot.domain.clock import Clock, utc_now
from bot.domain.label import EVERYBODY, Label, Outcome
from bot.store import database as db
from bot.store import visibility
from bot.store.labels import LabelBudget, LabelDraw, LabelDraws, label_values, read_budgets
from bot.store.schema import assignments, cases, is_of_case, labels, rows_of_cases
from bot.store.tables import Condition
from bot.store.turns import read_conversations
from judge import Turn

LONGEST = 80_000
"""Characters of question and response together; a modal has no room for more."""

_HELD_FOR = timedelta(hours=1)
"""After a case was shown to a person who has not answered, others are shown other cases first for this long."""


def order_of(sample: LabelDraw, user_id: str, now: datetime) -> tuple[sa.ColumnElement[Any], ...]:
    """The order of cases: first those that the person closed without an answer, then those shown to
    the fewest others; one that is for two people waits as if nobody had labelled it.

    The columns are named `is_first` (0 or 1), `others` and `position`.
    """
    is_first = case((is_shown(user_id), 0), else_=1).label("is_first")
    is_held = sa.and_(assignments.c.outcome.is_(None), assignments.c.drawn_at > now - _HELD_FOR)
    is_taken = sa.or_(assignments.c.outcome == Outcome.LABELLED, is_held)
    taken = (
        sa.select(sa.func.count()).select_from(assignments).where(is_of_case(assignments), is_taken)
    )
    others = taken.where(assignments.c.user_id != user_id).scalar_subquery()
    is_second = sa.and_(sample.is_for_two(), others == 1)
    waiting = case((is_second, 0), else_=others).label("others")
    return is_first, waiting, sample.position().label("position")


def _first_of(sample: LabelDraw, user_id: str, now: datetime) -> sa.Select[Any]:
    """The first case in this order, with the probability that it was drawn with."""
    probability = sample.probability().label("probability")
    query = sa.select(*order_of(sample, user_id, now), cases.c.id, probability)
    query = query.where(sample.has_drawn(), may_label(user_id))
    return query.order_by("is_first", "others", "position").limit(1)


def may_label(user_id: str) -> Condition:
    own = (cases.c.requester_id, cases.c.author_id, cases.c.question_author_id)
    length = sa.func.length(cases.c.question) + sa.func.length(cases.c.response)
    is_as_scored = [cases.c[mark].is_(None) for mark in ("edited_at", "deleted_at", "forgotten_at")]
    return sa.and_(
        sa.or_(visibility.counts(cases), visibility.is_watched(cases)),
        cases.c.score.is_not(None),
        cases.c.status == CaseStatus.DELIVERED,
        length <= LONGEST,  # NULL, so no match, if either text is missing
        *is_as_scored,
        ~visibility.is_superseded(),
        *(each.is_distinct_from(user_id) for each in own),
        ~_knows_reply(user_id),
    )


def _knows_reply(user_id: str) -> Condition:
    same = cases.alias("same")
    has_label = (
        sa.select(labels.c.score)
        .where(is_of_case(labels, same), labels.c.user_id == user_id)
        .exists()
    )
    told = sa.select(assignments.c.case_id).where(
        is_of_case(assignments, same), assignments.c.outcome.is_not(None)
    )
    has_answered = told.where(assignments.c.user_id.in_((user_id, EVERYBODY))).exists()
    is_theirs = sa.or_(same.c.requester_id == user_id, has_label, has_answered)
    return sa.select(same.c.id).where(visibility.on_same_message(cases, same), is_theirs).exists()


def is_shown(user_id: str) -> Condition:
    theirs = sa.select(assignments.c.case_id).filter_by(user_id=user_id, outcome=None)
    return theirs.where(is_of_case(assignments)).exists()


_NOT_DRAWN = 0.0  # below any week's probability, which is the highest of its cases


class NotRecordedError(Exception):
    """A blind label was not recorded: the case has changed, the person knows its score, or there
    are enough labels.
    """


@dataclass(frozen=True)
class DrawnCase:
    """A case as it is shown to a person who labels it blind, without anything that the judge said
    of it.
    """

    id: int
    channel_id: str
    question: str
    response: str
    rubric: str
    rubric_version: str | None
    lowest: int
    highest: int
    messages_before: int = 0
    conversation: tuple[Turn, ...] = ()


class Assignments(db.StoreQueries):
    """Shows people cases whose scores they have not seen, and records their labels.

    A person is never shown what they wrote, asked for, labelled or passed over. A case whose modal
    they only closed is shown again. If the store keeps no texts, there is nothing to show.
    """

    def __init__(self, database: db.Database, *, keeps_text: bool, clock: Clock = utc_now) -> None:
        super().__init__(database)
        self.keeps_text = keeps_text
        self._now = clock

    async def budget(self, team_id: str, channel_id: str) -> LabelBudget:
        return (await self._budgets(team_id, [channel_id]))[channel_id]

    async def _budgets(
        self, team_id: str, channel_ids: Collection[str]
    ) -> Mapping[str, LabelBudget]:
        read = partial(read_budgets, team_id=team_id, channel_ids=channel_ids, now=self._now())
        return await self._database.read(read)

    async def waiting(
        self, team_id: str, user_id: str, channel_ids: Collection[str]
    ) -> sa.Row[Any] | None:
        """The next case of these channels for this person's label, by `order_of`."""
        now = self._now()
        budgets = await self._budgets(team_id, channel_ids) if self.keeps_text else {}
        samples = await LabelDraws(self._database).of(team_id, budgets, now)

        async def find(connection: AsyncConnection) -> sa.Row[Any] | None:
            found: list[sa.Row[Any]] = []
            for sample in samples:
                found += await connection.execute(_first_of(sample, user_id, now))
            return min(found, default=None)

        return await self._database.read(find)

    async def draw(
        self, team_id: str, user_id: str, channel_ids: Collection[str]
    ) -> DrawnCase | None:
        """The case that is waiting for this person, recorded as shown."""
        found = await self.waiting(team_id, user_id, channel_ids)
        if found is None:
            return None
        rows = rows_of_cases(
            assignments,
            cases.c.id == found.id,
            user_id=user_id,
            probability=found.probability,
            drawn_at=self._now(),
        )
        drawn = db.insert_into(self._database, assignments).from_select(*rows)
        await self._database.execute(drawn.on_conflict_do_nothing())
        return await self.shown(team_id, user_id, found.id)

    async def shown(self, team_id: str, user_id: str, case_id: int) -> DrawnCase | None:
        columns = db.columns_of(cases, DrawnCase, "conversation")
        query = sa.select(*columns).filter_by(team_id=team_id, id=case_id)
        is_theirs = may_label(user_id), is_shown(user_id)
        found = await self._database.first(DrawnCase, query.where(*is_theirs))
        if found is None or not found.messages_before:
            return found
        said = await self._database.read(partial(read_conversations, case_ids=[case_id]))
        return replace(found, conversation=said.get(case_id, ()))

    @db.in_transaction
    async def note_told(
        self, connection: AsyncConnection, team_id: str, case_ids: Collection[int], user_id: str
    ) -> Sequence[int]:
        """Records that a person, or EVERYBODY, is told the scores of these cases, and so is not
        asked for them blind.

        Called by everything that shows the score of a single case. An answer that the person has
        given is kept. Returns those of the cases for which this is new.
        """
        is_meant = sa.and_(cases.c.team_id == team_id, cases.c.id.in_(case_ids))
        telling = self._telling(is_meant, user_id)
        return list((await connection.execute(telling)).scalars())

    def _telling(self, which: Condition, user_id: str) -> sa.Executable:
        seen = {"outcome": Outcome.SEEN}
        now = self._now()
        rows = rows_of_cases(
            assignments, which, user_id=user_id, probability=_NOT_DRAWN, drawn_at=now, **seen
        )
        inserting = db.insert_into(self._database, assignments).from_select(*rows)
        is_open = assignments.c.outcome.is_(None)
        keys = list(assignments.primary_key)
        told = inserting.on_conflict_do_update(index_elements=keys, set_=seen, where=is_open)
        return told.returning(assignments.c.case_id)

    @db.in_transaction
    async def take_back(
        self, connection: AsyncConnection, team_id: str, case_ids: Collection[int], user_id: str
    ) -> None:
        """Undoes `note_told` for the cases that it returned."""
        its = {"team_id": team_id, "user_id": user_id, "outcome": Outcome.SEEN}
        are_meant = assignments.c.case_id.in_(case_ids)
        never_drawn = sa.delete(assignments).filter_by(**its, probability=_NOT_DRAWN)
        await connection.execute(never_drawn.where(are_meant))
        await connection.execute(
            sa.update(assignments).filter_by(**its).where(are_meant).values(outcome=None)
        )

    @db.in_transaction
    async def record(
        self,
        connection: AsyncConnection,
        team_id: str,
        user_id: str,
        shown: DrawnCase,
        label: Label,
    ) -> None:
        """Records a blind label of a case that the person was shown; it is not changed afterwards.

        Raises NotRecordedError, also if others have given the last of this week's labels in the
        meantime.
        """
        channel_id = shown.channel_id
        await db.lock_for_transaction(connection, f"blind labels of {team_id}/{channel_id}")
        probability = await _note_labelled(connection, team_id, user_id, shown.id)
        now = self._now()
        budgets = await read_budgets(connection, team_id, [channel_id], now)
        if not budgets[channel_id].left:
            raise NotRecordedError
        key = {"team_id": team_id, "case_id": shown.id, "user_id": user_id}
        values = label_values(replace(label, is_blind=True), channel_id, now)
        new = db.insert_new(self._database, labels, key | values | {"probability": probability})
        if not (await connection.execute(new)).rowcount:
            raise NotRecordedError  # they have labelled it in the thread in the meantime


async def _note_labelled(
    connection: AsyncConnection, team_id: str, user_id: str, case_id: int
) -> float:
    """Notes the answer of a person who may still give it; returns what the case was drawn with."""
    may_answer = sa.select(cases.c.id).filter_by(id=case_id).where(may_label(user_id))
    answer = answer_of(team_id, user_id, case_id, Outcome.LABELLED)
    answer = answer.where(assignments.c.case_id.in_(may_answer))
    drawn = await connection.execute(answer.returning(assignments.c.probability))
    probability: float | None = drawn.scalar_one_or_none()
    if probability is None:
        raise NotRecordedError
    return probability


def answer_of(team_id: str, user_id: str, case_id: int, outcome: Outcome) -> sa.Update:
    its = sa.update(assignments).filter_by(
        team_id=team_id, user_id=user_id, case_id=case_id, outcome=None
    )
    return its.values(outcome=outcome)
