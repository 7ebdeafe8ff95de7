"""The judge's reasons in a posted digest: each goes from it when its case loses its words."""

import asyncio
from functools import partial

import pytest
from sqlalchemy import update

from bot.domain.label import Label
from bot.features.digest.ids import ACTION_LOW_LIST
from bot.pipeline.quoting import REMOVED, unquote
from bot.slack import ids
from bot.store.schema import cases
from pocket_slack import Message
from tests.gestures import (
    add_case,
    add_cases,
    forget,
    go_ahead,
    help_desk,
    its_digest,
    settled,
    up_to_date,
)
from tests.stage import CHANNEL, LOST, Stage, StageFactory, shown

REASON = "It names no source."
REASONS = [REASON, "It answers another question."]


async def a_low_reply(stage: Stage, number: int = 1, reason: str = REASON) -> Message:
    stage.model.script(f"score: 1\n{reason}")
    person = stage.ben if reason == REASONS[1] else stage.ann
    _, answer = stage.ask_and_answer(f"Question {number}?", f"Answer {number}.")
    await settled(stage, number, person.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    return answer


@pytest.mark.needs("privacy")
@pytest.mark.parametrize("how", ["forget me", "forget the case", "delete the reply"])
async def test_a_reason_goes_and_the_figures_stay(open_stage: StageFactory, how: str) -> None:
    stage: Stage = await open_stage(events=("message.channels",))
    answer = await a_low_reply(stage)
    by = {"judge_version": (await stage.log.cases.verdict(1)).judge_version}
    await add_cases(stage, help_desk(stage), stage.helper.id, 4, 4, 4, 4, **by)
    message = await its_digest(stage)
    assert REASON in shown(message)
    if how == "forget me":
        await go_ahead(stage, stage.ann)
    elif how == "forget the case":
        await forget(stage, stage.ann, "1")
    else:
        stage.helper.delete(answer)
    await stage.slack.until(lambda: REASON not in shown(message))
    assert "|Score 1> · helper" in shown(message)
    assert "Not fair" not in shown(message)
    assert "5 replies chosen by people. Mean *3.4*" in shown(message)


async def with_two_reasons(stage: Stage) -> Message:
    """A digest with two reasons; ann asked for the first score, ben for the second."""
    for number, reason in enumerate(REASONS, 1):
        await a_low_reply(stage, number, reason)
    message = await its_digest(stage)
    assert all(reason in shown(message) for reason in REASONS)
    return message


async def met(stage: Stage, count: int) -> None:
    """Returns once so many calls have met a fault."""
    faults = partial(stage.slack.workspace.journal.of, "fault")
    await stage.slack.until(lambda: [each.data["event"] for each in faults()].count("met") == count)


@pytest.mark.needs("privacy")
async def test_all_reasons_go_that_are_removed_from_one_post_at_the_same_time(
    stage: Stage,
) -> None:
    message = await with_two_reasons(stage)
    gate = asyncio.Event()
    stage.slack.fail("chat.update", held_until=gate, times=2)
    which = ((stage.ann, "1"), (stage.ben, "2"))
    forgetting = [asyncio.create_task(forget(stage, *each)) for each in which]
    await met(stage, 2)
    gate.set()
    await asyncio.gather(*forgetting)
    await stage.stop_bot()
    assert not any(reason in shown(message) for reason in REASONS)


@pytest.mark.needs("privacy")
async def test_a_reason_that_another_deletion_puts_back_goes_once_its_case_is_deleted(
    stage: Stage,
) -> None:
    message = await with_two_reasons(stage)
    updating = asyncio.Event()
    deleting = asyncio.Event()
    stage.slack.fail("chat.update", held_until=updating)
    second = asyncio.create_task(forget(stage, stage.ben, "2"))
    await met(stage, 1)
    stage.slack.fail("chat.delete", held_until=deleting)
    first = asyncio.create_task(forget(stage, stage.ann, "1"))
    await met(stage, 2)
    assert REASONS[0] not in shown(message)
    updating.set()
    await second
    assert REASONS[0] in shown(message)
    deleting.set()
    await first
    assert not any(reason in shown(message) for reason in REASONS)


@pytest.mark.needs("privacy")
async def test_a_cause_goes_with_the_last_of_its_cases(stage: Stage) -> None:
    for number in (1, 2):
        await a_low_reply(stage, number)
    await add_cases(stage, help_desk(stage), stage.helper.id, 1, 1, 1, justification=REASON)
    stage.model.script("too long: 1, 2, 3\ntoo short: 4, 5")
    message = await its_digest(stage)
    assert "• too long: *helper* 3\n• too short: *helper* 2" in shown(message)
    await forget(stage, stage.ann, "1")
    assert "too short" in shown(message)
    await forget(stage, stage.ann, "2")
    await stage.slack.until(lambda: "too short" not in shown(message))
    assert "• too long: *helper* 3" in shown(message)


@pytest.mark.needs("privacy")
async def test_a_post_that_the_app_may_not_read_gives_way_to_a_sentence(stage: Stage) -> None:
    await a_low_reply(stage)
    message = await its_digest(stage)
    assert REASON in shown(message)
    stage.slack.fail("conversations.replies", error="missing_scope")
    await unquote(stage.log, stage.services.client, [1])
    assert shown(message) == REMOVED


async def test_what_is_forgotten_while_slack_takes_it_goes_right_after(stage: Stage) -> None:
    await add_case(stage, help_desk(stage), stage.helper.id, 1, justification=REASON)
    gate = asyncio.Event()
    stage.slack.fail("chat.update", held_until=gate)
    posting = asyncio.create_task(its_digest(stage))
    await met(stage, 1)
    await stage.log.database.execute(update(cases).values(justification=""))
    gate.set()
    assert REASON not in shown(await posting)
    reads = stage.slack.workspace.journal.of("call")
    assert "conversations.replies" in {each.data["method"] for each in reads}


@pytest.mark.needs("privacy")
@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
async def test_a_digest_whose_answer_was_lost_loses_its_reasons_too(
    stage: Stage, method: str
) -> None:
    await a_low_reply(stage)
    stage.slack.fail(method, **LOST[0])
    message = await its_digest(stage)
    assert (REASON in shown(message)) == (method == "chat.update")
    await go_ahead(stage, stage.ann)
    await up_to_date(stage)
    assert "|Score 1> · helper" in shown(message)
    assert REASON not in shown(message)


@pytest.mark.needs("labels")
async def test_fair_and_not_fair_in_the_window_of_low_replies_answer_there(stage: Stage) -> None:
    await a_low_reply(stage)
    stage.ben.click(await its_digest(stage), ACTION_LOW_LIST)
    window = await stage.modal(stage.ben)
    await stage.slack.settled(stage.ben.click(window, ids.ACTION_FAIR))
    await stage.slack.until(lambda: "Fair ✓\nNot fair" in shown(window))
    stage.ben.click(window, ids.ACTION_NOT_FAIR)
    await stage.slack.until(lambda: stage.ben.view is not window)
    await stage.fill_in(stage.ben, {"score": "3"})
    await stage.slack.until(lambda: "Fair\nNot fair ✓" in shown(window))
    label = await stage.log.labels.get(await stage.log.cases.get(1), stage.ben.id)
    assert label == Label(3, None)
    assert stage.ben.ephemerals(CHANNEL) == []


async def test_without_stored_texts_there_is_no_reason(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(store_text="none")
    await a_low_reply(stage)
    message = await its_digest(stage)
    assert "|Score 1>" in shown(message)
    assert REASON not in shown(message)
