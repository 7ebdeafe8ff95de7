"""The rubrics to choose from in a channel: those that come with the app, and its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.domain.rubric import ChannelJudge
from bot.store.rubrics import Rubrics
from judge import Rubric


@dataclass(frozen=True)
class RubricChoice:
    """Finds rubrics by their names; a channel's own goes before one of the same name that came with the app later.

    Attributes:
        log: Where channels' own are kept.
        shipped: Those of the app by name, the one of its settings first.
    """

    log: Rubrics
    shipped: Mapping[str, Rubric]

    @property
    def default(self) -> str:
        """The name of the rubric where a channel has chosen none."""
        return next(iter(self.shipped))

    async def used(self, team_id: str, channel_id: str) -> str:
        """The name of the rubric by which a channel is scored."""
        return (await self.log.chosen(team_id, channel_id)).rubric or self.default

    async def of(self, team_id: str, channel_id: str) -> Rubric:
        """The rubric by which a channel is scored, as it was taken into use; the app's, if it is gone."""
        chosen = await self.log.chosen(team_id, channel_id)
        name = chosen.rubric or self.default
        return await self.in_force(team_id, channel_id, name, chosen) or self.shipped[self.default]

    async def names(self, team_id: str, channel_id: str) -> Sequence[str]:
        """What there is to choose from in a channel, the one in use first."""
        own = [saved.name for saved in await self.log.newest(team_id, channel_id)]
        return list(dict.fromkeys([await self.used(team_id, channel_id), *self.shipped, *own]))

    def shipped_as(self, name: str) -> Rubric | None:
        """The rubric of the app that somebody means by this name: that of a file may have capitals."""
        meant = (rubric for shipped, rubric in self.shipped.items() if shipped.lower() == name.lower())
        return self.shipped.get(name) or next(meant, None)

    async def find(self, team_id: str, channel_id: str, name: str, version: str | None = None) -> Rubric | None:
        """The rubric of that name, as it was saved last or with that version; None where there is none."""
        saved = await self.log.find(team_id, channel_id, name, version)
        found = saved.rubric if saved else self.shipped_as(name)
        return found if found and version in {None, found.version} else None

    async def in_force(self, team_id: str, channel_id: str, name: str, chosen: ChannelJudge) -> Rubric | None:
        """The same as cases are scored by it: of the rubric in use, the version that was taken into use."""
        if name != (chosen.rubric or self.default):
            return await self.find(team_id, channel_id, name)
        if chosen.version is None:  # it came with the app
            return self.shipped.get(name)
        return await self.find(team_id, channel_id, name, chosen.version)
