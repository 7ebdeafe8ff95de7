"""Slack takes a call and its answer is lost: what all see stands once, what one person is told
comes at least once.

A message to one person alone cannot be looked for, so it may come twice. Each way to lose an answer
is tried once with the same post; the other situations have one way each. Digests, alerts and
reactions are tried in their features' tests.
"""

import pytest

from bot.domain.case import CaseStatus
from bot.slack import ids
from pocket_slack import Message
from tests.gestures import GONE, QUOTING, forget, go_ahead, up_to_date
from tests.stage import ANSWER, CHANNEL, LOST, SCORED, Stage, StageFactory, is_verdict, shown

WAYS = ("chat.postEphemeral", "response_url", "chat.postMessage")  # the next if one is refused


def refuse(stage: Stage, way: str) -> None:
    is_method = way != "response_url"
    stage.slack.fail(way, **({"error": "user_not_in_channel"} if is_method else {"status": 404}))


async def test_a_verdict_for_one_person_comes_once_or_twice(open_stage: StageFactory) -> None:
    stage = await open_stage(verdict_visibility="me")
    for number, (way, lost) in enumerate(zip(WAYS, LOST, strict=True), 1):
        for refused in WAYS[: number - 1]:
            refuse(stage, refused)
        stage.slack.fail(way, **lost)
        stage.ask_for_score()
        await stage.reaches(number, CaseStatus.DELIVERED)
        told = [*stage.ann.ephemerals(CHANNEL), *in_direct_messages(stage)]
        assert (way, number <= sum(map(is_verdict, told)) <= 2 * number) == (way, True)
    assert stage.ours() == []


def in_direct_messages(stage: Stage) -> list[Message]:
    return list(stage.workspace.im(stage.ann.id).messages.values())


@pytest.mark.needs("privacy")
@pytest.mark.parametrize("lost", ["chat.postMessage", "chat.update"])
async def test_a_verdict_in_direct_messages_loses_its_words_whatever_answer_was_lost(
    open_stage: StageFactory, lost: str
) -> None:
    stage = await open_stage(verdict_visibility="me")
    stage.model.script(QUOTING)
    for way in WAYS[:2]:
        refuse(stage, way)
    stage.slack.fail(lost, **LOST[0])
    stage.ask_for_score()
    await stage.reaches(1, CaseStatus.DELIVERED)
    (message,) = in_direct_messages(stage)
    assert (ANSWER in shown(message)) == (lost != "chat.postMessage")
    await go_ahead(stage, stage.ann)
    await up_to_date(stage)
    assert SCORED in shown(message)
    assert ANSWER not in message.text + shown(message)


@pytest.mark.needs("privacy")
@pytest.mark.parametrize("how", ["me", "1"])
async def test_a_verdict_that_slack_did_not_confirm_is_looked_for_when_its_words_go(
    stage: Stage, how: str
) -> None:
    stage.model.script(QUOTING)
    stage.slack.fail("chat.postMessage", **LOST[0])
    stage.slack.fail("conversations.replies")  # the first call is for the question
    stage.slack.fail("conversations.replies", error="missing_scope")
    stage.ask_for_score()
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert case.reply_ts is None
    (verdict,) = stage.ours()
    assert ANSWER in shown(verdict)
    if how == "me":
        await go_ahead(stage, stage.ann)
        await up_to_date(stage)
        assert GONE in shown(verdict)
        assert ANSWER not in shown(verdict)
    else:
        assert "Deleted: case 1" in await forget(stage, stage.ann, how)
        assert stage.ours() == []


async def test_a_person_is_asked_for_the_question_and_answers_once(stage: Stage) -> None:
    stage.slack.fail("views.open", **LOST[0])
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, stage.helper.post(CHANNEL, "Good morning, all!"))
    await stage.reaches(1, CaseStatus.ASKED)
    await stage.modal(stage.ann)
    stage.ann.submit({ids.BLOCK_QUESTION: "What do you say in the morning?"})
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert [is_verdict(message) for message in stage.ours()] == [True]
