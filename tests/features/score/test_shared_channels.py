"""A channel shared with another company: this workspace is served as elsewhere, and the other's people are refused."""

import pytest

from bot.domain.blocker import FOREIGN
from bot.slack import ids
from pocket_slack import Message
from tests.gestures import heard, up_to_date
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory

ELSEWHERE = "T0ELSEWHERE"


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    """A channel of ann's company and ben's, with a reaction that asks for a score."""
    opened: Stage = await open_stage(events=("message.channels",))
    opened.slack.workspace.channel(CHANNEL).shared_with = ELSEWHERE
    opened.ben.user.team_id = ELSEWHERE
    opened.ann.command(CHANNEL, ids.COMMAND, "reaction :mag:")
    await opened.told(opened.ann)
    return opened


async def scored(stage: Stage) -> tuple[Message, Message]:
    parent, answer = stage.ask_and_answer()
    stage.ann.react(answer, "mag")
    return answer, await stage.verdict(parent)


async def test_only_the_channels_emoji_of_ones_own_people_scores_a_reply(stage: Stage) -> None:
    _, answer = stage.ask_and_answer()
    stage.ann.react(answer, "tada")
    stage.ben.react(answer, "mag")
    await heard(stage, 2)
    assert (await stage.told(stage.ben)).text == FOREIGN
    assert await stage.cases() == 0
    await scored(stage)
    assert await stage.cases() == 1


async def test_an_edit_by_the_other_companys_people_is_noticed(stage: Stage) -> None:
    answer, _ = await scored(stage)
    stage.helper.user.team_id = ELSEWHERE
    stage.helper.edit(answer, "Use git revert instead.")
    assert (await up_to_date(stage)).edited_at is not None


@pytest.mark.needs("privacy")
async def test_thumbs_of_ones_own_people_are_counted_and_of_no_others(stage: Stage) -> None:
    from bot.features.privacy.queries import PersonalData

    answer, _ = await scored(stage)
    stage.ann.react(answer, "+1")
    stage.ben.react(answer, "+1")
    await heard(stage, 3)
    workspace = stage.slack.workspace
    counts = [
        await PersonalData(stage.log.database).count(workspace.team_id, each.id) for each in (stage.ann, stage.ben)
    ]
    assert [each.thumbs for each in counts] == [1, 0]


async def test_a_window_of_ones_own_people_is_served_and_anothers_is_refused(stage: Stage) -> None:
    for person in (stage.ann, stage.ben):
        person.command(CHANNEL, ids.COMMAND)
        await stage.fill_in(person, {ids.BLOCK_QUESTION: QUESTION, ids.BLOCK_RESPONSE: ANSWER})
    assert stage.ann.view is None
    assert stage.ben.view is not None
    assert stage.ben.view.errors == {ids.BLOCK_RESPONSE: FOREIGN}
    assert await stage.cases() == 1


async def test_another_companys_people_ask_for_nothing_by_menu_or_button(stage: Stage) -> None:
    _, verdict = await scored(stage)
    _, other = stage.ask_and_answer()
    stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, other)
    stage.ben.click(verdict, ids.ACTION_WRONG_QUESTION)
    await stage.told(stage.ben, 2)
    assert {each.text for each in stage.ben.ephemerals(CHANNEL)} == {FOREIGN}
    assert await stage.cases() == 1
