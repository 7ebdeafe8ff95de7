"""Channels' rubrics, with a row for each saved version, and the judge that a channel has chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import bindparam, func, select, tuple_

from bot.store.database import StoreQueries, columns_of
from bot.store.schema import channels, rubrics
from judge import Rubric


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


class Rubrics(StoreQueries):
    async def chosen(self, team_id: str, channel_id: str) -> ChannelJudge:
        row = await self._database.one(_CHOSEN, {"of_team": team_id, "of_channel": channel_id})
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


_SAVED = select(*columns_of(rubrics, SavedRubric))
