"""Who sees a person's verdicts, as they have chosen it themselves: honoured however they ask."""

import pytest

from bot.domain.case import Visibility
from bot.slack import ids
from bot.store import Store
from pocket_slack import View
from tests.cases import save_visibility
from tests.stage import CHANNEL, Stage


async def choose(stage: Stage, visibility: Visibility | None) -> None:
    await save_visibility(stage.log, stage.slack.workspace.team_id, stage.ann.id, visibility)


def preselected(view: View) -> str:
    (element,) = [
        b["element"] for b in view.body["blocks"] if b.get("block_id") == ids.BLOCK_VISIBILITY
    ]
    return str(element["initial_option"]["value"])


async def test_the_window_begins_with_it(stage: Stage) -> None:
    await choose(stage, Visibility.ME)
    stage.ann.command(CHANNEL, ids.COMMAND)
    assert preselected(await stage.modal(stage.ann)) == Visibility.ME
    stage.ben.command(CHANNEL, ids.COMMAND)
    assert preselected(await stage.modal(stage.ben)) == Visibility.THREAD


@pytest.mark.on("sqlite")
async def test_a_choice_is_that_persons_in_that_team(log: Store) -> None:
    await save_visibility(log, "T1", "U1", Visibility.ME)
    found = [
        await log.channels.visibility(*who) for who in (("T1", "U1"), ("T2", "U1"), ("T1", "U2"))
    ]
    assert found == [Visibility.ME, None, None]
