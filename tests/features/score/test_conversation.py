"""The turn that was asked is judged, with what was said before, and the whole reply with all its
messages.
"""

from itertools import takewhile

from bot.domain.case import CaseStatus
from bot.slack import ids
from pocket_slack import Message
from tests.cases import newest
from tests.gestures import scored
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, shown

ROOMS, BOOK = "How do I book a meeting room?", "In the calendar, under Rooms."
COFFEE, CALL = "And who do I call when the coffee machine leaks?", "Facilities, extension 12."


async def asked_twice(stage: Stage) -> tuple[Message, Message]:
    """A thread's first message and the answer to its second question."""
    parent, _ = stage.ask_and_answer(ROOMS, BOOK)
    stage.ben.post(CHANNEL, COFFEE, thread_ts=parent.ts)
    return parent, stage.helper.post(CHANNEL, CALL, thread_ts=parent.ts)


async def test_a_second_answer_is_judged_by_the_second_question_after_one_read_of_slack(
    stage: Stage,
) -> None:
    parent, answer = await asked_twice(stage)
    journal = stage.workspace.journal
    before = len(journal.of("call"))
    await stage.score(answer)
    verdict = await stage.verdict(parent)
    prompt = stage.model.requests[0]["messages"][0]["content"]
    assert f'<turn role="the assistant">{BOOK}</turn>' in prompt
    assert prompt.index(BOOK) < prompt.index(COFFEE) < prompt.index(CALL)
    case = await stage.log.cases.get(1)
    assert (case.question, case.question_author_id, case.messages_before) == (
        COFFEE,
        stage.ben.user.id,
        2,
    )
    assert COFFEE not in shown(verdict)  # it stands right above
    calls = [call.data["method"] for call in journal.of("call")[before:]]
    before_the_post = [*takewhile(lambda method: not method.startswith("chat."), calls)]
    assert before_the_post == ["users.info", "conversations.replies"]


async def test_a_reply_that_was_also_sent_to_the_channel_answers_its_thread_even_if_a_link_lacks_that(
    stage: Stage,
) -> None:
    parent = stage.ann.post(CHANNEL, COFFEE)
    stage.ben.post(CHANNEL, "Who has the key?")
    answer = stage.helper.post(CHANNEL, CALL, thread_ts=parent.ts, is_broadcast=True)
    found = await stage.services.lookup.answered(answer.channel_id, answer.ts, None)
    assert (found and found.question and found.question.text) == COFFEE


async def test_requests_for_two_messages_of_a_reply_are_one_case(stage: Stage) -> None:
    async def is_one() -> bool:
        return await stage.cases() == 1

    parent, first = stage.ask_and_answer(answer="Let me look that up for you...")
    second, third = (
        stage.helper.post(CHANNEL, text, thread_ts=parent.ts) for text in (ANSWER, "Then push.")
    )
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, second)
    stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, third)
    verdict = await stage.verdict(parent)
    await stage.slack.until(lambda: stage.ann.ephemerals(CHANNEL) or stage.ben.ephemerals(CHANNEL))
    await stage.eventually(is_one)
    (case,) = await newest(stage.log, 10)
    assert (case.message_ts, case.response) == (first.ts, f"{first.text}\n\n{ANSWER}\n\nThen push.")
    assert "3 messages" in shown(verdict)
    assert len(stage.model.requests) == 1


async def test_a_reply_that_was_continued_is_scored_again_for_any_person(stage: Stage) -> None:
    answer, verdict = await scored(stage)
    stage.helper.post(CHANNEL, "One more thing.", thread_ts=answer.thread_ts)
    await stage.score(answer, stage.ben)
    case = await stage.reaches(2, CaseStatus.DELIVERED)
    assert (case.response, case.attempt, case.excluded) == (f"{ANSWER}\n\nOne more thing.", 2, None)
    assert await stage.log.cases.is_replaced(1)
    assert "replaced by" in shown(verdict)
    assert "question changed" not in shown(verdict)


async def test_a_reply_that_is_still_being_written_is_scored_once_it_is_complete(
    stage: Stage,
) -> None:
    parent = stage.ann.post(CHANNEL, QUESTION)
    answer = stage.helper.stream(CHANNEL, "Run git reset", parent.ts)
    await stage.score(answer)
    calls = stage.workspace.journal.of
    await stage.slack.until(
        lambda: any(each.data["method"] == "conversations.replies" for each in calls("call"))
    )
    stage.helper.append(answer, " --soft HEAD~1.")
    stage.helper.stop(answer)
    assert (await stage.reaches(1, CaseStatus.DELIVERED)).response == "Run git reset --soft HEAD~1."
    assert len(stage.model.requests) == 1
