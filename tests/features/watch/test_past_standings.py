"""`/judge stats` of an assistant in an earlier time and everywhere, for those who may look into its
channels.
"""

from datetime import UTC, datetime, timedelta

import pytest

from bot.slack import ids
from judge.evaluation.standing import Direction
from tests.features.watch.test_home_watches import drawn, stand, watch
from tests.gestures import help_desk, private, stats
from tests.stage import Stage, shown

pytestmark = [pytest.mark.needs("home"), pytest.mark.needs("digest")]


async def test_an_earlier_week_shows_its_scores_and_the_standing_of_now(stage: Stage) -> None:
    now = datetime.now(UTC)
    await watch(stage, help_desk(stage), stage.helper.id)
    ago = timedelta(weeks=3)
    await drawn(stage, help_desk(stage), stage.helper.id, 4, 4, 4, 4, 3, judged_at=now - ago)
    lower = {"direction": Direction.LOWER, "since": now.date(), "step": -2.0, "before": 4.0}
    await stand(stage, stage.helper.id, level=2.0, **lower)
    told = shown(await stats(stage, f"@helper {now - ago:%Y-%m-%d}"))
    assert "*helper*: mean 3.8, by 5 scores\nNow: ▼ Scores of *helper* are lower" in told
    for number, when in enumerate(("last week", "4 weeks"), 2):
        latest = shown(await stats(stage, f"@helper {when}", number))
        assert "\nNow: ▼ Scores of *helper* are lower" in latest
    assert "*helper*: mean 3.8, by 5 scores\n" in latest


async def test_everywhere_is_public_channels_and_ones_own_private_ones(stage: Stage) -> None:
    workspace = stage.slack.workspace
    bens = workspace.add_channel("bens", [stage.ben.user, workspace.bot])
    leads = private(stage, "ben")
    for channel in (help_desk(stage), bens, leads):
        await watch(stage, channel, stage.helper.id)
        await drawn(stage, channel, stage.helper.id, 0, 4)
    await stand(stage, stage.helper.id, level=3.9)
    await stand(stage, stage.helper.id, channel_id=leads.id, level=2.0)
    told = await stats(stage, "@helper everywhere")
    assert ", helper everywhere" in told.text
    assert "*helper* is steady: 3.9\nIn 2 channels." in shown(told)
    assert "2.0" not in shown(told)
    stage.ben.command(stage.ben.im, ids.COMMAND, "stats @helper")
    of_both = shown(await stage.told(stage.ben, channel=stage.ben.im))
    assert f"*helper* is steady: 2.0\nIn <#{leads.id}>." in of_both
    assert "*helper* is steady: 3.9" in of_both


async def test_a_guest_sees_no_assistant_of_public_channels_of_others(stage: Stage) -> None:
    workspace = stage.slack.workspace
    bens = workspace.add_channel("bens", [stage.ben.user, workspace.bot])
    await watch(stage, bens, stage.helper.id)
    await stand(stage, stage.helper.id, level=3.9)
    assert "is steady: 3.9" in shown(await stats(stage, "@helper everywhere"))
    stage.ann.user.is_guest = True
    assert (await stats(stage, "@helper everywhere", 2)).text.startswith("I cannot show `@helper")
