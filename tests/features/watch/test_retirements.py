"""Who is alerted hears once that the judge's model will be shut down."""

from datetime import timedelta

import pytest

from bot.features.watch.retirements import Retirements
from judge import DEFAULT_MODEL
from tests.features.watch.watching import say, told
from tests.stage import Stage, StageFactory


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage()
    return opened


@pytest.mark.parametrize(("days", "times"), [(60, 1), (61, 0)])
async def test_the_end_of_a_model_is_told_once_from_sixty_days_before(
    stage: Stage, days: int, times: int
) -> None:
    await say(stage, "@helper all")
    assert stage.services
    on = stage.services.clock().date() + timedelta(days=days)
    stage.model.models[DEFAULT_MODEL] = {"shutdown_date": f"{on}", "replacement": "gpt-7"}
    for _ in range(2):
        await Retirements(stage.services).look()
    said = [message.text for message in told(stage)]
    assert len(said) == times
    assert all(f"{on:%d %B %Y}" in each and "`gpt-7` instead" in each for each in said)
