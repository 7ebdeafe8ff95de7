"""Who is alerted hears once that the judge's model will be shut down."""

from datetime import timedelta

from bot.features.watch.retirements import Retirements
from judge import DEFAULT_MODEL
from tests.features.watch.watching import say, told
from tests.stage import Stage


async def test_the_end_of_a_model_is_told_once_from_sixty_days_before(stage: Stage) -> None:
    await say(stage, "@helper all")
    on = stage.services.clock().date() + timedelta(days=61)
    stage.model.models[DEFAULT_MODEL] = {"shutdown_date": f"{on}", "replacement": "gpt-7"}
    for days, times in ((0, 0), (1, 1), (1, 1)):
        await Retirements(stage.services_at(timedelta(days=days))).look()
        assert len(told(stage)) == times
    (said,) = told(stage)
    assert f"{on:%d %B %Y}" in said.text
    assert "`gpt-7` instead" in said.text
