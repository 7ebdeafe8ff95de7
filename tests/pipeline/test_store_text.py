"""STORE_TEXT=none: no word of what was said is left once the verdict is delivered, and all else
goes on as before.
"""

import pytest

from bot.slack import ids
from tests.gestures import QUOTING, scored, scored_reply, settled
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, shown


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(store_text="none")
    opened.model.script(QUOTING)
    return opened


async def test_a_reply_that_is_asked_about_again_shows_its_score_and_can_be_scored_from_its_texts_in_slack(
    stage: Stage,
) -> None:
    _, answer = await scored_reply(stage)
    await stage.score(answer, stage.ben)
    known = await stage.told(stage.ben)
    assert known.text.startswith("Scored before: *4 of 5* · <https://pocket.slack.com/archives/")
    assert len(stage.model.requests) == 1
    await settled(stage, 2, stage.ben.click(known, ids.ACTION_AGAIN))
    first, second = (request["messages"][0]["content"] for request in stage.model.requests)
    assert first == second


async def test_a_corrected_question_is_scored_with_the_response_read_again_and_asked_for_the_next_time(
    stage: Stage,
) -> None:
    answer, verdict = await scored(stage, opening="Hello.")
    await settled(stage, 2, await stage.correct(stage.ann, verdict, "How do I undo a push?"))
    prompt = stage.model.requests[1]["messages"][0]["content"]
    assert "<question>How do I undo a push?</question>" in prompt
    assert f"<response>{ANSWER}</response>" in prompt
    await stage.score(answer, stage.ben)
    stage.ben.click(await stage.told(stage.ben), ids.ACTION_AGAIN)
    assert "I could not find the question" in shown(await stage.modal(stage.ben))


async def test_typed_texts_that_were_not_kept_are_not_scored_again(stage: Stage) -> None:
    stage.model.script("I would rather not say.")
    await settled(stage, 1, stage.ann.command(CHANNEL, ids.COMMAND, f"{QUESTION} | {ANSWER}"))
    verdict = next(message for message in stage.ours() if message.is_reply)
    await settled(stage, 2, stage.ann.click(verdict, ids.ACTION_AGAIN))
    assert "were not stored" in (await stage.told(stage.ann)).text
