"""Names of channels and assistants in the store."""

from bot.domain.case import CaseStatus
from bot.pipeline.names import Names
from tests.stage import CHANNEL, Stage


async def test_names_of_a_scored_replys_channel_and_assistant_are_noted_and_no_persons(
    stage: Stage,
) -> None:
    await stage.verdict(stage.ask_for_score())

    async def are_noted() -> bool:
        return len(await stage.log.names.all()) == 2

    await stage.eventually(are_noted)
    team_id = stage.slack.workspace.team_id
    channel_id = stage.slack.workspace.channel(CHANNEL).id
    assert await stage.log.names.all() == {
        (team_id, channel_id): CHANNEL,
        (team_id, stage.helper.id): "helper",
    }
    assert await stage.log.names.ids(CHANNEL, team_id) == [channel_id]
    assert await stage.log.names.ids(CHANNEL, "T0") == []
    # A name that Slack does not give is noted later.
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    theirs = case.model_copy(update={"team_id": "T0", "author_id": stage.ann.id})
    names = Names(stage.services.client, stage.services.members, stage.log.names)
    stage.slack.fail("conversations.info", drop=True, times=10)
    await names.note(theirs)
    stage.slack.workspace.faults.clear()
    assert await stage.log.names.ids(CHANNEL, "T0") == []
    await names.note(theirs)
    noted = {id_ for team_id, id_ in await stage.log.names.all() if team_id == "T0"}
    assert noted == {channel_id}
