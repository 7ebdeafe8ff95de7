"""`/judge forget me`: what it says first, what it does when the button is pressed, and what is left
in Slack.
"""

import asyncio
from pathlib import Path

import pytest

from bot.domain.blocker import FORGOTTEN
from bot.domain.case import CaseStatus, LoggedCase
from bot.features.privacy.text import ACTION_FORGET, ALREADY, FORGET_WORDS, NO_WORDS
from bot.slack import ids as slack_ids
from pocket_slack import Person
from tests import gestures
from tests.cases import bytes_on_disk
from tests.gestures import GONE, QUOTING, ask, go_ahead, settled, up_to_date
from tests.model_server import Held
from tests.patience import ONLY_A_HANG_S
from tests.stage import (
    ANSWER,
    CHANNEL,
    QUESTION,
    Stage,
    StageFactory,
    assert_without_words,
    shown,
)


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage()
    opened.model.script(QUOTING)
    return opened


async def scored(stage: Stage, person: Person) -> LoggedCase:
    """ben's answer to ann's question, which this person had scored."""
    parent = stage.ann.post(CHANNEL, QUESTION)
    answer = stage.ben.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    await settled(stage, 1, person.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer))
    return await stage.log.cases.get(1)


def carol(stage: Stage) -> Person:
    """Somebody who has written none of it."""
    user = stage.slack.workspace.add_user("carol")
    stage.slack.workspace.channel(CHANNEL).members.append(user.id)
    return stage.slack.person("carol")


async def test_it_says_first_what_it_would_do_and_no_forged_button_or_other_person_does_it(
    stage: Stage,
) -> None:
    await scored(stage, stage.ann)
    asked = await ask(stage, stage.ann)
    assert shown(asked).startswith(FORGET_WORDS)
    other = carol(stage)
    other.click(asked, ACTION_FORGET)
    await stage.slack.until(lambda: [m.text for m in other.ephemerals(CHANNEL)] == [NO_WORDS])
    (button,) = asked.blocks[-1]["elements"]
    button["value"] = "U00000004"
    stage.ann.click(asked, ACTION_FORGET)
    await stage.slack.until(lambda: stage.ann.ephemerals(CHANNEL)[-1].text == ALREADY)
    assert (await stage.log.cases.get(1)).response == ANSWER
    assert await stage.log.audit.since() == []


async def test_an_author_takes_their_words_out_of_store_and_verdict(
    open_stage: StageFactory, tmp_path: Path
) -> None:
    stage: Stage = await open_stage(score_people=True)
    await scored(stage, carol(stage))
    said = await go_ahead(stage, stage.ben)
    assert said.startswith("I forgot your words: 1 case, 0 reasons, thumbs and notes.")
    case = await up_to_date(stage)
    assert (case.question, case.response, case.requester_name) == (None, None, "carol")
    assert_without_words(stage, GONE)
    await stage.scrubbed()
    assert ANSWER.encode() not in bytes_on_disk(tmp_path)


async def test_two_typed_texts_go_from_our_message_too(stage: Stage) -> None:
    await settled(stage, 1, stage.ann.command(CHANNEL, slack_ids.COMMAND, f"{QUESTION} | {ANSWER}"))
    await go_ahead(stage, stage.ann)
    await up_to_date(stage)
    for message, said in zip(stage.ours(), ("I removed the question", GONE), strict=True):
        words = shown(message) + message.text
        assert said in words
        assert ANSWER not in words
        assert "ann" not in words


async def test_a_case_under_way_is_delivered_and_then_loses_its_words(stage: Stage) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, QUOTING))
    parent = stage.ask_for_score()
    await stage.model.asked(1)
    await go_ahead(stage, stage.ann)
    gate.set()
    await stage.verdict(parent)
    await stage.slack.until(lambda: GONE in shown(stage.ours()[0]), ONLY_A_HANG_S)
    case = await up_to_date(stage)
    assert (case.status, case.texts) == (CaseStatus.DELIVERED, ("", ""))
    verdict = await stage.log.cases.verdict(1)
    assert (verdict.score, verdict.justification) == (4, "")


async def test_a_reply_is_not_read_again_once_its_author_was_forgotten(stage: Stage) -> None:
    shortcut = slack_ids.SHORTCUT_SCORE_REPLY
    answer = stage.ben.post(CHANNEL, ANSWER)
    later = stage.ben.post(CHANNEL, "Or commit it again.")
    stage.ann.shortcut(shortcut, answer)
    await stage.modal(stage.ann)
    await stage.reaches(1, CaseStatus.ASKED)
    await go_ahead(stage, stage.ben)
    await settled(stage, 1, stage.ann.submit({slack_ids.BLOCK_QUESTION: QUESTION}))
    await settled(stage, 2, stage.ann.shortcut(shortcut, later))
    # A reply that was forgotten is not said to have been scored before.
    await stage.slack.settled(stage.ann.shortcut(shortcut, later))
    await stage.told(stage.ann, 3)
    for told in stage.ann.ephemerals(CHANNEL):
        assert FORGOTTEN in told.text
        assert "scored before" not in shown(told)
    assert stage.model.requests == []


async def test_each_button_says_that_the_words_are_forgotten(stage: Stage) -> None:
    person = carol(stage)
    answer, verdict = await gestures.scored(stage, person, opening="Hello.")
    await stage.slack.settled(person.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer))
    known = await stage.told(person)
    await go_ahead(stage, stage.ann)
    await up_to_date(stage)
    person.click(known, slack_ids.ACTION_AGAIN)
    assert (await stage.told(person, 2)).text == FORGOTTEN
    person.click(verdict, slack_ids.ACTION_WRONG_QUESTION)
    assert (await stage.told(person, 3)).text == FORGOTTEN
    person.click(verdict, slack_ids.ACTION_DETAILS)
    assert "The texts were forgotten." in shown(await stage.modal(person))
    assert await stage.cases() == 1
