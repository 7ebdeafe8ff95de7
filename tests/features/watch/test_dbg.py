"""A watch draws replies, each with all its messages."""

import asyncio
from datetime import timedelta

from sqlalchemy import select

from bot.domain.case import CaseStatus, Exclusion
from bot.domain.watch import ReplyOutcome
from bot.store.schema import replies
from pocket_slack import Message
from tests.features.watch.watching import outcomes, say, seen, take_finished
from tests.patience import ONLY_A_HANG_S
from tests.stage import ANSWER, CHANNEL, Stage

WAIT, LATER = "Let me look that up for you...", timedelta(hours=2)


async def noted(stage: Stage, message: Message) -> None:
    """Returns once the log has a message as the newest one of its reply."""
    async with asyncio.timeout(ONLY_A_HANG_S):
        its = select(replies.c.ts).where(replies.c.last_ts == message.ts)
        n = 0
        while not await stage.log.database.values(its):
            await asyncio.sleep(0.01)
            n += 1
            if n > 200:
                raise RuntimeError(
                    [dict(r._mapping) for r in await stage.log.database.all(select(replies))] + [message.ts]
                )


async def test_what_is_said_in_advance_and_the_answer_are_one_reply(stage: Stage) -> None:
    await say(stage, "@helper all")
    parent, first = stage.ask_and_answer(answer=WAIT)
    await noted(stage, stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts))
    await take_finished(stage)
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert (case.message_ts, case.response) == (first.ts, f"{WAIT}\n\n{ANSWER}")
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


async def test_what_was_said_in_advance_may_be_deleted(stage: Stage) -> None:
    await say(stage, "@helper all")
    parent, first = stage.ask_and_answer(answer=WAIT)
    answer = stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    await noted(stage, answer)
    stage.helper.delete(first)
    await take_finished(stage)
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert (case.message_ts, case.response) == (answer.ts, ANSWER)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


async def test_a_message_by_somebody_else_ends_a_reply(stage: Stage) -> None:
    await say(stage, "@helper all")
    parent, _ = stage.ask_and_answer()
    stage.ben.post(CHANNEL, "And then?", thread_ts=parent.ts)
    stage.helper.post(CHANNEL, "Then push.", thread_ts=parent.ts)
    await seen(stage, 2)
    await take_finished(stage)
    cases = [await stage.reaches(number, CaseStatus.DELIVERED) for number in (1, 2)]
    assert {(case.question, case.response) for case in cases} >= {("And then?", "Then push.")}
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 2}


async def test_what_is_added_soon_is_scored_once_more_and_later_marked(stage: Stage) -> None:
    await say(stage, "@helper all")
    parent, _ = stage.ask_and_answer()
    await seen(stage, 1)
    await take_finished(stage)
    await stage.reaches(1, CaseStatus.DELIVERED)
    for number in (1, 2):
        await noted(stage, stage.helper.post(CHANNEL, f"Addition {number}.", thread_ts=parent.ts))
        await take_finished(stage, LATER if number == 2 else timedelta(minutes=5))
    second = await stage.reaches(2, CaseStatus.DELIVERED)
    first = await stage.log.cases.get(1)
    assert second.response == f"{ANSWER}\n\nAddition 1."
    assert (first.excluded, first.score, second.excluded) == (Exclusion.CONTINUED, 4, None)
    assert (await stage.log.cases.get(1)).edited_at
    assert await stage.log.cases.get(3) is None
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}
