"""Channels' rubrics, with a row for each saved version, and the judge that a channel has chosen."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from sqlalchemy import bindparam, delete, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.audit import Act, Action, note
from bot.store.database import (
    StoreQueries,
    after_commit,
    columns_of,
    in_transaction,
    insert_new,
    lock_for_transaction,
    upsert,
)
from bot.store.schema import channels, rubrics
from judge import Rubric
from judge.scoring.rubric import reference_version

MOST_RUBRICS = 10
"""At most this many rubrics are made in a channel, so that a message and a menu can list them all."""


@dataclass(frozen=True)
class ChannelJudge:
    """A channel's own judge; None means the app's setting, or in `version` that the rubric is not
    its own.

    The `reference` is what its replies must agree with, whatever judge is chosen.
    """

    rubric: str | None = None
    version: str | None = None
    model: str | None = None
    reference: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class SavedRubric:
    """One version of a rubric that was made in a channel."""

    team_id: str
    channel_id: str
    name: str
    number: int
    prompt: str
    saved_by: str
    saved_at: datetime

    @property
    def rubric(self) -> Rubric:
        return Rubric(self.name, self.prompt)


# Built once, because every request runs it.
_CHOSEN = select(
    channels.c.rubric, channels.c.rubric_version, channels.c.judge_model, channels.c.reference
).filter_by(team_id=bindparam("of_team"), channel_id=bindparam("of_channel"))


class SavedBeforeError(Exception):
    """Another person has saved that rubric since it was read; theirs is kept."""


class TooManyRubricsError(Exception):
    """The channel has as many rubrics as it can have."""


class RubricGoneError(Exception):
    """The rubric no longer exists."""


class RubricInUseError(Exception):
    """The rubric is the one that the channel's replies are scored by."""


class Rubrics(StoreQueries):
    async def chosen(self, team_id: str, channel_id: str) -> ChannelJudge:
        row = await self._database.choice(_CHOSEN, {"of_team": team_id, "of_channel": channel_id})
        return ChannelJudge(*row) if row else ChannelJudge()

    async def newest(self, team_id: str, channel_id: str) -> Sequence[SavedRubric]:
        """The channel's rubrics, each as last saved, by name."""
        place = {"team_id": team_id, "channel_id": channel_id}
        newest_numbers = (
            select(rubrics.c.name, func.max(rubrics.c.number))
            .filter_by(**place)
            .group_by(rubrics.c.name)
        )
        is_newest = tuple_(rubrics.c.name, rubrics.c.number).in_(newest_numbers)
        query = _SAVED.filter_by(**place).where(is_newest).order_by(rubrics.c.name)
        return await self._database.rows(SavedRubric, query)

    async def find(
        self, team_id: str, channel_id: str, name: str, version: str | None = None
    ) -> SavedRubric | None:
        """The channel's rubric of that name, as last saved or in that version; None if there is
        none.
        """
        query = _SAVED.filter_by(team_id=team_id, channel_id=channel_id, name=name)
        if version is not None:
            query = query.filter_by(version=version)
        return await self._database.first(SavedRubric, query.order_by(rubrics.c.number.desc()))

    @in_transaction
    async def save(self, connection: AsyncConnection, saved: SavedRubric) -> None:
        """Saves a rubric beside its earlier versions; SavedBeforeError and TooManyRubricsError
        leave all as it was.
        """
        team_id = saved.team_id
        channel_id = saved.channel_id
        await lock_for_transaction(connection, f"rubrics of {team_id}/{channel_id}")
        if saved.number == 1:
            others = (
                select(func.count(rubrics.c.name.distinct()))
                .filter_by(team_id=team_id, channel_id=channel_id)
                .where(rubrics.c.name != saved.name)
            )
            if (await connection.execute(others)).scalar_one() >= MOST_RUBRICS:
                raise TooManyRubricsError
        row = asdict(saved) | {"version": saved.rubric.version}
        inserted = await connection.execute(insert_new(self._database, rubrics, row))
        if not inserted.rowcount:
            raise SavedBeforeError(saved.name)
        act = Act(team_id, saved.saved_by, Action.RUBRIC_SAVED, channel_id=channel_id)
        await note(connection, [act])

    @in_transaction
    async def use(
        self,
        connection: AsyncConnection,
        team_id: str,
        channel_id: str,
        judge: ChannelJudge,
        by: str,
    ) -> bool:
        """Records what a channel is scored by from now on, and who changed it.

        Returns False if that is so already. Raises RubricGoneError if the rubric was deleted in the
        meantime.
        """
        await self._lock_settings(connection, team_id, channel_id)
        place = {"team_id": team_id, "channel_id": channel_id}
        chosen = {
            "rubric": judge.rubric,
            "rubric_version": judge.version,
            "judge_model": judge.model,
        }
        is_same = select(channels.c.team_id).filter_by(**place, **chosen)
        if (await connection.execute(is_same)).first():
            return False
        if judge.version is not None:
            # Locked until the end: a transaction that deletes the rubric waits, and then finds it
            # in use.
            saved = (
                select(rubrics.c.number)
                .filter_by(**place, name=judge.rubric, version=judge.version)
                .with_for_update(read=True)
            )
            if (await connection.execute(saved)).first() is None:
                raise RubricGoneError(judge.rubric)
        await connection.execute(upsert(self._database, channels, place | chosen))
        act = Act(team_id, by, Action.JUDGE_CHANGED, channel_id=channel_id)
        await note(connection, [act])
        after_commit(connection, self._database.forget_choices)
        return True

    @in_transaction
    async def refer(
        self,
        connection: AsyncConnection,
        team_id: str,
        channel_id: str,
        by: str,
        text: str | None,
        since: str,
    ) -> bool:
        """Saves a channel's reference, or with None deletes it; False if it no longer has the
        version `since`.
        """
        await self._lock_settings(connection, team_id, channel_id)
        place = {"team_id": team_id, "channel_id": channel_id}
        current = select(channels.c.reference).filter_by(**place)
        text_now = (await connection.execute(current)).scalar()
        if reference_version(text_now or "") != since:
            return False
        await connection.execute(upsert(self._database, channels, place | {"reference": text}))
        what = Action.REFERENCE_SAVED if text else Action.REFERENCE_DELETED
        await note(connection, [Act(team_id, by, what, channel_id=channel_id)])
        after_commit(connection, self._database.forget_choices)
        after_commit(connection, self._database.note_deletion)
        return True

    @in_transaction
    async def delete(
        self, connection: AsyncConnection, team_id: str, channel_id: str, name: str, by: str
    ) -> None:
        """Deletes a rubric with all of its versions. Raises RubricGoneError or RubricInUseError."""
        place = {"team_id": team_id, "channel_id": channel_id}
        deleted = await connection.execute(delete(rubrics).filter_by(**place, name=name))
        if not deleted.rowcount:
            raise RubricGoneError(name)
        in_use = (
            select(channels.c.rubric)
            .filter_by(**place)
            .where(channels.c.rubric_version.is_not(None))
        )
        if (await connection.execute(in_use)).scalar() == name:
            raise RubricInUseError(name)
        act = Act(team_id, by, Action.RUBRIC_DELETED, channel_id=channel_id)
        await note(connection, [act])

    async def _lock_settings(
        self, connection: AsyncConnection, team_id: str, channel_id: str
    ) -> None:
        await lock_for_transaction(connection, f"settings of {team_id}/{channel_id}")


_SAVED = select(*columns_of(rubrics, SavedRubric))
