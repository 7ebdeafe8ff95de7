"""Who has asked for enough is told so in one sentence, and no case is made."""

from bot.slack import ids
from tests.gestures import scored
from tests.stage import CHANNEL, Stage, StageFactory, shown


async def refused(stage: Stage, values: dict[str, str], block_id: str) -> None:
    """Submits the modal and looks for the sentence at the block."""
    delivery = await stage.slack.settled(stage.ann.submit(values))
    assert "is the limit" in delivery.response["errors"][block_id]


async def test_every_way_to_ask_counts(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(max_cases_per_user_per_hour=1)
    _, verdict = await scored(stage, opening="Hello.")
    await stage.slack.settled(stage.ann.command(CHANNEL, ids.COMMAND, "What? | That."))
    assert "is the limit" in (await stage.told(stage.ann)).text
    stage.ann.click(verdict, ids.ACTION_WRONG_QUESTION)
    await stage.modal(stage.ann)
    await refused(stage, {ids.BLOCK_QUESTION: "Another question?"}, ids.BLOCK_QUESTION)
    stage.ann.close()
    stage.ann.command(CHANNEL, ids.COMMAND)
    await stage.modal(stage.ann)
    await refused(
        stage, {ids.BLOCK_QUESTION: "What?", ids.BLOCK_RESPONSE: "That."}, ids.BLOCK_RESPONSE
    )
    assert len(stage.model.requests) == 1


async def test_a_scored_reply_is_shown_to_a_person_over_the_limit(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(max_cases_per_user_per_hour=1)
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.verdict(parent)
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    assert "Scored before" in shown(await stage.told(stage.ann))
