"""Labelled cases judged again before a channel's judge is changed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import utc_now
from bot.domain.rubric import ChannelJudge
from bot.store.database import columns_of, insert_into, insert_new, lock_for_transaction
from bot.store.jobs import Job, JobQueries
from bot.store.rubrics import to_columns
from bot.store.schema import cases, labels, replay_scores, replayed, replays
from bot.store.turns import read_conversations
from bot.store.visibility import is_shared, is_superseded, is_watched
from judge import Turn
from judge.evaluation.align import CaseScore, LabelledCase
from judge.scoring.rubric import Scale

LEAST, MOST = 10, 30
"""The fewest and the most cases of one replay: with fewer labelled ones nothing is compared."""

_IS_LABELLED = sa.select(labels.c.score).where(labels.c.team_id == cases.c.team_id, labels.c.case_id == cases.c.id)
BLIND_FIRST = sa.case((_IS_LABELLED.where(labels.c.is_blind).exists(), 0), else_=1)
_THREAD = cases.c.thread_ts, cases.c.parent_ts, cases.c.message_ts, cases.c.key


@dataclass(frozen=True)
class JudgeRequest:
    """A person's request about a channel's judge: to use this one, or to improve it."""

    id: int
    team_id: str
    channel_id: str
    user_id: str
    rubric: str | None
    rubric_version: str | None
    judge_model: str | None

    @property
    def place(self) -> tuple[str, str]:
        return self.team_id, self.channel_id

    @property
    def judge(self) -> ChannelJudge:
        return ChannelJudge(self.rubric, self.rubric_version, self.judge_model)


@dataclass(frozen=True)
class ChannelReplay(JudgeRequest):
    """A person's request to change a channel's judge; `told_at` is when they were told how it compares."""

    told_at: datetime | None = None


@dataclass(frozen=True)
class Labelled:
    """A labelled case, and what is stored of its verdict; `scores` are those of each judge version of a replay.

    Its label is that of people who had not seen the judge's score; if there are none, of those who had.
    """

    case: LabelledCase
    judge_version: str
    scored: CaseScore
    scores: Mapping[str, int | None] = field(default_factory=dict)


REPLAY = "replay"
"""The kind of the job that judges the cases of a replay again, and has its number."""


class ChannelReplays(JobQueries):
    async def begin(self, team_id: str, channel_id: str, user_id: str, judge: ChannelJudge, least: int = 1) -> bool:
        """Replaces the channel's last replay with a new one and its job; False if fewer than `least` cases fit.

        If the last one is for the same request and that person has not been told the result, it goes on instead, so
        that no model is asked twice.
        """
        some = sa.select(cases.c.id).where(is_replayable(team_id, channel_id)).limit(least)
        place = {"team_id": team_id, "channel_id": channel_id}
        wish = place | to_columns(judge) | {"user_id": user_id}
        same = sa.select(replays.c.id).filter_by(**wish, told_at=None)
        new = sa.insert(replays).values(wish | {"asked_at": utc_now()})

        async def begin(connection: AsyncConnection) -> bool:
            await lock_for_transaction(connection, f"replays of {team_id}/{channel_id}")
            if (await connection.execute(same)).first():
                return True
            await connection.execute(sa.delete(replays).filter_by(**place))
            if len((await connection.execute(some)).all()) < least:
                return False
            number = (await connection.execute(new.returning(replays.c.id))).scalar_one()
            await self._jobs.put(connection, [_job(team_id, number)])
            return True

        return await self._database.write(begin)

    async def texts(self, team_id: str, channel_id: str) -> Sequence[tuple[str, str]]:
        """Question and response of labelled cases, as many as a replay has at most."""
        query = sa.select(cases.c.question, cases.c.response).where(is_replayable(team_id, channel_id)).limit(MOST)
        return [(row.question, row.response) for row in await self._database.all(query)]

    async def find(self, number: int) -> ChannelReplay | None:
        """The replay with this number; None if it is decided, or another one has replaced it."""
        return await self._database.first(ChannelReplay, _REPLAYS.filter_by(id=number))

    async def of(self, team_id: str, channel_id: str) -> ChannelReplay | None:
        return await self._database.first(ChannelReplay, _REPLAYS.filter_by(team_id=team_id, channel_id=channel_id))

    async def plan(self, replay: ChannelReplay, versions: Collection[str], scale: Scale) -> None:
        """Chooses its cases once, from those on that scale.

        Cases with blind labels come first, then those that one of the two judges has already scored, then the newest.
        """
        is_theirs = sa.case((cases.c.judge_version.in_(versions), 0), else_=1)
        chosen = (
            sa.select(sa.literal(replay.id), cases.c.team_id, cases.c.id)
            .where(is_replayable(*replay.place, scale))
            .order_by(BLIND_FIRST, is_theirs, cases.c.id.desc())
            .limit(MOST)
        )
        write = insert_into(self._database, replayed).from_select(["replay_id", "team_id", "case_id"], chosen)
        lock = sa.select(replays.c.id).where(replays.c.id == replay.id).with_for_update()
        planned = sa.select(replayed.c.case_id).where(replayed.c.replay_id == replay.id).limit(1)

        async def plan(connection: AsyncConnection) -> None:
            is_there = (await connection.execute(lock)).first()
            if is_there and (await connection.execute(planned)).first() is None:
                await connection.execute(write.on_conflict_do_nothing())

        await self._database.write(plan)

    async def cases(self, replay: ChannelReplay) -> Sequence[Labelled]:
        """Its cases, oldest first, without those that were forgotten or lost their texts or labels in the meantime."""
        has_texts = cases.c.question.is_not(None), cases.c.response.is_not(None)
        query = LABELLED.join(replayed).where(replayed.c.replay_id == replay.id, *has_texts).order_by(cases.c.id)
        asked: dict[str, dict[str, int | None]] = {}
        for row in await self._database.all(sa.select(replay_scores).where(replay_scores.c.replay_id == replay.id)):
            asked.setdefault(str(row.case_id), {})[row.judge_version] = row.score
        return [
            replace(each, scores={**asked.get(each.case.id, {}), each.judge_version: each.scored.score})
            for each in await self._database.read(partial(read_labelled, query=query))
        ]

    async def record(self, replay: ChannelReplay, case_id: int, judge_version: str, score: int | None) -> None:
        lock = sa.select(replayed.c.case_id).filter_by(replay_id=replay.id, case_id=case_id).with_for_update(read=True)
        new = {"replay_id": replay.id, "case_id": case_id, "judge_version": judge_version, "score": score}
        write = insert_new(self._database, replay_scores, new)

        async def record(connection: AsyncConnection) -> None:
            if (await connection.execute(lock)).first():
                await connection.execute(write)

        await self._database.write(record)

    async def note_told(self, replay: ChannelReplay) -> None:
        await self._database.execute(sa.update(replays).filter_by(id=replay.id).values(told_at=utc_now()))

    async def drop(self, number: int) -> bool:
        """Deletes a replay that is decided or came to nothing; False if it was deleted before."""
        return await self._database.execute(self.decision(number)) > 0

    def decision(self, number: int) -> sa.UpdateBase:
        """The statement that deletes a replay, for the transaction that decides it."""
        return sa.delete(replays).where(replays.c.id == number)

    async def resubmit(self, team_id: str) -> None:
        untold = await self._database.values(sa.select(replays.c.id).filter_by(team_id=team_id, told_at=None))
        await self._jobs.submit([_job(team_id, number) for number in untold])


_REPLAYS = sa.select(*columns_of(replays, ChannelReplay))
LABELLED = sa.select(cases, sa.func.coalesce(*_THREAD).label("thread"))


def is_replayable(team_id: str, channel_id: str, scale: Scale | None = None) -> sa.ColumnElement[bool]:
    is_here = sa.and_(cases.c.team_id == team_id, cases.c.channel_id == channel_id)
    if scale:
        is_here &= sa.and_(cases.c.lowest == scale.low, cases.c.highest == scale.high)
    needed = (cases.c.score.is_not(None), cases.c.question.is_not(None), cases.c.response.is_not(None))
    is_of_somebody = sa.or_(is_shared(cases), is_watched(cases))
    return sa.and_(is_here, is_of_somebody, *needed, _IS_LABELLED.exists(), ~is_superseded())


async def read_labelled(connection: AsyncConnection, query: sa.Select[Any]) -> Sequence[Labelled]:
    """The labelled ones among the cases of a query, which is made from `LABELLED`, in its order."""
    found = (await connection.execute(query)).all()
    of_these = sa.tuple_(labels.c.team_id, labels.c.case_id).in_([(row.team_id, row.id) for row in found])
    given: dict[int, list[Any]] = {}
    for label in await connection.execute(
        sa.select(labels).where(of_these).order_by(labels.c.created_at, labels.c.user_id)
    ):
        given.setdefault(label.case_id, []).append(label)
    before = await read_conversations(connection, given)
    return [_to_labelled(row, given[row.id], before.get(row.id, ())) for row in found if row.id in given]


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
    return Labelled(case, row.judge_version, CaseScore(row.score, row.mean, row.justification or "", tokens))


def _job(team_id: str, number: int) -> Job:
    return Job(REPLAY, team_id, number, key=f"replay/{number}")
