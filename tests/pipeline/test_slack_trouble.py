"""Slack drops, refuses and delays: no verdict is lost, and none stands there twice."""

import asyncio
from pathlib import Path

import pytest

from bot.app import running_bot
from bot.domain.case import CaseStatus
from bot.slack import ids
from pocket_slack import Message
from tests import gestures
from tests.model_server import Held
from tests.stage import (
    CHANNEL,
    GOOD,
    QUESTION,
    SCORED,
    Stage,
    StageFactory,
    is_verdict,
    make_settings,
    shown,
)


async def announced(stage: Stage) -> tuple[Message, asyncio.Event]:
    """A case with a placeholder; gives its thread's parent, and what lets the model answer."""
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    parent = stage.ask_for_score()
    await stage.slack.until(
        lambda: any(message.text.startswith("Scoring") for message in stage.ours())
    )
    return parent, gate


@pytest.mark.parametrize("is_applied", [True, False], ids=["taken", "not taken"])
@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
async def test_after_a_lost_connection_the_next_start_leaves_one_verdict(
    open_stage: StageFactory, tmp_path: Path, method: str, is_applied: bool
) -> None:
    stage = await open_stage()
    fault = {"drop": True, "is_applied": is_applied}
    if method == "chat.update":
        parent, gate = await announced(stage)
        stage.slack.fail(method, **fault)
        gate.set()
    else:
        stage.slack.fail(method, **fault)
        parent = stage.ask_for_score()
    await stage.slack.until(
        lambda: any(call.data["status"] is None for call in gestures.calls(stage, method))
    )
    await stage.stop_bot()
    async with running_bot(make_settings(stage.slack, stage.model, tmp_path)) as bot:
        stage.log = bot.services.store
        assert (await stage.verdict(parent)).text.startswith(SCORED)
        await stage.reaches(1, CaseStatus.DELIVERED)
    assert len(stage.ours()) == 1


@pytest.mark.parametrize("before", [0, 1], ids=["typed texts", "the placeholder under them"])
async def test_a_post_whose_answer_was_lost_is_found_and_becomes_the_verdict(
    stage: Stage, before: int
) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    for _ in range(before):
        stage.slack.fail("chat.postMessage", delay_s=0.01)
    stage.slack.fail("chat.postMessage", is_applied=True, status=500)
    stage.ann.command(CHANNEL, ids.COMMAND, "What? | That.")
    await stage.slack.until(lambda: len(gestures.calls(stage, "chat.postMessage")) > before)
    gate.set()
    await stage.reaches(1, CaseStatus.DELIVERED)
    card, verdict = stage.ours()
    assert (is_verdict(verdict), "*Score 4 of 5*" in shown(card)) == (True, True)


async def test_a_post_that_nobody_can_confirm_is_not_repeated(open_stage: StageFactory) -> None:
    stage = await open_stage(verdict_visibility="thread")
    stage.slack.fail("chat.postMessage", drop=True, is_applied=True)
    stage.slack.fail("conversations.history", error="missing_scope")
    await stage.slack.settled(stage.ann.command(CHANNEL, ids.COMMAND, "What? | That."))
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert len(stage.ours()) == 1
    assert any(map(is_verdict, stage.ann.ephemerals(CHANNEL)))


async def test_a_deleted_placeholder_sends_the_verdict_to_the_requester(stage: Stage) -> None:
    _, gate = await announced(stage)
    stage.slack.fail("chat.update", error="message_not_found")
    gate.set()
    assert (await stage.told(stage.ann)).text.startswith(SCORED)


async def test_a_moment_of_trouble_is_not_taken_for_a_question_or_message_that_is_gone(
    stage: Stage,
) -> None:
    faults = ({"error": "token_revoked"}, {"drop": True}, {"delay_s": 2}, {"status": 500})
    for number, fault in enumerate(faults, 1):
        parent, answer = stage.ask_and_answer()
        stage.slack.fail("conversations.replies", **fault)
        if "status" in fault:
            stage.ann.command(CHANNEL, ids.COMMAND, gestures.link(stage, answer))
        else:
            await stage.score(answer)
        await stage.verdict(parent)
        assert (fault, (await stage.log.cases.get(number)).question) == (fault, QUESTION)
        assert stage.ann.view is None
