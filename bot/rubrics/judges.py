"""The judge of a case, as its channel has chosen it by the time it is scored."""

from collections.abc import Callable, Sequence

from cachetools import LRUCache

from bot.domain.case import Case
from bot.domain.rubric import ChannelJudge
from bot.rubrics.choice import RubricChoice
from judge import Judge, Rubric

_KEPT = 100

MakeJudge = Callable[[Rubric, str | None], Judge]
"""A judge by a rubric and a model; None is the model of the app's settings."""


class Judges:
    """Finds judges, and keeps those that it has made: a judge learns what its server will not take.

    Args:
        rubrics: What there is to score by.
        make: Makes a judge.
        models: The names of the models that a channel may choose; any other is passed over.
    """

    def __init__(self, rubrics: RubricChoice, make: MakeJudge, models: Sequence[str] = ()) -> None:
        self._rubrics = rubrics
        self._make = make
        self._models = models
        self._kept: LRUCache[tuple[str, str, str | None], Judge] = LRUCache(_KEPT)
        self.default = self._judge(rubrics.shipped[rubrics.default], None)

    async def of(self, case: Case) -> Judge | None:
        """The judge of this case; None where its rubric is gone."""
        chosen = await self._rubrics.log.chosen(case.team_id, case.channel_id)
        rubric = await self._rubrics.in_force(case.team_id, case.channel_id, case.rubric, chosen)
        return self._judge(rubric, chosen.model) if rubric else None

    async def by(self, team_id: str, channel_id: str, chosen: ChannelJudge) -> Judge | None:
        """The judge of a channel that chooses this; None where its rubric is gone."""
        name = chosen.rubric or self._rubrics.default
        rubric = await self._rubrics.in_force(team_id, channel_id, name, chosen)
        return self._judge(rubric, chosen.model) if rubric else None

    def _judge(self, rubric: Rubric, model: str | None) -> Judge:
        model = model if model in self._models else None
        key = rubric.name, rubric.version, model
        judge = self._kept.get(key)
        if judge is None:
            judge = self._kept[key] = self._make(rubric, model)
        return judge
