"""The judge of a case: the one that its channel has chosen by the time the case is scored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from bot.domain.case import Case
from bot.store.rubrics import ChannelJudge, Rubrics
from judge import Judge, Rubric


@dataclass(frozen=True)
class RubricChoice:
    """Finds rubrics by name; a channel's own comes before one that the app ships later under the
    same name.
    """

    log: Rubrics
    shipped: Mapping[str, Rubric]

    @property
    def default(self) -> str:
        return next(iter(self.shipped))

    async def used(self, team_id: str, channel_id: str) -> str:
        return (await self.log.chosen(team_id, channel_id)).rubric or self.default

    async def of(self, team_id: str, channel_id: str) -> Rubric:
        """The rubric of a channel, in the version that was taken into use; the app's default if it
        is gone.
        """
        chosen = await self.log.chosen(team_id, channel_id)
        name = chosen.rubric or self.default
        return await self.in_force(team_id, channel_id, name, chosen) or self.shipped[self.default]

    async def names(self, team_id: str, channel_id: str) -> Sequence[str]:
        own = [saved.name for saved in await self.log.newest(team_id, channel_id)]
        return list(dict.fromkeys([await self.used(team_id, channel_id), *self.shipped, *own]))

    def shipped_as(self, name: str) -> Rubric | None:
        """The app's rubric with this name, ignoring case: the name of a rubric file may have
        capitals.
        """
        by_name = {shipped.lower(): rubric for shipped, rubric in self.shipped.items()}
        return self.shipped.get(name) or by_name.get(name.lower())

    async def find(
        self, team_id: str, channel_id: str, name: str, version: str | None = None
    ) -> Rubric | None:
        """The rubric of that name, in that version or as saved last; None if there is none."""
        saved = await self.log.find(team_id, channel_id, name, version)
        found = saved.rubric if saved else self.shipped_as(name)
        return found if found and version in {None, found.version} else None

    async def in_force(
        self, team_id: str, channel_id: str, name: str, chosen: ChannelJudge
    ) -> Rubric | None:
        """The rubric of that name as cases are scored by it: if it is the channel's, the version
        taken into use.
        """
        is_chosen = name == (chosen.rubric or self.default)
        if is_chosen and chosen.version is None:  # a rubric of the app
            return self.shipped.get(name)
        return await self.find(team_id, channel_id, name, chosen.version if is_chosen else None)


MakeJudge = Callable[[Rubric, str | None, str | None, str | None], Judge]
"""Makes a judge from a rubric, a model, a tier and a way to ask; None is what the app's settings say."""


class Judges:
    """Makes judges and reuses them, because a judge learns which parameters its server rejects."""

    def __init__(
        self,
        rubrics: RubricChoice,
        make: MakeJudge,
        models: Sequence[str] = (),
        watch_tier: str | None = None,
    ) -> None:
        self._rubrics = rubrics
        self._make = make
        self._models = models
        self.watch_tier = watch_tier
        self._kept: LRUCache[tuple[str | None, ...], Judge] = LRUCache(100)
        self.default = self.with_rubric(rubrics.shipped[rubrics.default], None)

    async def of(self, case: Case) -> Judge | None:
        """The judge of this case, or None if its rubric is gone."""
        tier = None if case.probability is None else self.watch_tier
        return await self._chosen(case.team_id, case.channel_id, case.rubric, tier, case.way)

    async def of_channel(
        self, team_id: str, channel_id: str, ask: str | None = None
    ) -> Judge | None:
        """The judge that a channel has now, or None if its rubric is gone."""
        return await self._chosen(team_id, channel_id, None, None, ask)

    async def _chosen(
        self, team_id: str, channel_id: str, rubric: str | None, tier: str | None, ask: str | None
    ) -> Judge | None:
        """The channel's judge with the rubric of that name, by default its own."""
        chosen = await self._rubrics.log.chosen(team_id, channel_id)
        name = rubric or chosen.rubric or self._rubrics.default
        found = await self._rubrics.in_force(team_id, channel_id, name, chosen)
        if found is None:
            return None
        return self.with_rubric(found, chosen.model, tier, ask).against(chosen.reference or "")

    def with_rubric(
        self,
        rubric: Rubric,
        model: str | None,
        tier: str | None = None,
        ask: str | None = None,
    ) -> Judge:
        """The judge for a rubric, which need not be saved; a model that the settings do not list is
        ignored.
        """
        model = model if model in self._models else None
        key = rubric.name, rubric.version, model, tier, ask
        judge = self._kept.get(key)
        if judge is None:
            judge = self._kept[key] = self._make(rubric, model, tier, ask)
        return judge
