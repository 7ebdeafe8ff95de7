"""A mention or a direct message: "score this" in a thread and in a channel, a line of help for
anything else.
"""

from typing import Any

from bot.domain.case import CaseStatus
from bot.features.score.command import NOTHING_ABOVE, SAY, SAY_DIRECTLY
from bot.features.score.events import is_mention
from bot.slack import ids
from pocket_slack import Delivery, Person
from tests.cases import newest
from tests.gestures import events
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, buttons, is_verdict, shown
from tests.tables import each

REQUEST = "@Slack Judge score this"


def last_event(stage: Stage, words: str = "") -> Delivery:
    """The last event with these words in it."""
    found = [
        event.data for event in events(stage) if words in event.data["payload"]["event"]["text"]
    ]
    return stage.workspace.deliveries.find(found[-1]["envelope_id"])


async def said_by(stage: Stage, person: Person, text: str, **place: Any) -> str:
    """What a person is told who says this to the app."""
    count = len(person.ephemerals(CHANNEL)) + 1
    person.post(CHANNEL, text, **place)
    return (await stage.told(person, count)).text


async def answered_last(stage: Stage) -> None:
    """Returns once a later word to the app is answered, and so whatever came before it."""
    count = len(stage.ben.ephemerals(CHANNEL)) + 1
    stage.ben.post(CHANNEL, "@Slack Judge hello")
    await stage.told(stage.ben, count)


async def test_the_words_may_stand_in_a_sentence_and_mean_the_message_above_it(
    stage: Stage,
) -> None:
    parent, answer = stage.ask_and_answer()
    stage.ann.post(CHANNEL, "please SCORE  this, @Slack Judge!", thread_ts=parent.ts)
    # Before the app has looked:
    stage.helper.post(CHANNEL, "Or git revert HEAD.", thread_ts=parent.ts)
    assert is_verdict(await stage.verdict(parent))
    assert (await stage.log.cases.get(1)).message_ts == answer.ts


async def test_neither_our_verdict_nor_what_is_said_to_the_app_is_the_message_above(
    stage: Stage,
) -> None:
    parent, answer = stage.ask_and_answer()
    await said_by(stage, stage.ben, "@Slack Judge rate it please", thread_ts=parent.ts)
    stage.ann.post(CHANNEL, REQUEST, thread_ts=parent.ts)
    await stage.verdict(parent)
    assert (await said_by(stage, stage.ben, REQUEST, thread_ts=parent.ts)).startswith(
        "Scored before: *4 of 5*"
    )
    assert stage.ben.ephemerals(CHANNEL)[-1].thread_ts == parent.ts
    assert [case.message_ts for case in await newest(stage.log, 9)] == [answer.ts]


async def test_in_the_channel_the_last_message_by_somebody_else_is_scored_in_its_thread(
    stage: Stage,
) -> None:
    assert await said_by(stage, stage.ann, REQUEST) == NOTHING_ABOVE
    assert await stage.cases() == 0
    stage.ann.post(CHANNEL, QUESTION)
    answer = stage.helper.post(CHANNEL, ANSWER)
    stage.ann.post(CHANNEL, "Hm, is that so?")
    stage.ann.post(CHANNEL, REQUEST)
    await stage.verdict(answer)
    case = await stage.log.cases.get(1)
    assert (case.message_ts, case.parent_ts, case.question) == (answer.ts, None, QUESTION)


async def test_a_request_that_comes_twice_is_one_case_and_one_answer(stage: Stage) -> None:
    parent, _ = stage.ask_and_answer()
    stage.ann.post(CHANNEL, REQUEST, thread_ts=parent.ts)
    await stage.verdict(parent)
    acks = stage.workspace.journal.of
    stage.workspace.deliveries.redeliver(last_event(stage))
    await stage.slack.until(lambda: acks("ack")[-1].data.get("ignored") == "repeated")
    await answered_last(stage)
    assert (await stage.cases(), len(stage.ours())) == (1, 1)
    assert stage.ann.ephemerals(CHANNEL) == []


async def test_while_slack_cannot_be_read_the_event_is_left_to_come_again(stage: Stage) -> None:
    parent, _ = stage.ask_and_answer()
    stage.slack.fail("conversations.replies", error="internal_error")
    stage.ann.post(CHANNEL, REQUEST, thread_ts=parent.ts)
    await stage.slack.until(lambda: stage.workspace.journal.of("call"))
    await answered_last(stage)
    assert await stage.cases() == 0
    stage.workspace.deliveries.redeliver(last_event(stage, "score this"))
    await stage.verdict(parent)


BY_ANN = {"type": "app_mention", "channel_type": "channel", "user": "U-ann", "ts": "1.1"}
DIRECT = BY_ANN | {"type": "message", "channel_type": "im"}


@each(
    ("event", "is_said"),
    [
        (BY_ANN, True),
        (BY_ANN | {"subtype": "thread_broadcast"}, True),
        (DIRECT | {"subtype": "file_share"}, True),
        (BY_ANN | {"type": "message"}, False),
        (BY_ANN | {"edited": {"user": "U-ann", "ts": "2.2"}}, False),
        (BY_ANN | {"bot_id": "B-other"}, False),
        (BY_ANN | {"user": "U-us"}, False),
        (DIRECT | {"subtype": "message_changed"}, False),
        (DIRECT | {"user": "USLACKBOT"}, False),
    ],
)
def test_only_what_a_person_says_now_is_answered(event: dict[str, Any], is_said: bool) -> None:
    assert is_mention({"event": event}, {"U-us", "B-us"}) is is_said


async def test_any_other_mention_gets_one_line_of_help_where_it_stands(stage: Stage) -> None:
    parent, _ = stage.ask_and_answer()
    assert await said_by(stage, stage.ann, "@Slack Judge is it a | b?", thread_ts=parent.ts) == SAY
    told = stage.ann.ephemerals(CHANNEL)[-1]
    assert told.thread_ts == parent.ts
    assert buttons(told) == [ids.ACTION_OPEN_WINDOW, ids.ACTION_RECENT_NEWEST, ids.ACTION_HELP]
    assert stage.ours() == []


async def test_in_direct_messages_the_command_opens_the_window_and_texts_are_answered_with_it(
    stage: Stage,
) -> None:
    im = stage.ann.im
    stage.ann.command(im, ids.COMMAND)
    assert "Only you will see the verdict, in direct messages." in shown(
        await stage.modal(stage.ann)
    )
    await stage.fill_in(stage.ann, {ids.BLOCK_QUESTION: QUESTION, ids.BLOCK_RESPONSE: ANSWER})
    await stage.reaches(1, CaseStatus.DELIVERED)
    (card,) = stage.ann.messages(im)
    assert [is_verdict(each) for each in stage.ann.thread(im, card.ts)] == [False, True]
    stage.ann.post(im, "a|b")
    assert (await stage.told(stage.ann, 1, im)).text == SAY_DIRECTLY
    assert await stage.cases() == 1
