"""`/judge forget`: what is deleted, who may ask for it, and what others do not learn by asking."""

import asyncio
import re
from functools import partial

import pytest
from structlog.testing import capture_logs
from syrupy.assertion import SnapshotAssertion

from bot.domain.case import CaseStatus
from bot.features.privacy.queries import cases_at
from bot.features.privacy.text import ACTION_FORGET, ALREADY, HOW, NOT_NOW, NOTHING
from bot.pipeline.text import NO_CASE
from bot.slack import ids as slack_ids
from bot.slack.messages import Permalink
from bot.store import Store
from pocket_slack import Message, Person
from tests.cases import a_case, newest, noted, plans
from tests.gestures import ask, forget, scored, settled
from tests.model_server import Stall
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, buttons, shown
from tests.store.test_edits import OF_TWO, delivered
from tests.texts import read


async def score_again(stage: Stage, person: Person, answer: Message) -> None:
    """A second verdict on a reply, asked for by this person."""
    person.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    await settled(stage, 2, person.click(await stage.told(person), slack_ids.ACTION_AGAIN))


async def case_numbers(stage: Stage) -> list[int]:
    return [case.id for case in await newest(stage.log, 100)]


async def test_the_requester_deletes_the_case_and_the_verdict(stage: Stage) -> None:
    answer, _ = await scored(stage)
    _, verdict = await scored(stage)
    await settled(stage, 3, stage.ann.command(CHANNEL, slack_ids.COMMAND, f"{QUESTION} | {ANSWER}"))
    texts = stage.ours()[2]
    for linked, gone, messages in (
        (answer, "case 1", "1 message"),
        (verdict, "case 2", "1 message"),
        (texts, "case 3", "2 messages"),
    ):
        told = await forget(stage, stage.ann, linked)
        assert told.startswith(f"Deleted: {gone}, with texts, ratings and labels, and {messages} ")
    assert (await case_numbers(stage), stage.ours()) == ([], [])


async def test_it_quotes_the_case_and_asks_before_anything_goes(
    stage: Stage, snapshot: SnapshotAssertion
) -> None:
    answer, _ = await scored(stage)
    asked = await ask(stage, stage.ann, answer)
    words = re.sub(r"<(https|!date)[^|]*\|(\d{4}-[^>]*>)?", "<...|", read(asked.blocks))
    assert words.replace(answer.channel_id, "C1") == snapshot(name="the case")
    assert await case_numbers(stage) == [1]
    assert len(stage.ours()) == 1


async def test_a_person_who_has_left_the_channel_is_quoted_no_words(stage: Stage) -> None:
    await scored(stage)
    stage.slack.workspace.add_channel("elsewhere", [stage.ann.user, stage.slack.workspace.bot])
    stage.ann.leave(CHANNEL)
    stage.ann.command("elsewhere", slack_ids.COMMAND, "forget 1")
    words = shown(await stage.told(stage.ann, channel="elsewhere"))
    assert "case 1" in words
    assert ANSWER not in words


async def test_scores_that_others_asked_for_stay_and_it_says_so_before(stage: Stage) -> None:
    answer, _ = await scored(stage)
    await score_again(stage, stage.ben, answer)
    asked = await ask(stage, stage.ann, answer)
    assert "Somebody else requested 1 score" in asked.text
    assert "case 2" not in shown(asked)
    stage.ann.click(asked, ACTION_FORGET)
    await stage.slack.until(lambda: not buttons(asked))
    assert asked.text.startswith("Deleted: case 1,")
    assert await case_numbers(stage) == [2]
    assert len(stage.ours()) == 1


async def test_a_double_click_says_what_was_deleted_and_nothing_untrue(stage: Stage) -> None:
    answer, _ = await scored(stage)
    asked = await ask(stage, stage.ann, answer)
    gate = asyncio.Event()
    stage.slack.fail("chat.delete", held_until=gate, times=2)
    for _ in range(2):
        stage.ann.click(asked, ACTION_FORGET)
    faults = partial(stage.slack.workspace.journal.of, "fault")
    await stage.slack.until(lambda: [each.data["event"] for each in faults()].count("met") == 2)
    gate.set()
    await stage.slack.until(lambda: stage.ann.ephemerals(CHANNEL)[-1].text == ALREADY)
    await stage.slack.until(lambda: asked.text.startswith("Deleted: case 1,"))


async def test_a_forged_button_deletes_nothing_of_anybody_else(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(verdict_visibility="me")
    for number, person in enumerate((stage.ann, stage.ben), 1):
        _, answer = stage.ask_and_answer()
        await settled(stage, number, person.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer))
    asked = await ask(stage, stage.ben, "2")
    (button,) = asked.blocks[-1]["elements"]
    button["value"] = "1,77"
    stage.ben.click(asked, ACTION_FORGET)
    await stage.slack.until(lambda: stage.ben.ephemerals(CHANNEL)[-1].text == ALREADY)
    assert await case_numbers(stage) == [1, 2]


async def test_only_the_requester_and_admins_delete_a_case(stage: Stage) -> None:
    answer, _ = await scored(stage)
    told = await forget(stage, stage.ben, answer)
    assert told.startswith("Somebody else requested 1 score:")
    assert (await case_numbers(stage), len(stage.ours())) == ([1], 1)
    stage.ben.user.is_admin = True
    stage.slack.fail("users.info", error="missing_scope")
    assert "Somebody else requested" in await forget(stage, stage.ben, answer)
    with capture_logs() as logs:
        assert (await forget(stage, stage.ben, answer)).startswith("Deleted: case 1,")
    assert await case_numbers(stage) == []
    (line,) = (each for each in logs if each["event"] == "audited")
    assert await noted(stage.log) == [(line["who"], line["what"], line["case_id"])]
    assert (line["who"], line["what"], line["case_id"]) == (stage.ben.id, "forgot_case", 1)


async def test_others_learn_nothing_of_an_only_me_verdict_which_goes_by_its_number(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(verdict_visibility="me")
    _, answer = stage.ask_and_answer()
    await settled(stage, 1, stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer))
    stage.ben.user.is_admin = True
    for what in (answer, "1", "77"):
        assert await forget(stage, stage.ben, what) == NOTHING
    assert await case_numbers(stage) == [1]
    assert (await forget(stage, stage.ann, "1")).startswith("Deleted: case 1, with texts")
    assert await case_numbers(stage) == []


async def test_a_case_that_is_being_scored_is_left_alone(stage: Stage) -> None:
    stage.model.script(Stall())
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.model.asked(1)
    told = await forget(stage, stage.ann, answer)
    assert told == "I cannot delete case 1 while that is being scored. Try again in a minute."
    await stage.slack.until(lambda: len(stage.ann.thread(CHANNEL, parent.ts)) == 3)
    assert await case_numbers(stage) == [1]


async def test_a_case_that_waits_for_its_question_is_deleted_and_its_modal_says_so(
    stage: Stage,
) -> None:
    answer = stage.helper.post(CHANNEL, ANSWER)
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.modal(stage.ann)
    await stage.reaches(1, CaseStatus.ASKED)
    assert (await forget(stage, stage.ann, answer)).startswith("Deleted: case 1, ")
    stage.ann.submit({slack_ids.BLOCK_QUESTION: QUESTION})
    (said,) = await stage.slack.until(lambda: stage.ann.messages(stage.ann.im))
    assert said.text == NO_CASE
    assert await stage.cases() == 0


async def test_while_slack_does_not_answer_nothing_is_lost_and_asking_again_finishes(
    stage: Stage,
) -> None:
    kept, _ = await scored(stage)
    answer, _ = await scored(stage)
    for fault in ({"drop": True}, {"status": 500, "is_applied": True}):
        stage.slack.fail("chat.delete", **fault)
        assert await forget(stage, stage.ann, answer) == NOT_NOW
        assert await case_numbers(stage) == [1, 2]
    assert (await forget(stage, stage.ann, answer)).startswith("Deleted: case 2, ")
    stage.slack.fail("chat.delete", error="compliance_exports_prevent_deletion")
    told = await forget(stage, stage.ann, kept)
    assert "delete 1 message of mine (`compliance_exports_prevent_deletion`)" in told
    assert await case_numbers(stage) == []


async def test_only_what_names_a_case_of_this_workspace_is_deleted(stage: Stage) -> None:
    await stage.log.add(a_case(team_id="T0OTHER", requester_id=stage.ann.id))
    for text in ("this and that", "https://example.org/", "-1"):
        assert await forget(stage, stage.ann, text) == HOW
    assert await forget(stage, stage.ann, "1") == NOTHING
    assert await case_numbers(stage) == [1]


@pytest.mark.on("sqlite")
async def test_a_reply_is_known_by_each_of_its_messages_without_a_look_at_all_cases(
    log: Store,
) -> None:
    case = await delivered(log, **OF_TWO | {"parent_ts": None})
    for ts in ("5.1", "5.2"):
        there = Permalink("C1", ts, None)
        assert [each.id for each in await cases_at(log.database, "T1", there)] == [case.id]
    steps = await plans(log, cases_at(log.database, "T1", there), "cases", "turns")
    assert all("ts=?" in step or "rowid=?" in step for step in steps), steps
