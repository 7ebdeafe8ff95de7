"""A link may lead anywhere; what stands in a channel is for those who are in it."""

from bot.pipeline.text import NOT_IN_BOTH, unsure_of_link
from bot.slack import ids
from bot.slack.members import MembershipError
from pocket_slack import Channel, Message
from tests.stage import CHANNEL, Stage, shown

QUESTION = "What will the new price be?"
ANSWER = "Nine euros, from May on."


def ask_in(stage: Stage, *names: str) -> tuple[Channel, Message, Message]:
    """A private channel of these people and the bot, with a question and its answer."""
    workspace = stage.slack.workspace
    people = [workspace.user(name) for name in names]
    channel = workspace.add_channel(
        "leads", [*people, stage.helper.user, workspace.bot], is_private=True
    )
    question = stage.slack.person(names[0]).post("leads", QUESTION)
    return channel, question, stage.helper.post("leads", ANSWER, thread_ts=question.ts)


def score_link(stage: Stage, message: Message) -> None:
    link = stage.slack.workspace.permalink(message.channel_id, message.ts, message.thread_ts)
    stage.ann.command(CHANNEL, ids.COMMAND, link)


async def refused(stage: Stage, message: Message, words: str) -> None:
    score_link(stage, message)
    told = await stage.told(stage.ann)
    assert words in told.text
    assert QUESTION not in shown(told)
    assert ANSWER not in shown(told)


async def test_a_message_of_a_channel_of_others_is_left_alone(stage: Stage) -> None:
    channel, _, answer = ask_in(stage, "ben")
    await refused(stage, answer, NOT_IN_BOTH)
    assert stage.model.requests == []
    assert [
        message
        for message in channel.messages.values()
        if message.author is stage.slack.workspace.bot
    ] == []


async def test_messages_between_the_bot_and_another_person_are_left_alone(stage: Stage) -> None:
    await refused(stage, stage.ben.post(stage.ben.im, ANSWER), NOT_IN_BOTH)


async def test_where_slack_does_not_say_the_message_is_left_alone(stage: Stage) -> None:
    _, _, answer = ask_in(stage, "ann")
    stage.slack.fail("users.conversations", status=500)
    await refused(stage, answer, unsure_of_link(MembershipError("HTTP 500")))
