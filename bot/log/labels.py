"""Labels in the log: the score that a person gave a case; one for each person and case."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, select

from bot.domain.case import LoggedCase
from bot.log.schema import cases, labels
from bot.log.store import Log
from bot.log.upserts import upsert
from bot.log.visibility import is_public, superseded
from bot.log.whole import whole

_DIRECT_MESSAGES = "D"


@dataclass(frozen=True)
class Label:
    """What a person thinks that a response deserves, on the rubric's scale, and why if they said so."""

    score: int
    reason: str | None


class Labels:
    """Reads and writes the labels of a log."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._engine = log.engine

    @whole
    async def put(self, case: LoggedCase, user_id: str, label: Label) -> Label | None:
        """Records a person's label and gives the one that it replaces; None where it is their first."""
        earlier = await self.get(case, user_id)
        now = datetime.now(UTC)
        values = {
            "channel_id": case.channel_id,
            "score": label.score,
            "reason": label.reason,
            "created_at": now,
            "updated_at": now,
        }
        key = {"team_id": case.team_id, "case_id": case.id, "user_id": user_id}
        async with self._log.writing() as connection:
            statement = upsert(connection.dialect.name, labels, key | values, keep=("created_at",))
            await connection.execute(statement)
        return earlier

    @whole
    async def get(self, case: LoggedCase, user_id: str) -> Label | None:
        """A person's label of a case."""
        query = select(labels.c.score, labels.c.reason).where(
            labels.c.team_id == case.team_id, labels.c.case_id == case.id, labels.c.user_id == user_id
        )
        async with self._engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        return Label(row.score, row.reason) if row else None

    async def labelled_cases(self, since: datetime | None = None) -> AsyncGenerator[Mapping[str, Any], None]:
        """The labels of verdicts that count, each with its case, oldest case first; row by row.

        As in the figures: what a whole channel could see, and of a reply the newest verdict. What somebody had scored
        in their direct messages with the app was for them alone, too.
        """
        async with self._engine.connect() as connection:
            async for row in await connection.stream(_labelled(since)):
                yield row._mapping


def _labelled(since: datetime | None) -> Select[Any]:
    columns = [cases.c.id, cases.c.team_id, cases.c.channel_id, cases.c.question, cases.c.question_hash]
    columns += [cases.c.response, cases.c.score, cases.c.model, cases.c.rubric, cases.c.rubric_version]
    label = [labels.c.user_id, labels.c.score.label("human"), labels.c.reason]
    is_same = (labels.c.team_id == cases.c.team_id) & (labels.c.case_id == cases.c.id)
    query = select(*columns, cases.c.judged_at, *label).join(labels, is_same)
    query = query.where(cases.c.judged_at.is_not(None), is_public(cases), cases.c.id.not_in(superseded()))
    query = query.where(~cases.c.channel_id.startswith(_DIRECT_MESSAGES))
    if since is not None:
        query = query.where(cases.c.judged_at >= since)
    return query.order_by(cases.c.id, labels.c.created_at)
