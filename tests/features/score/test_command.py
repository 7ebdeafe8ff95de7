"""The slash command: two texts, a link, a modal, a word."""

import pytest

from bot.domain.case import Visibility
from bot.slack import ids
from pocket_slack import Message
from tests.gestures import say
from tests.stage import ANSWER, CHANNEL, QUESTION, SCORED, Stage

TEXTS = {ids.BLOCK_QUESTION: QUESTION, ids.BLOCK_RESPONSE: ANSWER}


async def card(stage: Stage) -> Message:
    """The message with two texts to which the verdict replies."""
    found = await stage.slack.until(lambda: next(iter(stage.ann.messages(CHANNEL)), None))
    assert found is not None
    return found


async def test_without_text_a_modal_takes_both_and_says_which_is_wrong(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND)
    delivery = await stage.fill_in(stage.ann, TEXTS | {ids.BLOCK_RESPONSE: QUESTION})
    assert list(delivery.response["errors"]) == [ids.BLOCK_RESPONSE]
    assert await stage.cases() == 0
    stage.ann.submit(TEXTS)
    assert (await stage.verdict(await card(stage))).text.startswith(SCORED)


async def test_the_modal_can_keep_the_verdict_to_oneself(stage: Stage) -> None:
    stage.slack.fail("views.open", error="expired_trigger_id")
    assert "did not open in time. Please try again." in (await say(stage, "")).text
    stage.ann.command(CHANNEL, ids.COMMAND)
    await stage.fill_in(stage.ann, TEXTS | {ids.BLOCK_VISIBILITY: Visibility.ME.value})
    assert (await stage.told(stage.ann, 2)).text.startswith(SCORED)
    assert stage.ours() == []


@pytest.mark.needs("digest", "privacy", "rubrics", "watch")
async def test_help_lists_what_can_be_done_and_help_more_only_the_rest(stage: Stage) -> None:
    lines = (await say(stage, "help")).text.splitlines()
    assert "*Score this reply*" in lines[0]
    assert len(lines) <= 10
    for word in ("watch", "forget"):
        assert any(line.startswith(f"• `/judge {word}") for line in lines)
    rest = (await say(stage, "help more")).text
    assert "`/judge question | response`" in rest
    assert not set(lines) & set(rest.splitlines())


async def test_what_is_not_understood_is_said_in_a_line(stage: Stage) -> None:
    rest = "`/judge question | response` scores two texts, `/judge help` lists the rest."
    for text, said in (
        ("hepl", "I do not know `hepl`. Did you mean `/judge help`?"),
        ("What is up? <!channel>", f"I do not know `What is up? @channel`. {rest}"),
    ):
        assert (await say(stage, text)).text == said
