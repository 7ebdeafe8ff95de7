"""Reading and writing the log. Every write is one short transaction, and may be repeated without harm."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, func, insert, null, or_, select, update
from sqlalchemy.exc import IntegrityError, NoResultFound
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.domain.case import Case, CaseStatus, LoggedCase, QuestionSource, text_hash
from bot.domain.verdict import RecordedRating, RecordedVerdict
from bot.log.engine import open_engine
from bot.log.presence import Presence
from bot.log.rows import is_of_team, rating_rows, to_case
from bot.log.schema import IS_UNSETTLED, cases, processes, ratings
from bot.log.texts import drop_texts
from bot.log.visibility import is_public
from bot.log.whole import whole

_VERDICT_COLUMNS = set(RecordedVerdict.model_fields) - {"ratings", "rubric"}
_OPEN = (CaseStatus.RECEIVED, CaseStatus.JUDGED)
_SWEPT_AT_ONCE = 1000
_SETTLING_AT_ONCE = 4
# Built once: SQLAlchemy takes longer to build this one than SQLite to do it.
_HELD = update(cases).where(
    cases.c.id == bindparam("held_id"),
    cases.c.holder == bindparam("held_by"),
    cases.c.status.in_(bindparam("held_in", expanding=True)),
)


class TakenError(Exception):
    """The case is settled by another process now, or has gone on without us; ours must stop."""


class Log:
    """The log of cases and verdicts.

    Whoever settles a case holds it, and nobody else writes to it: the writes that bring a case forward (`note_texts`,
    `note_asked`, `note_post`, `record`, `postpone`, `note_delivered`) give the case as it is then, without reading it
    again, and raise `TakenError` where the process no longer holds it.

    With `store_text="none"` the two texts and what the model wrote about them, justifications included, are dropped
    once the verdict is delivered; hashes, scores, and where the messages stand, are left.
    """

    def __init__(self, engine: AsyncEngine, store_text: str = "full") -> None:
        self.engine = engine
        self._keeps_text = store_text == "full"
        # Settling waits in line, so that a new case is added, and Slack answered, ahead of a thousand old ones.
        self._settling = asyncio.Semaphore(_SETTLING_AT_ONCE)
        # SQLite has one writer. Who waits for it there looks again after ever longer pauses, and may be overtaken for
        # a second; who waits here is next.
        self._one_writer = asyncio.Lock() if engine.dialect.name == "sqlite" else nullcontext()
        self.presence = Presence(self.writing)

    @classmethod
    async def open(cls, database_url: str, store_text: str = "full") -> "Log":
        """The log behind a URL, migrated.

        Raises:
            LogError: It cannot be opened, written or migrated.
        """
        return cls(await open_engine(database_url), store_text)

    async def close(self) -> None:
        """Give the connections back."""
        await self.engine.dispose()

    @whole
    async def add(self, case: Case) -> tuple[LoggedCase, bool]:
        """The case, durable and held by us, and whether it is new; the same key in the same team is the same case."""
        values = case.model_dump() | {
            "status": CaseStatus.RECEIVED,
            "holder": self.presence.name,
            "question_hash": _hash(case.question),
            "response_hash": _hash(case.response),
            "created_at": datetime.now(UTC),
        }
        try:
            async with self.writing() as connection:
                case_id = (await connection.execute(insert(cases).returning(cases.c.id), values)).scalar_one()
            return LoggedCase.model_validate(values | {"id": case_id}), True
        except IntegrityError:
            known = select(cases).where(cases.c.team_id == case.team_id, cases.c.key == case.key)
            return to_case(await self._one(known)), False

    @whole
    async def case(self, case_id: int) -> LoggedCase:
        """The case with this number.

        Raises:
            LookupError: There is none.
        """
        try:
            return to_case(await self._one(select(cases).where(cases.c.id == case_id)))
        except NoResultFound as exc:
            raise LookupError(f"no case {case_id} in the log") from exc

    @whole
    async def find(self, team_id: str, case_id: int) -> LoggedCase | None:
        """A team's case with this number, if there is one."""
        query = select(cases).where(cases.c.id == case_id, is_of_team(team_id))
        async with self.engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        return to_case(row) if row else None

    @whole
    async def latest(self, case: Case) -> LoggedCase | None:
        """The newest case about the same message that the same person may see."""
        is_shown = and_(is_public(cases), cases.c.status != CaseStatus.ASKED)
        query = (
            select(cases)
            .where(
                cases.c.team_id == case.team_id,
                cases.c.channel_id == case.channel_id,
                cases.c.message_ts == case.message_ts,
                or_(is_shown, cases.c.requester_id == case.requester_id),
            )
            .order_by(cases.c.id.desc())
            .limit(1)
        )
        async with self.engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        return to_case(row) if row else None

    @whole
    async def unsettled(self, team_id: str) -> Sequence[int]:
        """The numbers of a team's oldest cases that have a way to go, and that we may take up now."""
        query = (
            select(cases.c.id)
            .where(IS_UNSETTLED, is_of_team(team_id), self._is_takeable())
            .order_by(cases.c.id)
            .limit(_SWEPT_AT_ONCE)
        )
        async with self.engine.connect() as connection:
            return (await connection.execute(query)).scalars().all()

    @whole
    async def claim(self, case_id: int) -> LoggedCase | None:
        """The case, held by us; None where it is settled, not due yet, waits for a person, or is another's."""
        case = await self.case(case_id)
        if case.holder == self.presence.name and case.status in _OPEN and case.due_at is None:
            return case
        takes = update(cases).where(cases.c.id == case_id, self._is_takeable()).values(holder=self.presence.name)
        async with self._settle() as connection:
            row = (await connection.execute(takes.returning(cases))).one_or_none()
        return to_case(row) if row else None

    @whole
    async def postpone(self, case: LoggedCase, pause: timedelta) -> LoggedCase:
        """The case after a failed try, free and due again after `pause`."""
        values = {"tries": case.tries + 1, "due_at": datetime.now(UTC) + pause, "holder": None}
        return await self._advance(case, values)

    @whole
    async def note_texts(
        self, case: LoggedCase, *, response: str | None = None, author_id: str | None = None, **found: Any
    ) -> LoggedCase:
        """What was read in Slack: `response`, `question`, `question_source`, `parent_ts`, `obstacle`."""
        if response is not None:
            found |= {"response": response, "author_id": author_id, "response_hash": _hash(response)}
        if "question" in found:
            found["question_hash"] = _hash(found["question"])
        return await self._advance(case, found | {"tries": 0})

    @whole
    async def note_asked(self, case: LoggedCase) -> LoggedCase:
        """The case waits until a person has typed its question."""
        return await self._advance(case, {"status": CaseStatus.ASKED, "holder": None})

    @whole
    async def reopen(self, case_id: int, response_url: str | None) -> None:
        """A case that waits for its question is looked into once more; its requester asks again, from elsewhere."""
        values = {"status": CaseStatus.RECEIVED, "response_url": response_url}
        waits = and_(cases.c.id == case_id, cases.c.status == CaseStatus.ASKED)
        async with self.writing() as connection:
            await connection.execute(update(cases).where(waits).values(values))

    @whole
    async def answer(self, case_id: int, question: str) -> LoggedCase:
        """The person has typed the question; only the first answer counts, however early it comes."""
        values = {
            "status": CaseStatus.RECEIVED,
            "question": question,
            "question_source": QuestionSource.TYPED,
            "question_hash": _hash(question),
            "holder": None,
        }
        is_open = and_(cases.c.status.in_((CaseStatus.RECEIVED, CaseStatus.ASKED)), cases.c.question.is_(None))
        async with self.writing() as connection:
            await connection.execute(update(cases).where(cases.c.id == case_id, is_open).values(values))
        return await self.case(case_id)

    @whole
    async def note_post(self, case: LoggedCase, **progress: Any) -> LoggedCase:
        """How far our messages have come: `thread_ts`, `reply_ts`, `thread_intent`, `reply_intent`, `blocked_by`."""
        return await self._advance(case, progress)

    @whole
    async def record(self, case: LoggedCase, verdict: RecordedVerdict) -> LoggedCase:
        """The verdict with its ratings, in one transaction; a case that has one keeps it."""
        values = verdict.model_dump(include=_VERDICT_COLUMNS)
        values |= {"status": CaseStatus.JUDGED, "judged_at": datetime.now(UTC), "tries": 0, "due_at": None}
        async with self._settle() as connection:
            await self._update_held(connection, case, values, CaseStatus.RECEIVED)
            if verdict.ratings:
                await connection.execute(insert(ratings), rating_rows(case, verdict.ratings))
        return case.model_copy(update=values)

    @whole
    async def verdict(self, case_id: int) -> RecordedVerdict | None:
        """The recorded verdict with its ratings; None while there is none."""
        async with self.engine.connect() as connection:
            row = (await connection.execute(select(cases).where(cases.c.id == case_id))).one()
            query = select(ratings).where(ratings.c.team_id == row.team_id, ratings.c.case_id == case_id)
            rows = (await connection.execute(query.order_by(ratings.c.position))).all()
        if row.judged_at is None:
            return None
        given = tuple(RecordedRating.model_validate(dict(rating._mapping)) for rating in rows)
        return RecordedVerdict.model_validate(dict(row._mapping) | {"ratings": given})

    @whole
    async def note_delivered(self, case: LoggedCase) -> LoggedCase:
        """The verdict is where it belongs, and the case is done."""
        values: dict[str, Any] = {
            "status": CaseStatus.DELIVERED,
            "delivered_at": datetime.now(UTC),
            "response_url": None,
            "holder": None,
        }
        async with self._settle() as connection:
            await self._update_held(connection, case, values, CaseStatus.JUDGED)
            if not self._keeps_text:
                await drop_texts(connection, cases.c.id == case.id)
                values |= {"question": None, "response": None}
        return case.model_copy(update=values)

    @whole
    async def recent(self, limit: int) -> Sequence[LoggedCase]:
        """The newest cases, oldest of them first."""
        query = select(cases).order_by(cases.c.id.desc()).limit(limit)
        async with self.engine.connect() as connection:
            rows = (await connection.execute(query)).all()
        return [to_case(row) for row in reversed(rows)]

    @whole
    async def ping(self) -> None:
        """Returns once the log has answered; what it reads does not grow with the cases."""
        async with self.engine.connect() as connection:
            await connection.execute(select(processes.c.id).limit(1))

    @whole
    async def counts(self) -> Mapping[str, int]:
        """How many cases there are, by status; as scraped every few seconds, from indexes and not from the cases."""
        number = func.count().label("number")
        unsettled = select(cases.c.status, number).where(IS_UNSETTLED).group_by(cases.c.status)
        # The delivered ones are what is left of all: SQLite counts rows by a narrow index, and has none by status.
        query = unsettled.union_all(select(null(), number).select_from(cases))
        async with self.engine.connect() as connection:
            found = {row.status: row.number for row in await connection.execute(query)}
        delivered = found.pop(None) - sum(found.values())
        return found | ({CaseStatus.DELIVERED: delivered} if delivered else {})

    async def _one(self, query: Select[Any]) -> Row[Any]:
        async with self.engine.connect() as connection:
            row: Row[Any] = (await connection.execute(query)).one()
            return row

    def _is_takeable(self) -> ColumnElement[bool]:
        is_due = or_(cases.c.due_at.is_(None), cases.c.due_at <= datetime.now(UTC))
        return and_(cases.c.status.in_(_OPEN), is_due, self.presence.may_take())

    async def _advance(self, case: LoggedCase, values: dict[str, Any]) -> LoggedCase:
        async with self._settle() as connection:
            await self._update_held(connection, case, values, *_OPEN)
        return case.model_copy(update=values)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that writes; with SQLite the only one of this process at the moment."""
        async with self._one_writer, self.engine.begin() as connection:
            yield connection

    @asynccontextmanager
    async def _settle(self) -> AsyncIterator[AsyncConnection]:
        async with self._settling, self.writing() as connection:
            yield connection

    async def _update_held(
        self, connection: AsyncConnection, case: LoggedCase, values: dict[str, Any], *status: CaseStatus
    ) -> None:
        """Changes the row of a case that we hold.

        Raises:
            TakenError: We do not, or it is not in one of these statuses.
        """
        which = {"held_id": case.id, "held_by": self.presence.name, "held_in": status}
        if not (await connection.execute(_HELD, which | values)).rowcount:
            raise TakenError(f"case {case.id}")


def _hash(text: str | None) -> str | None:
    return None if text is None else text_hash(text)
