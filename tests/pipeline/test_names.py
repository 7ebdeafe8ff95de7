"""Names of channels and assistants in the store."""

from bot.domain.case import CaseStatus
from bot.pipeline.names import Names
from tests.stage import CHANNEL, Stage


async def test_names_of_a_scored_replys_channel_and_assistant_are_noted_and_no_persons(
    stage: Stage,
) -> None:
    team_id = stage.workspace.team_id
    channel_id = stage.workspace.channel(CHANNEL).id
    of_channel = {(team_id, channel_id): CHANNEL}
    await stage.verdict(stage.ask_for_score())

    async def are_noted() -> bool:
        return await stage.log.names.all() == of_channel | {(team_id, stage.helper.id): "helper"}

    await stage.eventually(are_noted)
    # A name that Slack does not give is noted later.
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    theirs = case.model_copy(update={"team_id": "T0", "author_id": stage.ann.id})
    names = Names(stage.services.client, stage.services.members, stage.log.names)
    stage.slack.fail("conversations.info", drop=True, times=10)  # a lost one is asked again
    for noted in ([], [channel_id]):
        await names.note(theirs)
        stage.workspace.faults.clear()
        assert await stage.log.names.ids(CHANNEL, "T0") == noted
    assert len(await stage.log.names.all()) == 3
