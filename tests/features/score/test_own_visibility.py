"""Who sees a person's verdicts, as they have chosen it themselves: honoured however they ask."""

from bot.domain.case import Visibility
from bot.slack import ids
from pocket_slack import View
from tests.cases import save_visibility
from tests.stage import CHANNEL, Stage


def preselected(view: View) -> str:
    blocks = {block.get("block_id"): block for block in view.body["blocks"]}
    return str(blocks[ids.BLOCK_VISIBILITY]["element"]["initial_option"]["value"])


async def test_the_window_begins_with_it(stage: Stage) -> None:
    team_id = stage.slack.workspace.team_id
    await save_visibility(stage.log, team_id, stage.ann.id, Visibility.ME)
    for person, visibility in ((stage.ann, Visibility.ME), (stage.ben, Visibility.THREAD)):
        person.command(CHANNEL, ids.COMMAND)
        assert preselected(await stage.modal(person)) == visibility
