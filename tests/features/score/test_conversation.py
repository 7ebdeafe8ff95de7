"""The turn that was asked is judged, with what was said before, and the whole reply with all its messages."""

import asyncio

from bot.domain.case import CaseStatus
from bot.slack import ids
from pocket_slack import Message
from tests.patience import ONLY_A_HANG_S
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, shown

ROOMS, BOOK = "How do I book a meeting room?", "In the calendar, under Rooms."
COFFEE, CALL = "And who do I call when the coffee machine leaks?", "Facilities, extension 12."


async def asked_twice(stage: Stage) -> tuple[Message, Message]:
    """A thread's first message and the answer to its second question."""
    parent, _ = stage.ask_and_answer(ROOMS, BOOK)
    stage.ben.post(CHANNEL, COFFEE, thread_ts=parent.ts)
    return parent, stage.helper.post(CHANNEL, CALL, thread_ts=parent.ts)


async def test_a_second_answer_is_judged_by_the_second_question(stage: Stage) -> None:
    parent, answer = await asked_twice(stage)
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    verdict = await stage.verdict(parent)
    prompt = stage.model.requests[0]["messages"][0]["content"]
    for part in (f'<turn role="Person 1">{ROOMS}</turn>', f'<turn role="the assistant">{BOOK}</turn>', CALL):
        assert part in prompt
    assert prompt.index(BOOK) < prompt.index(COFFEE) < prompt.index(CALL)
    case = await stage.log.cases.get(1)
    assert (case.question, case.question_author_id, case.messages_before) == (COFFEE, stage.ben.user.id, 2)
    assert COFFEE not in shown(verdict)  # it stands right above


async def test_a_question_further_up_is_named_with_the_messages_before_it(stage: Stage) -> None:
    pager = stage.another_app()
    parent, _ = stage.ask_and_answer(ROOMS, BOOK)
    stage.ben.post(CHANNEL, COFFEE, thread_ts=parent.ts)
    pager.post(CHANNEL, "Noted.", thread_ts=parent.ts)
    answer = stage.helper.post(CHANNEL, CALL, thread_ts=parent.ts)
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    assert "(an earlier message, and 2 messages before it)" in shown(await stage.verdict(parent))


async def test_two_messages_of_a_reply_are_one_case(stage: Stage) -> None:
    parent, first = stage.ask_and_answer(answer="Let me look that up for you...")
    last = stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, last)
    stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, first)
    verdict = await stage.verdict(parent)
    await stage.slack.until(lambda: stage.ann.ephemerals(CHANNEL) or stage.ben.ephemerals(CHANNEL))
    async with asyncio.timeout(ONLY_A_HANG_S):
        while len(found := await stage.log.cases.newest(10)) > 1:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    (case,) = found
    assert (case.message_ts, case.response, case.messages) == (first.ts, f"{first.text}\n\n{ANSWER}", 2)
    assert "2 messages" in shown(verdict)


async def test_scored_again_a_reply_is_judged_with_what_was_added(stage: Stage) -> None:
    parent = stage.ask_for_score()
    verdict = await stage.verdict(parent)
    stage.helper.post(CHANNEL, "One more thing.", thread_ts=parent.ts)
    await stage.slack.settled(stage.ann.click(verdict, ids.ACTION_DETAILS))
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, stage.ann.thread(CHANNEL, parent.ts)[-1])
    await stage.reaches(2, CaseStatus.DELIVERED)
    case = await stage.log.cases.get(2)
    assert (case.response, case.attempt, case.excluded) == (f"{ANSWER}\n\nOne more thing.", 2, None)


async def test_the_text_that_a_shortcut_brings_is_judged_where_the_thread_cannot_be_read(stage: Stage) -> None:
    _, answer = stage.ask_and_answer()
    stage.slack.fail("conversations.replies", error="channel_not_found")
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.modal(stage.ann)
    await stage.slack.settled(stage.ann.submit({ids.BLOCK_QUESTION: QUESTION}))
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert (case.question, case.response, case.messages) == (QUESTION, ANSWER, 1)
