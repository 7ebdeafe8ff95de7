"""Slack takes a call and its answer is lost: what all see stands once, what one person is told
comes at least once.

A message to one person alone cannot be looked for, so it may come twice. Each way to lose an answer
is tried once with the same post; the other situations have one way each. Digests, alerts and
reactions are tried in their features' tests.
"""

import asyncio
from typing import Any

import pytest

from bot.domain.case import CaseStatus
from bot.slack import ids
from tests.model_server import Held
from tests.stage import CHANNEL, GOOD, LOST, Stage, StageFactory, is_verdict


@pytest.mark.parametrize(
    ("method", "lost"),
    [*(("chat.postMessage", each) for each in LOST), ("chat.update", LOST[0])],
    ids=str,
)
async def test_a_verdict_in_a_thread_stands_once(
    stage: Stage, method: str, lost: dict[str, Any]
) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    stage.slack.fail(method, **lost)
    stage.ask_for_score()
    await stage.slack.until(stage.ours)
    gate.set()
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert [is_verdict(message) for message in stage.ours()] == [True]


@pytest.mark.parametrize(
    ("method", "refused", "lost"),
    [
        ("chat.postEphemeral", [], LOST[0]),
        ("response_url", ["chat.postEphemeral"], LOST[1]),
        ("chat.postMessage", ["chat.postEphemeral"], LOST[2]),
    ],
    ids=["ephemeral", "response_url", "direct message"],
)
async def test_a_verdict_for_one_person_comes_once_or_twice(
    open_stage: StageFactory, method: str, refused: list[str], lost: dict[str, Any]
) -> None:
    stage: Stage = await open_stage(verdict_visibility="me")
    for other in refused:
        stage.slack.fail(other, error="user_not_in_channel")
    if method == "chat.postMessage":
        stage.slack.fail("response_url", status=404)
    stage.slack.fail(method, **lost)
    stage.ask_for_score()
    await stage.reaches(1, CaseStatus.DELIVERED)
    told = [*stage.ann.ephemerals(CHANNEL), *stage.ann.messages(stage.ann.im)]
    assert len([message for message in told if is_verdict(message)]) in {1, 2}
    assert stage.ours() == []


async def test_a_person_is_asked_for_the_question_and_answers_once(stage: Stage) -> None:
    stage.slack.fail("views.open", **LOST[0])
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, stage.helper.post(CHANNEL, "Good morning, all!"))
    await stage.reaches(1, CaseStatus.ASKED)
    await stage.modal(stage.ann)
    stage.ann.submit({ids.BLOCK_QUESTION: "What do you say in the morning?"})
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert [is_verdict(message) for message in stage.ours()] == [True]
