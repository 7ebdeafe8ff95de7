"""A watch draws replies, each with all its messages."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from bot.domain.case import CaseStatus, Exclusion
from bot.domain.watch import ReplyOutcome
from bot.store.schema import replies
from pocket_slack import Message
from tests.features.watch.watching import (
    add_other,
    end,
    outcomes,
    say,
    scored,
    seen,
    take_finished,
)
from tests.gestures import up_to_date
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage

WAIT = "Let me look that up for you..."
LOWER = "score: 2\nIt goes on and on."
SOON = timedelta(minutes=5)


@pytest.fixture
async def stage(stage: Stage) -> Stage:
    await say(stage, "@helper all")
    return stage


async def noted(stage: Stage, message: Message, *, is_first: bool = False) -> None:
    """Returns once the store has a message as the newest one of its reply, or as its first."""
    column = replies.c.ts if is_first else replies.c.last_ts
    its = select(replies.c.ts).where(column == message.ts)
    await stage.eventually(lambda: stage.log.database.values(its))


async def test_what_is_said_in_advance_is_part_of_the_reply_and_may_be_deleted(
    stage: Stage,
) -> None:
    parent, first = stage.ask_and_answer(answer=WAIT)
    answer = stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    await noted(stage, answer)
    stage.helper.delete(first)
    await take_finished(stage)
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert (case.message_ts, case.response) == (answer.ts, ANSWER)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


async def test_the_answer_may_come_after_words_in_advance_were_found_deleted(stage: Stage) -> None:
    parent, first = stage.ask_and_answer(answer=WAIT)
    await seen(stage, 1)
    stage.helper.delete(first)
    await take_finished(stage)
    assert await outcomes(stage) == {ReplyOutcome.DELETED: 1}
    await noted(stage, stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts))
    await take_finished(stage, SOON)
    assert (await stage.reaches(1, CaseStatus.DELIVERED)).response == ANSWER
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


async def test_words_in_advance_that_become_the_answer_are_scored_once_more(stage: Stage) -> None:
    _, first, _ = await scored(stage, answer=WAIT)
    stage.helper.edit(first, ANSWER)
    waiting = select(replies.c.ts).where(replies.c.outcome.is_(None))
    await stage.eventually(lambda: stage.log.database.values(waiting))
    await take_finished(stage, SOON)
    second = await stage.reaches(2, CaseStatus.DELIVERED)
    assert second.response == ANSWER
    assert (await stage.log.cases.get(1)).excluded is Exclusion.CONTINUED
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


async def test_a_message_by_somebody_else_ends_a_reply(stage: Stage) -> None:
    other = add_other(stage)
    await say(stage, "@other all")
    parent, _ = stage.ask_and_answer()
    stage.ben.post(CHANNEL, "And then?", thread_ts=parent.ts)
    stage.helper.post(CHANNEL, "Then push.", thread_ts=parent.ts)
    other.post(CHANNEL, "Or git revert.", thread_ts=parent.ts)
    await noted(
        stage, stage.helper.post(CHANNEL, "Better not.", thread_ts=parent.ts), is_first=True
    )
    await take_finished(stage)
    cases = [await stage.reaches(number, CaseStatus.DELIVERED) for number in (1, 2, 3, 4)]
    assert {case.response for case in cases} == {
        ANSWER,
        "Then push.",
        "Or git revert.",
        "Better not.",
    }
    assert {case.question for case in cases} == {QUESTION, "And then?"}


async def test_what_is_added_soon_is_scored_once_more_and_then_marked(stage: Stage) -> None:
    parent, _, _ = await scored(stage)
    for number in (1, 2):
        await noted(stage, stage.helper.post(CHANNEL, f"Addition {number}.", thread_ts=parent.ts))
        await take_finished(stage, SOON)
    second = await stage.reaches(2, CaseStatus.DELIVERED)
    first = await stage.log.cases.get(1)
    assert second.response == f"{ANSWER}\n\nAddition 1."
    assert (first.excluded, first.score, second.excluded) == (Exclusion.CONTINUED, 4, None)
    assert (first.edited_at, bool(second.edited_at)) == (None, True)
    assert await stage.log.cases.get(3) is None
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


async def test_a_scored_reply_whose_outcome_a_kill_has_lost_is_not_marked(stage: Stage) -> None:
    await scored(stage)
    for hours in (1, 30):
        await stage.log.database.execute(update(replies).values(outcome=None))
        await take_finished(stage, timedelta(hours=hours))
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}
    assert (await stage.log.cases.get(1)).edited_at is None
    assert len(stage.model.requests) == 1


async def gone_on(
    stage: Stage, shows: str = "nothing", later: timedelta = SOON, then: str = LOWER
) -> None:
    """A scored reply has gone on since, and was looked at so much later, when the judge says
    `then`.
    """
    await say(stage, f"@helper {shows}")
    parent, _, _ = await scored(stage)
    stage.model.script(then)
    await noted(stage, stage.helper.post(CHANNEL, "One more thing.", thread_ts=parent.ts))
    await take_finished(stage, later)


@pytest.mark.parametrize("hours", [2, 30])
async def test_a_scored_reply_that_goes_on_much_later_stays_scored_and_is_marked(
    stage: Stage, hours: int
) -> None:
    await gone_on(stage, later=timedelta(hours=hours))
    case = await stage.log.cases.get(1)
    assert (bool(case.edited_at), case.excluded, len(stage.model.requests)) == (True, None, 1)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


async def test_words_in_advance_may_be_scored_and_deleted_before_the_answer(stage: Stage) -> None:
    parent, first, _ = await scored(stage, answer=WAIT)
    await noted(stage, stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts))
    stage.helper.delete(first)
    await take_finished(stage, timedelta(minutes=2))
    second = await stage.reaches(2, CaseStatus.DELIVERED)
    assert (second.response, second.excluded) == (ANSWER, None)
    assert (await stage.log.cases.get(1)).excluded is Exclusion.CONTINUED
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


async def test_a_reply_that_went_on_shows_its_last_score_alone(stage: Stage) -> None:
    await gone_on(stage, "reaction")
    await stage.reaches(2, CaseStatus.DELIVERED)
    messages = stage.slack.workspace.channel(CHANNEL).messages.values()
    shown = [each.reactions for each in messages if each.reactions]
    assert shown == [{"two": [stage.slack.workspace.bot.id]}]


async def test_the_first_verdict_of_a_reply_that_went_on_is_folded(stage: Stage) -> None:
    await gone_on(stage, "verdict")
    second = await stage.reaches(2, CaseStatus.DELIVERED)
    stage.ann.edit(stage.ann.thread(CHANNEL, second.parent_ts)[0], "How?")
    assert (await up_to_date(stage)).edited_at
    assert (await up_to_date(stage, 2)).edited_at
    first_verdict, second_verdict = stage.ours()
    assert "replaced by" in first_verdict.text
    assert second_verdict.text.startswith("Score 2 of 5")


async def test_where_the_second_verdict_has_no_score_the_first_counts(stage: Stage) -> None:
    await gone_on(stage, then="I would rather not say.")
    await stage.reaches(2, CaseStatus.DELIVERED)
    its = [await stage.log.cases.get(number) for number in (1, 2)]
    assert [case.excluded for case in its] == [None, Exclusion.CONTINUED]


async def test_what_goes_on_with_a_reply_from_before_the_watch_counts_nowhere(stage: Stage) -> None:
    await end(stage, "helper")
    parent, _ = stage.ask_and_answer(answer=WAIT)
    await say(stage, "@helper all")
    stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    await seen(stage, 1)
    await take_finished(stage)
    assert await outcomes(stage) == {ReplyOutcome.PART: 1}
    assert "Last 7 days: 0 seen" in await say(stage, "")
