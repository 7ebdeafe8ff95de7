"""Reading and writing the log. Every write is one short transaction, and may be repeated without harm."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Select, and_, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError, NoResultFound
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.case import Case, CaseStatus, LoggedCase, QuestionSource, Visibility, text_hash
from bot.log.engine import open_engine
from bot.log.schema import cases, ratings
from bot.verdict import RecordedRating, RecordedVerdict

_VERDICT_COLUMNS = set(RecordedVerdict.model_fields) - {"ratings", "rubric"}
_OPEN = (CaseStatus.RECEIVED, CaseStatus.JUDGED)


class Log:
    """The log of cases and verdicts.

    With `store_text="none"` the two texts and what the model wrote about them are dropped once the verdict is
    delivered; hashes, scores and justifications stay.
    """

    def __init__(self, engine: AsyncEngine, store_text: str = "full") -> None:
        self._engine = engine
        self._writer = engine.execution_options(write=True)
        self._keeps_text = store_text == "full"

    @classmethod
    async def open(cls, database_url: str, store_text: str = "full") -> "Log":
        """The log behind a URL, migrated.

        Raises:
            LogError: It cannot be opened, written or migrated.
        """
        return cls(await open_engine(database_url), store_text)

    async def close(self) -> None:
        """Give the connections back."""
        await self._engine.dispose()

    async def add(self, case: Case) -> tuple[LoggedCase, bool]:
        """The case, durable, and whether it is new; the same key in the same team is the same case."""
        values = case.model_dump() | {
            "status": CaseStatus.RECEIVED,
            "question_hash": _hash(case.question),
            "response_hash": _hash(case.response),
            "created_at": datetime.now(UTC),
        }
        try:
            async with self._writer.begin() as connection:
                row = (await connection.execute(insert(cases).values(values).returning(cases))).one()
                return _to_case(row), True
        except IntegrityError:
            known = select(cases).where(cases.c.team_id == case.team_id, cases.c.key == case.key)
            return _to_case(await self._one(known)), False

    async def case(self, case_id: int) -> LoggedCase:
        """The case with this number.

        Raises:
            LookupError: There is none.
        """
        try:
            return _to_case(await self._one(select(cases).where(cases.c.id == case_id)))
        except NoResultFound as exc:
            raise LookupError(f"no case {case_id} in the log") from exc

    async def latest(self, case: Case) -> LoggedCase | None:
        """The newest case about the same message that the same person may see."""
        query = (
            select(cases)
            .where(
                cases.c.team_id == case.team_id,
                cases.c.channel_id == case.channel_id,
                cases.c.message_ts == case.message_ts,
                or_(cases.c.visibility == Visibility.THREAD, cases.c.requester_id == case.requester_id),
            )
            .order_by(cases.c.id.desc())
            .limit(1)
        )
        async with self._engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        return _to_case(row) if row else None

    async def unsettled(self) -> Sequence[int]:
        """The numbers of all cases that still have a way to go, oldest first; those that wait for a person are not."""
        query = select(cases.c.id).where(cases.c.status.in_(_OPEN)).order_by(cases.c.id)
        async with self._engine.connect() as connection:
            return (await connection.execute(query)).scalars().all()

    async def note_texts(
        self, case_id: int, *, response: str | None = None, author_id: str | None = None, **found: Any
    ) -> LoggedCase:
        """What was read in Slack: `response`, `question`, `question_source`, `parent_ts`, `obstacle`."""
        if response is not None:
            found |= {"response": response, "author_id": author_id, "response_hash": _hash(response)}
        if "question" in found:
            found["question_hash"] = _hash(found["question"])
        return await self._update(case_id, found)

    async def note_asked(self, case_id: int) -> LoggedCase:
        """The case waits until a person has typed its question."""
        return await self._update(case_id, {"status": CaseStatus.ASKED}, CaseStatus.RECEIVED)

    async def answer(self, case_id: int, question: str) -> LoggedCase:
        """The person has typed the question; only the first answer counts."""
        values = {
            "status": CaseStatus.RECEIVED,
            "question": question,
            "question_source": QuestionSource.TYPED,
            "question_hash": _hash(question),
        }
        return await self._update(case_id, values, CaseStatus.ASKED)

    async def note_post(self, case_id: int, **progress: Any) -> LoggedCase:
        """How far our messages have come: `thread_ts`, `reply_ts`, `thread_intent`, `reply_intent`, `blocked_by`."""
        return await self._update(case_id, progress)

    async def record(self, case_id: int, verdict: RecordedVerdict) -> LoggedCase:
        """The verdict with its ratings, in one transaction; a case that has one keeps it."""
        values = verdict.model_dump(include=_VERDICT_COLUMNS)
        values |= {"status": CaseStatus.JUDGED, "judged_at": datetime.now(UTC)}
        is_received = and_(cases.c.id == case_id, cases.c.status == CaseStatus.RECEIVED)
        async with self._writer.begin() as connection:
            updated = await connection.execute(update(cases).where(is_received).values(values).returning(cases))
            row = updated.one_or_none()
            if row and verdict.ratings:
                await connection.execute(insert(ratings), _rating_rows(row.team_id, case_id, verdict.ratings))
        return _to_case(row) if row else await self.case(case_id)

    async def verdict(self, case_id: int) -> RecordedVerdict | None:
        """The recorded verdict with its ratings; None while there is none."""
        async with self._engine.connect() as connection:
            row = (await connection.execute(select(cases).where(cases.c.id == case_id))).one()
            query = select(ratings).where(ratings.c.team_id == row.team_id, ratings.c.case_id == case_id)
            rows = (await connection.execute(query.order_by(ratings.c.position))).all()
        if row.judged_at is None:
            return None
        given = tuple(RecordedRating.model_validate(dict(rating._mapping)) for rating in rows)
        return RecordedVerdict.model_validate(dict(row._mapping) | {"ratings": given})

    async def note_delivered(self, case_id: int) -> LoggedCase:
        """The verdict is where it belongs, and the case is done."""
        values: dict[str, Any] = {
            "status": CaseStatus.DELIVERED,
            "delivered_at": datetime.now(UTC),
            "response_url": None,
        }
        if not self._keeps_text:
            values |= {"question": None, "response": None}
            async with self._writer.begin() as connection:
                await connection.execute(update(ratings).where(ratings.c.case_id == case_id).values(raw=""))
        return await self._update(case_id, values, CaseStatus.JUDGED)

    async def recent(self, limit: int) -> Sequence[LoggedCase]:
        """The newest cases, oldest of them first."""
        query = select(cases).order_by(cases.c.id.desc()).limit(limit)
        async with self._engine.connect() as connection:
            rows = (await connection.execute(query)).all()
        return [_to_case(row) for row in reversed(rows)]

    async def counts(self) -> Mapping[str, int]:
        """How many cases there are, by status."""
        query = select(cases.c.status, func.count().label("number")).group_by(cases.c.status)
        async with self._engine.connect() as connection:
            rows = await connection.execute(query)
            return {row.status: row.number for row in rows}

    async def _one(self, query: Select[Any]) -> Row[Any]:
        async with self._engine.connect() as connection:
            row: Row[Any] = (await connection.execute(query)).one()
            return row

    async def _update(self, case_id: int, values: dict[str, Any], when: CaseStatus | None = None) -> LoggedCase:
        """The case after the update, which is left out where the case is not in the status `when`."""
        allowed = cases.c.id == case_id
        if when is not None:
            allowed = and_(allowed, cases.c.status == when)
        async with self._writer.begin() as connection:
            updated = await connection.execute(update(cases).where(allowed).values(values).returning(cases))
            row = updated.one_or_none()
        return _to_case(row) if row else await self.case(case_id)


def _rating_rows(team_id: str, case_id: int, given: Sequence[RecordedRating]) -> list[dict[str, Any]]:
    return [
        rating.model_dump() | {"team_id": team_id, "case_id": case_id, "position": position}
        for position, rating in enumerate(given)
    ]


def _to_case(row: Row[Any]) -> LoggedCase:
    return LoggedCase.model_validate(dict(row._mapping))


def _hash(text: str | None) -> str | None:
    return None if text is None else text_hash(text)
