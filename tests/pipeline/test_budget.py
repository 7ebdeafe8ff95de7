"""Who has asked for enough is told so in one sentence, and no case is made."""

from bot.slack import ids
from tests.gestures import say, scored
from tests.stage import StageFactory


async def test_every_way_to_ask_counts_and_a_scored_reply_is_shown_beyond_the_limit(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage(max_cases_per_user_per_hour=1)
    answer, verdict = await scored(stage, opening="Hello.")
    await stage.score(answer)
    assert "Scored before" in (await stage.told(stage.ann)).text
    assert "is the limit" in (await say(stage, "What? | That.")).text
    delivery = await stage.correct(stage.ann, verdict)
    assert "is the limit" in delivery.response["errors"][ids.BLOCK_QUESTION]
    assert len(stage.model.requests) == 1
