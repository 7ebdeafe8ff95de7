"""STORE_TEXT=none: no word of what was said is left once the verdict is delivered, and all else
goes on as before.
"""

import io
from pathlib import Path

import pytest

from bot.commands.export import export
from bot.slack import ids
from bot.store.export import Selection
from tests.cases import bytes_on_disk
from tests.gestures import QUOTING, forget, scored, scored_reply, settled
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, shown


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(store_text="none")
    opened.model.script(QUOTING)
    return opened


async def test_no_word_is_left_in_the_file(stage: Stage, tmp_path: Path) -> None:
    parent, answer = await scored_reply(stage)
    words = shown(await stage.verdict(parent))
    assert f"The response says: {ANSWER}" in words
    await stage.scrubbed()
    content = bytes_on_disk(tmp_path)
    for text in (QUESTION, ANSWER, "The response says"):
        assert text.encode() not in content
    case = await stage.log.cases.get(1)
    assert (case.message_ts, case.question_ts) == (answer.ts, parent.ts)
    assert case.response_hash is not None


async def test_a_reply_that_is_asked_about_again_shows_its_score_and_can_be_scored_from_its_texts_in_slack(
    stage: Stage,
) -> None:
    _, answer = await scored_reply(stage)
    stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
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
    stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    stage.ben.click(await stage.told(stage.ben), ids.ACTION_AGAIN)
    assert "I could not find the question" in shown(await stage.modal(stage.ben))
    assert len(stage.model.requests) == 2


async def test_typed_texts_that_were_not_kept_are_not_scored_again(stage: Stage) -> None:
    stage.model.script("I would rather not say.")
    await settled(stage, 1, stage.ann.command(CHANNEL, ids.COMMAND, f"{QUESTION} | {ANSWER}"))
    verdict = next(message for message in stage.ours() if message.is_reply)
    await settled(stage, 2, stage.ann.click(verdict, ids.ACTION_AGAIN))
    assert "were not stored" in (await stage.told(stage.ann)).text


@pytest.mark.needs("digest", "labels", "privacy")
async def test_labels_stats_and_forget_need_no_texts(stage: Stage) -> None:
    parent, answer = await scored_reply(stage)
    stage.ben.click(await stage.verdict(parent), ids.ACTION_AGREE)
    assert "Your score for case 1 is 4" in (await stage.told(stage.ben)).text
    stage.ann.command(CHANNEL, ids.COMMAND, "stats")
    assert "1 reply chosen by people" in (await stage.told(stage.ann)).text
    output = io.StringIO()
    assert await export(stage.log.database, output, Selection(), has_texts=False) == (1, 0)
    assert ANSWER not in output.getvalue()
    assert "Deleted: case 1" in await forget(stage, stage.ann, answer)
