"""The topics that questions were sorted into."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.questions import to_time
from bot.domain.standing import Subject
from bot.figures.outcomes import ScoredReply
from bot.store.database import StoreQueries, columns_of, in_transaction, insert_into, lock_words
from bot.store.figures import Kind, to_ts
from bot.store.schema import cases, seen_messages, topics
from bot.store.tables import Condition
from bot.store.visibility import is_watched
from judge.evaluation.naming import OTHER


class ToSort(NamedTuple):
    """A question that is to be sorted; `ts` is that of its scored reply, or its own if it has none."""

    channel_id: str
    ts: str
    text: str
    case_id: int | None = None


@dataclass(frozen=True)
class SortedReply(ScoredReply):
    """A scored reply with the topic of its question, which is empty until that is sorted;
    `probability` is that of its draw.
    """

    topic: str
    thread_ts: str | None
    probability: float
    judge_version: str | None
    question: str | None

    @property
    def thread(self) -> tuple[str, str]:
        return self.channel_id, self.thread_ts or self.message_ts

    @property
    def asked_at(self) -> datetime:
        return to_time(self.message_ts)

    @property
    def kind(self) -> Kind:
        return Kind(self.lowest, self.highest, self.judge_version)


class Topics(StoreQueries):
    async def names(
        self, subject: Subject, channel_ids: Sequence[str], since: datetime
    ) -> Sequence[str]:
        """The names of the topics of questions in these channels since then, the most frequent
        first.
        """
        names = sa.select(topics.c.name).outerjoin(cases, topics.c.case_id == cases.c.id)
        asked_ts = sa.func.coalesce(topics.c.question_ts, cases.c.message_ts)
        names = names.where(_is_of(topics, subject, channel_ids), asked_ts >= to_ts(since))
        names = names.where(topics.c.name != OTHER).group_by(topics.c.name)
        return await self._database.values(names.order_by(sa.func.count().desc(), topics.c.name))

    async def replies(
        self, subject: Subject, channel_ids: Sequence[str], since: datetime
    ) -> Sequence[SortedReply]:
        """The scored replies in these channels since then, oldest first."""
        columns = columns_of(cases, SortedReply, "topic")
        query = sa.select(*columns, sa.func.coalesce(topics.c.name, "").label("topic"))
        query = query.outerjoin(topics, topics.c.case_id == cases.c.id)
        query = query.where(_are_drawn(subject, channel_ids, since))
        return await self._database.rows(SortedReply, query.order_by(cases.c.message_ts))

    async def unanswered(
        self, subject: Subject, channel_ids: Sequence[str]
    ) -> Mapping[tuple[str, str], str]:
        """The topics of questions without an answer, by channel and message."""
        query = sa.select(topics).where(_is_of(topics, subject, channel_ids))
        rows = await self._database.all(query.where(topics.c.question_ts.is_not(None)))
        return {(row.channel_id, row.question_ts): row.name for row in rows}

    async def questions(
        self, subject: Subject, channel_ids: Sequence[str], since: datetime, most: int
    ) -> Sequence[tuple[ToSort, str | None]]:
        """The newest questions since then whose replies were scored and whose words are stored,
        each with its topic, if it has one.
        """
        columns = cases.c.channel_id, cases.c.message_ts, cases.c.question, cases.c.id
        query = sa.select(*columns, topics.c.name)
        query = query.outerjoin(topics, topics.c.case_id == cases.c.id)
        query = query.where(_are_drawn(subject, channel_ids, since), cases.c.question != "")
        rows = await self._database.all(query.order_by(cases.c.message_ts.desc()).limit(most))
        return [
            (ToSort(row.channel_id, row.message_ts, row.question, row.id), row.name) for row in rows
        ]

    async def unsort(self, subject: Subject, channel_ids: Sequence[str]) -> None:
        """Has the questions that fit none of the topics sorted again."""
        others = sa.delete(topics).where(_is_of(topics, subject, channel_ids))
        await self._database.execute(others.where(topics.c.name == OTHER))

    @in_transaction
    async def note(
        self, connection: AsyncConnection, subject: Subject, found: Iterable[tuple[ToSort, str]]
    ) -> None:
        """Keeps the topics of questions, but of those whose words have gone meanwhile."""
        await lock_words(connection)
        for question, name in found:
            values = _to_row(subject, question, name)
            literals = [sa.literal(value, column.type) for column, value in values.items()]
            rows = sa.select(*literals).where(_is_there(subject.team_id, question))
            adding = insert_into(self._database, topics).from_select(list(values), rows)
            await connection.execute(adding.on_conflict_do_nothing())


def _to_row(subject: Subject, question: ToSort, name: str) -> Mapping[sa.Column[Any], object]:
    return {
        topics.c.team_id: subject.team_id,
        topics.c.channel_id: question.channel_id,
        topics.c.author_id: subject.author_id,
        topics.c.name: name,
        topics.c.case_id: question.case_id,
        topics.c.question_ts: question.ts if question.case_id is None else None,
    }


def _is_of(table: sa.Table, subject: Subject, channel_ids: Sequence[str]) -> Condition:
    return sa.and_(
        table.c.team_id == subject.team_id,
        table.c.author_id == subject.author_id,
        table.c.channel_id.in_(channel_ids),
    )


def _are_drawn(subject: Subject, channel_ids: Sequence[str], since: datetime) -> Condition:
    is_late = cases.c.message_ts >= to_ts(since)
    is_scored = cases.c.score.is_not(None)
    return sa.and_(_is_of(cases, subject, channel_ids), is_late, is_scored, is_watched(cases))


def _is_there(team_id: str, question: ToSort) -> Condition:
    if question.case_id is not None:
        its = sa.select(cases.c.id).where(
            cases.c.id == question.case_id, cases.c.question == question.text
        )
        return its.exists()
    message = sa.select(seen_messages.c.ts).filter_by(
        team_id=team_id, channel_id=question.channel_id, ts=question.ts
    )
    return message.exists()
