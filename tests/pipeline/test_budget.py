"""Who has asked for enough is told so in one sentence, and no case is made."""

from bot.slack import ids
from tests.gestures import scored
from tests.stage import CHANNEL, Stage, StageFactory


async def refused(stage: Stage, values: dict[str, str], block_id: str) -> None:
    """Submits the modal and looks for the sentence at the block."""
    delivery = await stage.slack.settled(stage.ann.submit(values))
    assert "is the limit" in delivery.response["errors"][block_id]


async def test_every_way_to_ask_counts_and_a_scored_reply_is_shown_beyond_the_limit(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(max_cases_per_user_per_hour=1)
    answer, verdict = await scored(stage, opening="Hello.")
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    assert "Scored before" in (await stage.told(stage.ann)).text
    await stage.slack.settled(stage.ann.command(CHANNEL, ids.COMMAND, "What? | That."))
    assert "is the limit" in (await stage.told(stage.ann, 2)).text
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
