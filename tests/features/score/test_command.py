"""The slash command: two texts, a link, a modal, a word."""

import pytest

from bot.domain.case import CaseStatus, Visibility
from bot.pipeline.text import COMMAND_TOO_SLOW
from bot.slack import ids
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, is_verdict, shown


async def test_two_texts_begin_a_thread_with_the_verdict_in_it(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND, f"{QUESTION} | {ANSWER}")
    parent = await stage.slack.until(lambda: next(iter(stage.ann.messages(CHANNEL)), None))
    assert parent is not None
    words = shown(parent)
    assert "*ann* asked for a score" in words
    assert QUESTION in words
    assert ANSWER in words
    verdict = await stage.verdict(parent)
    assert verdict.thread_ts == parent.ts
    assert verdict.text.startswith("Score 4 of 5")
    assert len(stage.ours()) == 2


async def test_a_link_is_scored_in_the_thread_of_its_message(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    link = stage.slack.workspace.permalink(answer.channel_id, answer.ts, parent.ts)
    delivery = await stage.slack.settled(stage.ben.command(CHANNEL, ids.COMMAND, link))
    assert delivery.response is not None
    assert "Case 1" in delivery.response["text"]
    await stage.verdict(parent)
    case = await stage.log.cases.get(1)
    assert (case.question, case.response) == (QUESTION, ANSWER)


async def test_a_link_to_a_message_in_the_channel_itself_is_scored_there(stage: Stage) -> None:
    stage.ann.post(CHANNEL, QUESTION)
    answer = stage.helper.post(CHANNEL, ANSWER)
    link = stage.slack.workspace.permalink(answer.channel_id, answer.ts)
    stage.ann.command(CHANNEL, ids.COMMAND, link)
    await stage.verdict(answer)
    assert (await stage.log.cases.get(1)).question == QUESTION


async def test_a_link_to_a_verdict_is_refused_as_in_its_menu(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    verdict = await stage.verdict(parent)
    link = stage.slack.workspace.permalink(verdict.channel_id, verdict.ts, parent.ts)

    stage.ann.command(CHANNEL, ids.COMMAND, link)

    await stage.told(stage.ann, 2)  # that it was taken in, and why it is not scored, in either order
    assert any("That is one of my own messages" in each.text for each in stage.ann.ephemerals(CHANNEL))
    assert len(stage.model.requests) == 1


async def test_a_link_to_a_scored_message_shows_its_verdict(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.verdict(parent)
    link = stage.slack.workspace.permalink(answer.channel_id, answer.ts, parent.ts)
    stage.ann.command(CHANNEL, ids.COMMAND, link)
    told = await stage.told(stage.ann)
    assert told.text.startswith("Scored before: *4 of 5*")
    assert told.thread_ts is None  # where the command was typed, and not in a thread that may be closed
    assert len(stage.model.requests) == 1


async def test_without_text_a_modal_takes_both(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND)
    view = await stage.modal(stage.ann)
    kinds = [block["block_id"] for block in view.body["blocks"]]
    assert kinds == [ids.BLOCK_QUESTION, ids.BLOCK_RESPONSE, ids.BLOCK_RUBRIC, ids.BLOCK_VISIBILITY]
    stage.ann.submit({ids.BLOCK_QUESTION: QUESTION, ids.BLOCK_RESPONSE: ANSWER})
    parent = await stage.slack.until(lambda: next(iter(stage.ann.messages(CHANNEL)), None))
    assert parent is not None
    assert (await stage.verdict(parent)).text.startswith("Score 4 of 5")


async def test_the_modal_can_keep_the_verdict_to_oneself(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND)
    await stage.modal(stage.ann)
    stage.ann.submit(
        {
            ids.BLOCK_QUESTION: QUESTION,
            ids.BLOCK_RESPONSE: ANSWER,
            ids.BLOCK_VISIBILITY: Visibility.ME.value,
        }
    )
    assert (await stage.told(stage.ann)).text.startswith("Score 4 of 5")
    assert stage.ours() == []


@pytest.mark.parametrize(
    ("question", "response", "wrong"),
    [
        ("  ", ANSWER, ids.BLOCK_QUESTION),
        (QUESTION, "\n", ids.BLOCK_RESPONSE),
        (QUESTION, QUESTION, ids.BLOCK_RESPONSE),
    ],
)
async def test_the_modal_says_which_input_is_wrong(stage: Stage, question: str, response: str, wrong: str) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND)
    await stage.modal(stage.ann)
    delivery = stage.ann.submit({ids.BLOCK_QUESTION: question, ids.BLOCK_RESPONSE: response})
    await stage.slack.settled(delivery)
    assert delivery.response is not None
    assert list(delivery.response["errors"]) == [wrong]
    assert await stage.log.cases.counts() == {}


async def test_a_modal_that_cannot_be_opened_in_time_is_explained(stage: Stage) -> None:
    stage.slack.fail("views.open", error="expired_trigger_id")
    stage.ann.command(CHANNEL, ids.COMMAND)
    assert (await stage.told(stage.ann)).text == COMMAND_TOO_SLOW


@pytest.mark.needs("privacy", "rubrics")
async def test_help_lists_what_can_be_done(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND, "help")
    lines = (await stage.told(stage.ann)).text.splitlines()
    assert "*Score this reply*" in lines[0]
    assert len(lines) <= 8
    stage.ann.command(CHANNEL, ids.COMMAND, "help more")
    told = await stage.told(stage.ann, 2)
    for part in ("`/judge question | response`", "`/judge forget NUMBER`", "`/judge rubric`"):
        assert part in told.text


async def test_a_word_that_is_nearly_right_is_suggested(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND, "hepl")
    assert (await stage.told(stage.ann)).text == "I do not know `hepl`. Did you mean `/judge help`?"


@pytest.mark.parametrize(
    ("text", "said", "channel"),
    [
        ("x y", "I do not know `x y`.", "D"),
        ("What is up? <!channel>", "I do not know `What is up? @channel`.", CHANNEL),
        ("x" * 40_000, f"I do not know `{'x' * 79}…`.", CHANNEL),
    ],
)
async def test_what_is_not_understood_is_said_in_a_line(stage: Stage, text: str, said: str, channel: str) -> None:
    here = stage.ann.im if channel == "D" else channel
    stage.ann.command(here, ids.COMMAND, text)
    told = await stage.told(stage.ann, channel=here)
    assert told.text == f"{said} `/judge question | response` scores two texts, `/judge help` lists the rest."


async def test_long_texts_are_shortened_on_the_card_which_says_how_long_they_are(stage: Stage) -> None:
    await stage.slack.settled(stage.ann.command(CHANNEL, ids.COMMAND, f"{'why ' * 800} | {'Ah, ' * 10_000}end."))
    await stage.reaches(1, CaseStatus.DELIVERED)
    card, _ = stage.ours()
    words = shown(card)
    assert "Question\n (3,199 characters, shortened)\nwhy why" in words
    assert "Response\n (40,004 characters, shortened)\nAh, Ah" in words
    assert words.endswith("Ah, end.")
    assert len(words) < 800


async def test_texts_that_are_not_long_stand_whole_on_the_card(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND, f"Why? | {'x' * 3_000}")
    card = await stage.slack.until(lambda: next(iter(stage.ann.messages(CHANNEL)), None))
    assert card is not None
    assert "shortened" not in shown(card)
    assert "x" * 3_000 in shown(card)


async def test_no_member_of_a_private_channel_answers_alone(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(is_member=False)
    stage.ann.command(CHANNEL, ids.COMMAND, f"{QUESTION} | {ANSWER}")
    told = await stage.told(stage.ann)
    assert told.text.startswith("Score 4 of 5")
    assert "/invite @Slack Judge" in shown(told)


async def test_a_private_answer_is_given_where_the_person_stands(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(verdict_visibility="me")
    workspace = stage.slack.workspace
    workspace.add_channel("elsewhere", [stage.ann.user, stage.helper.user, workspace.bot])
    stage.ann.post("elsewhere", QUESTION)
    answer = stage.helper.post("elsewhere", ANSWER)
    stage.ann.command(CHANNEL, ids.COMMAND, workspace.permalink(answer.channel_id, answer.ts))
    await stage.told(stage.ann, count=2)
    assert any(is_verdict(message) for message in stage.ann.ephemerals(CHANNEL))
    assert stage.ann.ephemerals("elsewhere") == []
