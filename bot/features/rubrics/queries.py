"""What people ask of a channel's judge, to compare another one with it or to improve it, and the
labels for both.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import utc_now
from bot.figures.quality import grouped
from bot.store import database as db
from bot.store.examples import PROPOSALS, Aim, Progress
from bot.store.jobs import Job, put_jobs, submit_jobs
from bot.store.rubrics import ChannelJudge, to_columns
from bot.store.schema import align_records, cases, is_of_case, judge_requests, labels
from bot.store.turns import read_conversations
from bot.store.visibility import is_shared, is_superseded, is_watched
from judge import Turn
from judge.evaluation.align import CaseScore, LabelledCase
from judge.scoring.rubric import Scale

LEAST, MOST = 10, 30
"""The fewest and the most cases of one comparison: with fewer labelled ones nothing is compared."""
MOST_TO_LEARN = 130
"""At most this many cases are scored, so that 400 requests cover a calibration, examples and a proposed text."""


@dataclass(frozen=True)
class JudgeRequest:
    """A person's request about a channel's judge: to compare `judge` with the one in use, or to
    improve it.

    An improvement shows how far it is in a message; `prompt` is that of the better rubric, if it
    has found one.
    """

    id: int
    team_id: str
    channel_id: str
    user_id: str
    aim: str
    status: str
    rubric: str | None
    rubric_version: str | None
    judge_model: str | None
    asked_at: datetime
    message_channel: str | None = None
    message_ts: str | None = None
    prompt: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        return self.team_id, self.channel_id

    @property
    def judge(self) -> ChannelJudge:
        return ChannelJudge(self.rubric, self.rubric_version, self.judge_model)


@dataclass(frozen=True)
class Labelled:
    """A labelled case, and what is stored of its verdict.

    Its label is that of people who had not seen the judge's score; if there are none, of those who
    had.
    """

    case: LabelledCase
    judge_version: str
    scored: CaseScore


class Records(db.StoreQueries):
    """What comparisons and improvements of one channel remember; a `judge.evaluation.align.Memory`."""

    def __init__(self, database: db.Database, team_id: str, channel_id: str) -> None:
        super().__init__(database)
        self._place = {"team_id": team_id, "channel_id": channel_id}

    async def get(self, key: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = await self._database.value(
            sa.select(align_records.c.value).filter_by(**self._place, key=key)
        )
        return found

    async def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Stores a value, unless its case was forgotten, or lost its texts, in the meantime."""
        with suppress(
            IntegrityError
        ):  # SQLite: a purge in another process has deleted the case since it was read
            await self._put(key, value)

    @db.in_transaction
    async def _put(self, connection: AsyncConnection, key: str, value: Mapping[str, Any]) -> None:
        case_id = int(key.rsplit("/", 2)[1]) if key.startswith("score/") else None
        row = self._place | {"key": key, "case_id": case_id, "value": value}
        # Locked until the end: a transaction that drops its texts waits, and then deletes this row
        # as well.
        has_texts = sa.select(cases.c.id).where(
            cases.c.id == case_id, cases.c.response.is_not(None)
        )
        if (
            case_id is None
            or (await connection.execute(has_texts.with_for_update(read=True))).first()
        ):
            await connection.execute(db.upsert(self._database, align_records, row))


class JudgeRequests(db.StoreQueries):
    """At most one request of each aim for a channel, until it is decided or another one takes its
    place.
    """

    @db.in_transaction
    async def begin(
        self,
        connection: AsyncConnection,
        aim: Aim,
        team_id: str,
        channel_id: str,
        user_id: str,
        judge: ChannelJudge,
    ) -> JudgeRequest | None:
        """Replaces the channel's last request of that aim with a new one and its job, and returns
        the old one.

        The old one stays instead if it is at work and an improvement, or the same person's
        comparison with that judge.
        """
        place = {"team_id": team_id, "channel_id": channel_id, "aim": aim}
        wish = {"user_id": user_id, "status": Progress.RUNNING, "asked_at": utc_now()}
        new = (
            sa.insert(judge_requests)
            .values(place | to_columns(judge) | wish)
            .returning(judge_requests.c.id)
        )
        await db.lock_for_transaction(connection, f"{aim} in {team_id}/{channel_id}")
        row = (await connection.execute(_REQUESTS.filter_by(**place))).one_or_none()
        last = JudgeRequest(**row._mapping) if row else None
        is_same = last and (aim == Aim.IMPROVE or (last.user_id, last.judge) == (user_id, judge))
        if last is None or last.status != Progress.RUNNING or not is_same:
            await connection.execute(sa.delete(judge_requests).filter_by(**place))
            number = (await connection.execute(new)).scalar_one()
            await put_jobs(self._database, connection, [_job(aim, team_id, number)])
        return last

    async def find(self, number: int) -> JudgeRequest | None:
        """The request with this number; None if it is decided or came to nothing, or another one
        has replaced it.
        """
        return await self._database.first(JudgeRequest, _REQUESTS.filter_by(id=number))

    async def of(self, aim: Aim, team_id: str, channel_id: str) -> JudgeRequest | None:
        its = {"team_id": team_id, "channel_id": channel_id, "aim": aim}
        return await self._database.first(JudgeRequest, _REQUESTS.filter_by(**its))

    async def labelled(
        self,
        team_id: str,
        channel_id: str,
        scale: Scale | None = None,
        most: int = MOST_TO_LEARN,
        versions: Collection[str] = (),
    ) -> Sequence[Labelled]:
        """The channel's labelled cases, on that scale if it is given.

        Those with blind labels come first, then those that judges of these `versions` have scored,
        then the newest.
        """
        query = _labelled(team_id, channel_id, scale, most, versions)
        return await self._database.read(partial(_read_labelled, query=query))

    @db.in_transaction
    async def learn(
        self,
        connection: AsyncConnection,
        request: JudgeRequest,
        scale: Scale,
        examples: Collection[str],
    ) -> Sequence[Labelled] | None:
        """The same cases, for an improvement that ends once one of them, or of the rubric's
        `examples`, is forgotten.

        None if it has ended, or if its rubric has lost an example since.
        """
        is_same = judge_requests.c.rubric_version.is_not_distinct_from(request.rubric_version)
        # The row is locked before anything is read.
        known = (
            sa.select(judge_requests.c.learnt)
            .where(_is(request.id, Progress.RUNNING), is_same)
            .with_for_update()
        )
        await db.lock_learning(connection)
        row = (await connection.execute(known)).one_or_none()
        if row is None:
            return None
        found = await _read_labelled(connection, _labelled(*request.place, scale, MOST_TO_LEARN))
        # What an earlier attempt has read may stand in a rubric that it proposed before it was
        # killed.
        numbers = {*(row.learnt or ()), *examples, *(each.case.id for each in found)}
        learnt = sa.update(judge_requests).filter_by(id=request.id).values(learnt=sorted(numbers))
        await connection.execute(learnt)
        return found

    async def note_message(self, number: int, channel_id: str, ts: str) -> None:
        values = {"message_channel": channel_id, "message_ts": ts}
        await self._database.execute(sa.update(judge_requests).filter_by(id=number).values(values))

    async def stop(self, number: int) -> bool:
        """Tells an improvement to stop; False if it has ended, or is about to."""
        is_at_work = _is(number, Progress.RUNNING) & judge_requests.c.prompt.is_(None)
        stop = sa.update(judge_requests).where(is_at_work).values(status=Progress.STOPPED)
        return await self._database.execute(stop) > 0

    async def propose(self, number: int, prompt: str) -> bool:
        """Stores the rubric that it found; False if it has ended.

        From then on the rubric can be decided about.
        """
        proposal = (
            sa.update(judge_requests).where(_is(number, Progress.RUNNING)).values(prompt=prompt)
        )
        return await self._database.execute(proposal) > 0

    async def offer(self, number: int) -> None:
        """Notes that the person was told, and can decide."""
        told = (
            sa.update(judge_requests)
            .where(_is(number, Progress.RUNNING))
            .values(status=Progress.OFFERED)
        )
        await self._end(number, told)

    async def drop(self, number: int) -> bool:
        """Deletes a request that is decided or came to nothing; False if it was deleted before."""
        return await self._end(number, self.decision(number))

    def decision(self, number: int) -> sa.UpdateBase:
        """The statement that deletes a request, for the transaction that decides it."""
        return sa.delete(judge_requests).filter_by(id=number)

    def use(self, number: int) -> sa.UpdateBase:
        """The statement that marks an improvement as used, for the transaction that uses its
        rubric.
        """
        return (
            sa.update(judge_requests)
            .where(_is_proposed(number))
            .values(status=Progress.USED, prompt=None)
        )

    def go_back(self, number: int) -> sa.UpdateBase:
        """The statement that deletes it, for the transaction that takes its rubric back."""
        return sa.delete(judge_requests).where(_is(number, Progress.USED))

    async def leave(self, number: int) -> bool:
        """Deletes an improvement whose rubric is not wanted; False if that was decided before."""
        return (
            await self._database.execute(sa.delete(judge_requests).where(_is_proposed(number))) > 0
        )

    async def resubmit(self, team_id: str) -> None:
        untold = sa.select(judge_requests.c.aim, judge_requests.c.id).filter_by(team_id=team_id)
        rows = await self._database.all(untold.where(judge_requests.c.status.in_(UNTOLD)))
        await submit_jobs(self._database, [_job(row.aim, team_id, row.id) for row in rows])

    @db.in_transaction
    async def _end(self, connection: AsyncConnection, number: int, ending: sa.UpdateBase) -> bool:
        """Ends it, and deletes what models wrote for an improvement, which may contain words of the
        replies.
        """
        place = sa.select(judge_requests.c.team_id, judge_requests.c.channel_id)
        improved = (
            await connection.execute(place.filter_by(id=number, aim=Aim.IMPROVE))
        ).one_or_none()
        if improved is not None:
            await connection.execute(PROPOSALS.filter_by(**improved._mapping))
        return (await connection.execute(ending)).rowcount > 0


UNTOLD = (Progress.RUNNING, Progress.STOPPED, Progress.FORGOTTEN)
"""While it has one of these, its person has not been told how it ended."""

_REQUESTS = sa.select(*db.columns_of(judge_requests, JudgeRequest))


def _is(number: int, *status: Progress) -> sa.ColumnElement[bool]:
    return sa.and_(judge_requests.c.id == number, judge_requests.c.status.in_(status))


def _is_proposed(number: int) -> sa.ColumnElement[bool]:
    return sa.and_(
        _is(number, Progress.RUNNING, Progress.OFFERED), judge_requests.c.prompt.is_not(None)
    )


def _job(aim: str, team_id: str, number: int) -> Job:
    return Job(aim, team_id, number, key=f"{aim}/{number}")


def _labelled(
    team_id: str, channel_id: str, scale: Scale | None, most: int, versions: Collection[str] = ()
) -> sa.Select[Any]:
    its_labels = sa.select(labels.c.score).where(is_of_case(labels))
    needed = (
        cases.c.score.is_not(None),
        cases.c.question.is_not(None),
        cases.c.response.is_not(None),
    )
    is_of_somebody = sa.or_(is_shared(cases), is_watched(cases))
    thread = sa.func.coalesce(
        cases.c.thread_ts, cases.c.parent_ts, cases.c.message_ts, cases.c.key
    ).label("thread")
    query = sa.select(cases, thread).where(
        cases.c.team_id == team_id, cases.c.channel_id == channel_id
    )
    if scale:
        query = query.where(cases.c.lowest == scale.low, cases.c.highest == scale.high)
    is_blind = its_labels.where(labels.c.is_blind).exists()
    order = [
        sa.case((each, 0), else_=1) for each in (is_blind, cases.c.judge_version.in_(versions))
    ]
    query = query.where(is_of_somebody, *needed, its_labels.exists(), ~is_superseded())
    return query.order_by(*order, cases.c.id.desc()).limit(most)


async def _read_labelled(connection: AsyncConnection, query: sa.Select[Any]) -> Sequence[Labelled]:
    found = (await connection.execute(query)).all()
    of_these = sa.tuple_(labels.c.team_id, labels.c.case_id).in_(
        [(row.team_id, row.id) for row in found]
    )
    given_first = sa.select(labels).where(of_these).order_by(labels.c.created_at, labels.c.user_id)
    given = grouped((label.case_id, label) for label in await connection.execute(given_first))
    before = await read_conversations(connection, given)
    return [
        _to_labelled(row, given[row.id], before.get(row.id, ())) for row in found if row.id in given
    ]


def _to_labelled(row: Any, given: Sequence[Any], before: tuple[Turn, ...]) -> Labelled:
    own = [each for each in given if each.is_blind] or given
    tokens = None if row.input_tokens is None else row.input_tokens + (row.output_tokens or 0)
    case = LabelledCase(
        id=str(row.id),
        thread=row.thread,
        question=row.question,
        response=row.response,
        label=fmean(each.score for each in own),
        reasons=tuple(each.reason for each in own if each.reason),
        people=tuple(each.user_id for each in own),
        is_blind=own[0].is_blind,
        conversation=before,
    )
    return Labelled(
        case, row.judge_version, CaseScore(row.score, row.mean, row.justification or "", tokens)
    )
