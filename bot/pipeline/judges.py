"""The judge of a case, as its channel has chosen it by the time it is scored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from bot.domain.case import Case
from bot.domain.rubric import ChannelJudge
from bot.store.rubrics import Rubrics
from judge import Judge, Rubric


@dataclass(frozen=True)
class RubricChoice:
    """Finds rubrics by their names; a channel's own goes before one of the same name that came with the app later."""

    log: Rubrics
    shipped: Mapping[str, Rubric]

    @property
    def default(self) -> str:
        """The name of the rubric where a channel has chosen none."""
        return next(iter(self.shipped))

    async def used(self, team_id: str, channel_id: str) -> str:
        return (await self.log.chosen(team_id, channel_id)).rubric or self.default

    async def of(self, team_id: str, channel_id: str) -> Rubric:
        """The rubric by which a channel is scored, as it was taken into use; the app's, if it is gone."""
        chosen = await self.log.chosen(team_id, channel_id)
        name = chosen.rubric or self.default
        return await self.in_force(team_id, channel_id, name, chosen) or self.shipped[self.default]

    async def names(self, team_id: str, channel_id: str) -> Sequence[str]:
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


_KEPT = 100

MakeJudge = Callable[[Rubric, str | None], Judge]
"""A judge by a rubric and a model; None is the model of the app's settings."""


class Judges:
    """Finds judges, and keeps those that it has made: a judge learns what its server will not take."""

    def __init__(self, rubrics: RubricChoice, make: MakeJudge, models: Sequence[str] = ()) -> None:
        self._rubrics = rubrics
        self._make = make
        self._models = models
        self._kept: LRUCache[tuple[str, str, str | None], Judge] = LRUCache(_KEPT)
        self.default = self.with_rubric(rubrics.shipped[rubrics.default], None)

    async def of(self, case: Case) -> Judge | None:
        """The judge of this case; None where its rubric is gone."""
        # Between the two reads an example may be forgotten, and the version with it: then the second time finds it.
        return await self._found(case) or await self._found(case)

    async def _found(self, case: Case) -> Judge | None:
        chosen = await self._rubrics.log.chosen(case.team_id, case.channel_id)
        rubric = await self._rubrics.in_force(case.team_id, case.channel_id, case.rubric, chosen)
        return self.with_rubric(rubric, chosen.model) if rubric else None

    async def by(self, team_id: str, channel_id: str, chosen: ChannelJudge) -> Judge | None:
        """The judge of a channel that chooses this; None where its rubric is gone."""
        name = chosen.rubric or self._rubrics.default
        rubric = await self._rubrics.in_force(team_id, channel_id, name, chosen)
        return self.with_rubric(rubric, chosen.model) if rubric else None

    def with_rubric(self, rubric: Rubric, model: str | None) -> Judge:
        """The judge by a rubric, which need not be saved anywhere."""
        model = model if model in self._models else None
        key = rubric.name, rubric.version, model
        judge = self._kept.get(key)
        if judge is None:
            judge = self._kept[key] = self._make(rubric, model)
        return judge
