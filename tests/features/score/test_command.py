"""The slash command: two texts, a link, a modal, a word."""

import pytest

from bot.domain.case import Visibility
from bot.slack import ids
from pocket_slack import Message
from tests.stage import ANSWER, CHANNEL, QUESTION, SCORED, Stage, shown

TEXTS = {ids.BLOCK_QUESTION: QUESTION, ids.BLOCK_RESPONSE: ANSWER}


async def card(stage: Stage) -> Message:
    """The message with two texts to which the verdict replies."""
    found = await stage.slack.until(lambda: next(iter(stage.ann.messages(CHANNEL)), None))
    assert found is not None
    return found


async def test_without_text_a_modal_takes_both_and_says_which_is_wrong(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND)
    kinds = [block["block_id"] for block in (await stage.modal(stage.ann)).body["blocks"]]
    assert kinds == [ids.BLOCK_QUESTION, ids.BLOCK_RESPONSE, ids.BLOCK_RUBRIC, ids.BLOCK_VISIBILITY]
    for question, response, wrong in (
        ("  ", ANSWER, ids.BLOCK_QUESTION),
        (QUESTION, "\n", ids.BLOCK_RESPONSE),
        (QUESTION, QUESTION, ids.BLOCK_RESPONSE),
    ):
        values = {ids.BLOCK_QUESTION: question, ids.BLOCK_RESPONSE: response}
        delivery = await stage.fill_in(stage.ann, values)
        assert list(delivery.response["errors"]) == [wrong]
    assert await stage.cases() == 0
    stage.ann.submit(TEXTS)
    assert (await stage.verdict(await card(stage))).text.startswith(SCORED)


async def test_the_modal_can_keep_the_verdict_to_oneself(stage: Stage) -> None:
    stage.slack.fail("views.open", error="expired_trigger_id")
    stage.ann.command(CHANNEL, ids.COMMAND)
    too_late = "did not open in time. Please try again."
    assert too_late in (await stage.told(stage.ann)).text
    stage.ann.command(CHANNEL, ids.COMMAND)
    await stage.fill_in(stage.ann, TEXTS | {ids.BLOCK_VISIBILITY: Visibility.ME.value})
    assert (await stage.told(stage.ann, 2)).text.startswith(SCORED)
    assert stage.ours() == []


@pytest.mark.needs("digest", "privacy", "rubrics", "watch")
async def test_help_lists_what_can_be_done_and_help_more_only_the_rest(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND, "help")
    lines = (await stage.told(stage.ann)).text.splitlines()
    assert "*Score this reply*" in lines[0]
    assert len(lines) <= 10
    for word in ("watch", "release", "stats", "digest", "forget"):
        assert any(line.startswith(f"• `/judge {word}") for line in lines)
    stage.ann.command(CHANNEL, ids.COMMAND, "help more")
    rest = (await stage.told(stage.ann, 2)).text
    for part in ("`/judge question | response`", "`/judge rubric`"):
        assert part in rest
    assert not set(lines) & set(rest.splitlines())


async def test_what_is_not_understood_is_said_in_a_line(stage: Stage) -> None:
    rest = "`/judge question | response` scores two texts, `/judge help` lists the rest."
    for text, said in (
        ("hepl", "I do not know `hepl`. Did you mean `/judge help`?"),
        ("What is up? <!channel>", f"I do not know `What is up? @channel`. {rest}"),
        ("x" * 40_000, f"I do not know `{'x' * 79}…`. {rest}"),
    ):
        count = len(stage.ann.ephemerals(CHANNEL)) + 1
        stage.ann.command(CHANNEL, ids.COMMAND, text)
        assert (await stage.told(stage.ann, count)).text == said


async def test_long_texts_are_shortened_on_the_card_which_says_how_long_they_are(
    stage: Stage,
) -> None:
    whole = f"{'why ' * 600}{'x' * 600}"
    stage.ann.command(CHANNEL, ids.COMMAND, f"{whole} | {'Ah, ' * 10_000}end.")
    words = shown(await card(stage))
    assert whole in words
    assert "Response\n (40,004 characters, shortened)\nAh, Ah" in words
    assert words.endswith("Ah, end.")
    assert len(words) < 3_500
