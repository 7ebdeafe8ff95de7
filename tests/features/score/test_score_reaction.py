"""A channel's reaction has the reply scored under which somebody puts it; no other reaction does
anything.
"""

from bot.features.score.events import NOT_TOLD
from bot.slack.manifest import OFF_WITHOUT
from bot.store.audit import Action
from tests import gestures
from tests.cases import noted
from tests.gestures import heard
from tests.stage import ANSWER, CHANNEL, Stage, StageFactory

CHOSEN = "A reply here is scored when somebody adds :{}: to it. `/judge reaction off` ends that."


async def say(stage: Stage, text: str) -> str:
    """What ann is told after `/judge reaction ...`."""
    return (await gestures.say(stage, f"reaction {text}".strip())).text


def reads(stage: Stage) -> list[str]:
    calls = [each.data["method"] for each in stage.workspace.journal.of("call")]
    return [each for each in calls if each in {"conversations.replies", "conversations.history"}]


async def test_other_reactions_and_other_channels_cost_no_call(stage: Stage) -> None:
    await say(stage, ":mag:")
    workspace = stage.workspace
    workspace.add_channel("random", [workspace.user("ann"), workspace.bot])
    elsewhere = stage.ann.post("random", ANSWER)
    _, answer = stage.ask_and_answer()
    before = len(workspace.journal.of("call"))
    stage.ann.react(answer, "tada")
    stage.ann.react(answer, "+1")
    stage.ann.unreact(answer, "+1")
    stage.ann.react(elsewhere, "mag")
    await heard(stage, 4)
    assert (await stage.cases(), len(workspace.journal.of("call"))) == (0, before)


async def test_our_own_messages_are_not_scored_and_reactions_of_bots_ask_for_nothing(
    stage: Stage,
) -> None:
    await say(stage, ":four:")
    parent, answer = stage.ask_and_answer()
    stage.helper.react(answer, "four")
    await heard(stage, 1)
    await say(stage, "")
    assert (await stage.cases(), reads(stage)) == (0, [])
    stage.ann.react(answer, "four")
    stage.ben.react(await stage.verdict(parent), "four")
    await heard(stage, 3)
    await say(stage, "")
    assert (await stage.cases(), len(reads(stage)), stage.ben.ephemerals(CHANNEL)) == (1, 2, [])


async def test_the_command_says_which_changes_it_and_leaves_a_line_of_audit(stage: Stage) -> None:
    nothing = "No reaction asks for a score in this channel."
    assert nothing in await say(stage, "")
    assert await say(stage, ":mag:") == CHOSEN.format("mag")
    await say(stage, ":MAG:")  # no change
    assert "type the emoji with its colons" in await say(stage, "mag")
    assert nothing in await say(stage, "off")
    channel = stage.workspace.channel(CHANNEL).id
    assert await noted(stage.log) == [(stage.ann.id, Action.REACTION_CHANGED, channel)] * 2


async def test_without_the_scope_the_command_says_what_to_add(open_stage: StageFactory) -> None:
    stage = await open_stage(declined=OFF_WITHOUT)
    assert await say(stage, ":mag:") == NOT_TOLD
    assert await stage.log.channels.score_reactions(stage.workspace.team_id) == {}
