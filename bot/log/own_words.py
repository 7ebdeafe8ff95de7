"""What a log holds of one person's words, and how they go: texts, reasons and the name; scores stay as numbers."""

import asyncio
from dataclasses import astuple, dataclass

from sqlalchemy import ColumnElement, Select, and_, delete, func, select, union, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus
from bot.domain.clock import utc_now
from bot.log.audit import Act, Action, note
from bot.log.database import Database
from bot.log.forgetting import AT_REST, BATCH, PAUSE_S
from bot.log.jobs import Job, Jobs, Task, Ticket
from bot.log.schema import cases, labels, thumbs
from bot.log.texts import drop_texts

_AFTER_ALL_CASES = -10_000_000
"""The priority of amending verdicts: somebody may have many, and whoever waits for a score comes first."""


@dataclass(frozen=True)
class Words:
    """How much there is of a person's words, or was.

    Attributes:
        cases: Whose question or response they wrote, or which they asked for.
        unsettled: How many of these are being scored, and lose their texts with their verdict.
        reasons: That they typed for labels.
        thumbs: That they put under replies.
    """

    cases: int = 0
    unsettled: int = 0
    reasons: int = 0
    thumbs: int = 0

    def __bool__(self) -> bool:
        return bool(self.cases or self.reasons or self.thumbs)

    def __add__(self, more: "Words") -> "Words":
        return Words(*(a + b for a, b in zip(astuple(self), astuple(more), strict=True)))


def theirs(team_id: str, user_id: str) -> Select[tuple[int]]:
    """The ids of the cases of which a person wrote the question or the response, or which they asked for."""
    # A union, each part by its index.
    of_team = select(cases.c.id).where(cases.c.team_id == team_id)
    places = (cases.c.requester_id, cases.c.author_id, cases.c.question_author_id)
    return select(union(*(of_team.where(place == user_id) for place in places)).subquery().c.id)


class OwnWords:
    """Counts a person's words, and takes them out.

    A case is marked, and its verdict in Slack follows, as where a message was deleted (`Edits`); one that is being
    scored is not disturbed, and loses its texts once it is delivered.
    """

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs

    async def count(self, team_id: str, user_id: str) -> Words:
        """How much there is to be forgotten."""
        is_theirs = and_(cases.c.id.in_(theirs(team_id, user_id)), cases.c.forgotten_at.is_(None))
        by_status = select(cases.c.status, func.count().label("number")).where(is_theirs).group_by(cases.c.status)
        reasons = select(func.count()).where(*_has_reason(team_id, user_id))
        given = select(func.count()).where(*_has_thumb(team_id, user_id))

        async def count(connection: AsyncConnection) -> Words:
            found = {row.status: row.number for row in await connection.execute(by_status)}
            unsettled = sum(number for status, number in found.items() if status not in AT_REST)
            others = [(await connection.execute(query)).scalar_one() for query in (reasons, given)]
            return Words(sum(found.values()), unsettled, *others)

        return await self._database.read(count)

    async def forget(self, team_id: str, user_id: str) -> Words:
        """Takes all of it out, for that person, in small batches; gives what was there."""
        total = Words()
        while gone := await self._forget_some(team_id, user_id):
            total += gone
            await asyncio.sleep(PAUSE_S)
        return total

    async def _forget_some(self, team_id: str, user_id: str) -> Words:
        some = select(cases.c.id).where(cases.c.id.in_(theirs(team_id, user_id)), cases.c.forgotten_at.is_(None))
        marking = update(cases).where(cases.c.id.in_(some.order_by(cases.c.id).limit(BATCH)))
        marks = {"forgotten_at": utc_now(), "is_stale": True}
        no_reasons = update(labels).where(*_has_reason(team_id, user_id)).values(reason=None)

        async def forget(connection: AsyncConnection) -> Words:
            marked = (await connection.execute(marking.values(marks).returning(cases.c.id, cases.c.status))).all()
            is_marked = cases.c.id.in_([row.id for row in marked])
            await drop_texts(connection, and_(is_marked, cases.c.status.in_(AT_REST)))
            is_asked = and_(is_marked, cases.c.requester_id == user_id)
            await connection.execute(update(cases).where(is_asked).values(requester_name=user_id))
            reasons = (await connection.execute(no_reasons)).rowcount
            no_thumbs = (await connection.execute(delete(thumbs).where(*_has_thumb(team_id, user_id)))).rowcount
            await self._amend(connection, team_id, [row.id for row in marked if row.status == CaseStatus.DELIVERED])
            unsettled = sum(row.status not in AT_REST for row in marked)
            gone = Words(len(marked), unsettled, reasons, no_thumbs)
            acts = [Act(team_id, user_id, Action.FORGOT_PERSON, user_id=user_id, cases=len(marked))]
            await note(connection, acts if gone else [])
            return gone

        return await self._database.write(forget)

    async def _amend(self, connection: AsyncConnection, team_id: str, numbers: list[int]) -> None:
        jobs = [
            Job(Task.AMEND, team_id, Ticket(case_id=number), key=f"amend/{number}", priority=_AFTER_ALL_CASES)
            for number in numbers
        ]
        if jobs:
            await self._jobs.put(connection, jobs)


def _has_reason(team_id: str, user_id: str) -> tuple[ColumnElement[bool], ...]:
    return labels.c.team_id == team_id, labels.c.user_id == user_id, labels.c.reason.is_not(None)


def _has_thumb(team_id: str, user_id: str) -> tuple[ColumnElement[bool], ...]:
    return thumbs.c.team_id == team_id, thumbs.c.user_id == user_id
