"""*Wrong question?*: another message of the thread is chosen as the question, or one is typed."""

from bot.domain.case import CaseStatus, QuestionSource
from bot.slack import ids
from pocket_slack import Message, Person, View
from tests.gestures import up_to_date
from tests.stage import CHANNEL, Stage, StageFactory, shown

ROOMS = "How do I book a meeting room?"
BOOK = "In the calendar, under Rooms."
COFFEE = "And who do I call when the coffee machine leaks?"
CALL = "Facilities, extension 12."


async def scored(stage: Stage, *more: str) -> tuple[Message, Message]:
    """A thread's first message and the verdict on the last answer in it; ben asks what that
    answers.
    """
    parent, _ = stage.ask_and_answer(ROOMS, BOOK)
    for text in (*more, COFFEE):
        stage.ben.post(CHANNEL, text, thread_ts=parent.ts)
    stage.ann.shortcut(
        ids.SHORTCUT_SCORE_REPLY, stage.helper.post(CHANNEL, CALL, thread_ts=parent.ts)
    )
    return parent, await stage.verdict(parent)


async def opened(stage: Stage, person: Person, verdict: Message) -> View:
    await stage.slack.settled(person.click(verdict, ids.ACTION_WRONG_QUESTION))
    return await stage.modal(person)


def offered(view: View) -> dict[str, str]:
    """The messages that can be chosen, by ts."""
    menus = [
        block["element"]
        for block in view.body["blocks"]
        if block.get("block_id") == ids.BLOCK_CHOSEN
    ]
    return {option["value"]: option["text"]["text"] for menu in menus for option in menu["options"]}


async def test_a_chosen_message_is_judged_as_if_it_were_the_last_one(stage: Stage) -> None:
    parent, verdict = await scored(stage, "Thanks!")
    thanks = stage.ann.thread(CHANNEL, parent.ts)[2]
    view = await opened(stage, stage.ann, verdict)
    assert list(offered(view).items()) == [
        (thanks.ts, "Asker: Thanks!"),
        (parent.ts, f"Person 1: {ROOMS}"),
    ]
    await stage.slack.settled(stage.ann.submit({ids.BLOCK_CHOSEN: parent.ts}))
    second = await stage.verdict(parent, 2)
    assert "Not counted" not in shown(second)
    case = await stage.log.cases.get(2)
    assert (case.question, case.question_source, case.messages_before) == (
        ROOMS,
        QuestionSource.CHOSEN,
        0,
    )
    prompt = stage.model.requests[-1]["messages"][0]["content"]
    assert CALL in prompt
    assert COFFEE not in prompt


async def test_one_of_the_two_is_needed_and_what_is_typed_counts(stage: Stage) -> None:
    parent, verdict = await scored(stage)
    view = await opened(stage, stage.ann, verdict)
    await stage.slack.settled(stage.ann.submit())
    assert view.errors[ids.BLOCK_QUESTION].startswith("Choose a message, or type the question.")
    await stage.slack.settled(
        stage.ann.submit({ids.BLOCK_CHOSEN: parent.ts, ids.BLOCK_QUESTION: "Whom do I call?"})
    )
    case = await stage.reaches(2, CaseStatus.DELIVERED)
    assert (case.question, case.question_source, case.question_ts) == (
        "Whom do I call?",
        QuestionSource.TYPED,
        None,
    )


async def test_a_message_that_was_deleted_meanwhile_cannot_be_chosen(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage(events=("message.channels",))
    parent, verdict = await scored(stage)
    view = await opened(stage, stage.ann, verdict)
    stage.ann.delete(parent)
    await up_to_date(stage)
    await stage.slack.settled(stage.ann.submit({ids.BLOCK_CHOSEN: parent.ts}))
    gone = "A message that was deleted meanwhile cannot be chosen."
    assert gone in view.errors[ids.BLOCK_QUESTION]
