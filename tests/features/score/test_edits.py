"""What becomes of a verdict whose question or response is edited or deleted afterwards."""

import asyncio
from pathlib import Path

import pytest

from bot.domain.case import CaseStatus
from bot.slack import ids
from pocket_slack.posts import delete
from tests.cases import bytes_on_disk
from tests.gestures import QUOTING, scored_reply, settled, up_to_date
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, assert_without_words, shown

EVENTS = ("message.channels", "message.groups")
LINE = "*Scored before an edit:*"
GONE = "A message that was judged was deleted"


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(events=EVENTS)
    opened.model.script(QUOTING)
    return opened


async def test_an_edited_reply_marks_the_case_and_its_verdict(stage: Stage) -> None:
    _, answer = await scored_reply(stage)
    stage.helper.edit(answer, "Use git revert instead.")
    case = await up_to_date(stage)
    assert case.edited_at is not None
    assert case.response == ANSWER
    (verdict,) = stage.ours()
    words = shown(verdict)
    assert LINE in words
    assert f"The response says: {ANSWER}" in words
    assert [block["type"] for block in verdict.blocks[-2:]] == ["context", "actions"]


async def test_a_verdict_that_the_next_one_folds_is_not_written_again(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage()
    _, answer = await scored_reply(stage)
    (verdict,) = stage.ours()
    gate = asyncio.Event()
    stage.slack.fail("chat.postMessage", held_until=gate)
    stage.helper.edit(answer, "Use git revert instead.")
    await stage.score(answer)

    async def is_judged() -> bool:
        case = await stage.log.cases.get(2)
        return bool(case and case.judged_at)

    await stage.eventually(is_judged)
    await stage.log.edits.note_edited(
        stage.workspace.team_id, answer.channel_id, answer.ts, answer.text
    )
    await up_to_date(stage)
    assert LINE not in shown(verdict)
    gate.set()
    await stage.reaches(2, CaseStatus.DELIVERED)
    assert "replaced by" in shown(verdict)


async def test_a_verdict_that_is_gone_is_left_alone(stage: Stage) -> None:
    _, answer = await scored_reply(stage)
    delete(stage.workspace, stage.ours()[0])
    stage.helper.edit(answer, "Use git revert instead.")
    assert (await up_to_date(stage)).edited_at is not None
    assert stage.ours() == []
    assert stage.ann.ephemerals(CHANNEL) == []


async def test_what_is_left_of_a_reply_without_its_first_message_is_scored_anew(
    stage: Stage, tmp_path: Path
) -> None:
    parent, answer = stage.ask_and_answer()
    more = stage.helper.post(CHANNEL, "More.", thread_ts=parent.ts)
    await settled(stage, 1, stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, more))
    assert ANSWER in shown(stage.ours()[0])
    stage.helper.delete(answer)
    assert (await up_to_date(stage)).response is None
    assert_without_words(stage, GONE)
    await stage.scrubbed()
    assert ANSWER.encode() not in bytes_on_disk(tmp_path)
    await settled(stage, 2, stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, more))
    case = await stage.log.cases.get(2)
    assert (case.question, case.response, case.excluded) == (QUESTION, "More.", None)


async def test_a_reply_that_is_deleted_before_its_question_is_typed_is_not_scored(
    stage: Stage,
) -> None:
    answer = stage.helper.post(CHANNEL, ANSWER)
    await stage.score(answer)
    await stage.modal(stage.ann)
    await stage.reaches(1, CaseStatus.ASKED)
    stage.helper.delete(answer)
    assert (await up_to_date(stage)).response is None
    await settled(stage, 1, stage.ann.submit({ids.BLOCK_QUESTION: QUESTION}))
    assert "That message was deleted" in (await stage.told(stage.ann)).text
    assert stage.model.requests == []
