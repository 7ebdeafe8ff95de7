"""The rubrics that were made in channels, each saving a row of its own, and by what each channel is scored."""

from collections.abc import Sequence
from dataclasses import asdict, fields

from sqlalchemy import and_, bindparam, delete, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import utc_now
from bot.domain.rubric import ChannelJudge, SavedRubric
from bot.log.audit import Act, Action, note
from bot.log.database import Database
from bot.log.schema import channels, replays, rubrics
from bot.log.upserts import upsert

# Built once, since it is asked with every request.
_CHOSEN = select(channels.c.rubric, channels.c.rubric_version, channels.c.judge_model).where(
    channels.c.team_id == bindparam("of_team"), channels.c.channel_id == bindparam("of_channel")
)


class SavedBeforeError(Exception):
    """Somebody else has saved that rubric since it was read, and theirs is kept."""


class RubricGoneError(Exception):
    """The rubric is not there any more."""


class RubricInUseError(Exception):
    """The rubric is the one that its channel is scored by."""


class Rubrics:
    """Reads and writes channels' rubrics, and which of all is used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def chosen(self, team_id: str, channel_id: str) -> ChannelJudge:
        """What the channel has its replies scored by."""
        row = await self._database.one(_CHOSEN, {"of_team": team_id, "of_channel": channel_id})
        return ChannelJudge(*row) if row else ChannelJudge()

    async def newest(self, team_id: str, channel_id: str) -> Sequence[SavedRubric]:
        """The channel's own rubrics, as they were saved last, by name."""
        last = (
            select(rubrics.c.name, func.max(rubrics.c.number).label("number"))
            .where(rubrics.c.team_id == team_id, rubrics.c.channel_id == channel_id)
            .group_by(rubrics.c.name)
            .subquery()
        )
        is_last = and_(rubrics.c.name == last.c.name, rubrics.c.number == last.c.number)
        query = _saved.where(rubrics.c.team_id == team_id, rubrics.c.channel_id == channel_id)
        return await self._database.rows(SavedRubric, query.join(last, is_last).order_by(rubrics.c.name))

    async def find(self, team_id: str, channel_id: str, name: str, version: str | None = None) -> SavedRubric | None:
        """The channel's rubric of that name, as it was saved last or with that version; None where there is none."""
        query = _saved.where(
            rubrics.c.team_id == team_id, rubrics.c.channel_id == channel_id, rubrics.c.name == name
        ).order_by(rubrics.c.number.desc())
        if version is not None:
            query = query.where(rubrics.c.version == version)
        found = await self._database.rows(SavedRubric, query.limit(1))
        return found[0] if found else None

    async def save(self, saved: SavedRubric) -> None:
        """Keeps a rubric beside its earlier versions.

        Raises:
            SavedBeforeError: There is one of that name with that number; nothing was changed.
        """
        values = asdict(saved) | {"version": saved.rubric.version}
        act = Act(saved.team_id, saved.saved_by, Action.RUBRIC_SAVED, channel_id=saved.channel_id)

        async def save(connection: AsyncConnection) -> None:
            await connection.execute(insert(rubrics).values(values))
            await note(connection, [act])

        try:
            await self._database.write(save)
        except IntegrityError as exc:
            raise SavedBeforeError(saved.name) from exc

    async def use(
        self, team_id: str, channel_id: str, judge: ChannelJudge, by: str, decides: int | None = None
    ) -> bool:
        """Records what a channel is scored by from now on, and who has changed it.

        With the number of a replay that this decides: in the same transaction, and False where it was decided before.

        Raises:
            RubricGoneError: Its rubric was deleted meanwhile.
        """
        place = {"team_id": team_id, "channel_id": channel_id}
        values = {"rubric": judge.rubric, "rubric_version": judge.version, "judge_model": judge.model}
        statement = upsert(self._database, channels, place | values | {"updated_at": utc_now()})
        version = select(rubrics.c.number).filter_by(**place, name=judge.rubric, version=judge.version)

        async def use(connection: AsyncConnection) -> bool:
            if decides is not None:
                decided = await connection.execute(delete(replays).where(replays.c.id == decides))
                if not decided.rowcount:
                    return False
            # Held until the end: whoever deletes it meanwhile waits, and finds it in use.
            is_there = judge.version is None or (await connection.execute(version.with_for_update(read=True))).first()
            if not is_there:
                raise RubricGoneError(judge.rubric)
            await connection.execute(statement)
            await note(connection, [Act(team_id, by, Action.JUDGE_CHANGED, channel_id=channel_id)])
            return True

        return await self._database.write(use)

    async def delete(self, team_id: str, channel_id: str, name: str, by: str) -> None:
        """Deletes a rubric of a channel with all of its versions.

        Raises:
            RubricGoneError: There is none of that name.
            RubricInUseError: The channel is scored by it.
        """
        place = {"team_id": team_id, "channel_id": channel_id}
        is_used = select(channels.c.rubric).filter_by(**place).where(channels.c.rubric_version.is_not(None))

        async def remove(connection: AsyncConnection) -> None:
            if not (await connection.execute(delete(rubrics).filter_by(**place, name=name))).rowcount:
                raise RubricGoneError(name)
            if (await connection.execute(is_used)).scalar() == name:
                raise RubricInUseError(name)
            await note(connection, [Act(team_id, by, Action.RUBRIC_DELETED, channel_id=channel_id)])

        await self._database.write(remove)


_saved = select(*(rubrics.c[each.name] for each in fields(SavedRubric)))
