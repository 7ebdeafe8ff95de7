"""Changes of a channel's rubrics and of its judge."""

from dataclasses import asdict

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.audit import Act, Action, note
from bot.store.database import (
    StoreQueries,
    in_transaction,
    insert_new,
    lock_for_transaction,
    upsert,
)
from bot.store.rubrics import ChannelJudge, SavedRubric
from bot.store.schema import channels, rubrics
from bot.store.writer import after_commit
from judge.scoring.rubric import reference_version

MOST_RUBRICS = 10
"""At most this many rubrics are made in a channel, so that a message and a menu can list them all."""


class SavedBeforeError(Exception):
    """Another person has saved that rubric since it was read; theirs is kept."""


class TooManyRubricsError(Exception):
    """The channel has as many rubrics as it can have."""


class ChangedMeanwhileError(Exception):
    """The rubric has been deleted, or taken into use, since that was looked at."""


class RubricChanges(StoreQueries):
    @in_transaction
    async def save(self, connection: AsyncConnection, saved: SavedRubric) -> None:
        """Saves a rubric beside its earlier versions; SavedBeforeError and TooManyRubricsError
        leave all as it was.
        """
        team_id = saved.team_id
        channel_id = saved.channel_id
        await lock_for_transaction(connection, f"rubrics of {team_id}/{channel_id}")
        row = asdict(saved) | {"version": saved.rubric.version}
        inserted = await connection.execute(insert_new(self._database, rubrics, row))
        if not inserted.rowcount:
            raise SavedBeforeError(saved.name)
        number = select(func.count(rubrics.c.name.distinct()))
        made_here = number.filter_by(team_id=team_id, channel_id=channel_id)
        if (await connection.execute(made_here)).scalar_one() > MOST_RUBRICS:
            raise TooManyRubricsError
        await _note(connection, (team_id, channel_id), saved.saved_by, Action.RUBRIC_SAVED)

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

        Returns False if that is so already. Raises ChangedMeanwhileError if the rubric is gone.
        """
        await lock_for_transaction(connection, f"settings of {team_id}/{channel_id}")
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
            its = {"name": judge.rubric, "version": judge.version}
            saved = select(rubrics.c.number).filter_by(**place, **its)
            # Locked until the end: a transaction that deletes the rubric waits, and then finds it
            # in use.
            if (await connection.execute(saved.with_for_update(read=True))).first() is None:
                raise ChangedMeanwhileError(judge.rubric)
        await connection.execute(upsert(self._database, channels, place | chosen))
        await _note(connection, (team_id, channel_id), by, Action.JUDGE_CHANGED)
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
        await lock_for_transaction(connection, f"settings of {team_id}/{channel_id}")
        place = {"team_id": team_id, "channel_id": channel_id}
        current = select(channels.c.reference).filter_by(**place)
        text_now = (await connection.execute(current)).scalar()
        if reference_version(text_now or "") != since:
            return False
        await connection.execute(upsert(self._database, channels, place | {"reference": text}))
        what = Action.REFERENCE_SAVED if text else Action.REFERENCE_DELETED
        await _note(connection, (team_id, channel_id), by, what)
        after_commit(connection, self._database.note_deletion)
        return True

    @in_transaction
    async def delete(
        self, connection: AsyncConnection, team_id: str, channel_id: str, name: str, by: str
    ) -> None:
        """Deletes a rubric with all of its versions; raises ChangedMeanwhileError if it is in use."""
        place = {"team_id": team_id, "channel_id": channel_id}
        deleted = await connection.execute(delete(rubrics).filter_by(**place, name=name))
        # After that: a transaction that takes it into use was waited for.
        in_use = select(channels.c.team_id).filter_by(**place, rubric=name)
        is_version = channels.c.rubric_version.is_not(None)
        if (await connection.execute(in_use.where(is_version))).first():
            raise ChangedMeanwhileError(name)
        if deleted.rowcount:
            await _note(connection, (team_id, channel_id), by, Action.RUBRIC_DELETED)


async def _note(connection: AsyncConnection, place: tuple[str, str], by: str, what: Action) -> None:
    team_id, channel_id = place
    await note(connection, [Act(team_id, by, what, channel_id=channel_id)])
