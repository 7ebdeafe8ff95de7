"""A link may lead anywhere; what stands in a channel is for those who are in it."""

from bot.pipeline.text import NOT_IN_BOTH, unsure_of_membership
from bot.slack import ids
from bot.slack.members import MembershipError
from pocket_slack import Message
from tests.gestures import link
from tests.stage import CHANNEL, Stage, shown

QUESTION = "What will the new price be?"
ANSWER = "Nine euros, from May on."


def ask_in(stage: Stage, name: str, person: str) -> Message:
    """The answer to a question in a private channel of this person, the helper and the bot."""
    workspace = stage.slack.workspace
    members = [workspace.user(person), stage.helper.user, workspace.bot]
    workspace.add_channel(name, members, is_private=True)
    question = stage.slack.person(person).post(name, QUESTION)
    return stage.helper.post(name, ANSWER, thread_ts=question.ts)


async def test_a_message_that_a_person_may_not_read_is_left_alone(stage: Stage) -> None:
    of_others = ask_in(stage, "leads", "ben")
    direct = stage.ben.post(stage.ben.im, ANSWER)
    own = ask_in(stage, "own", "ann")
    unsure = unsure_of_membership(MembershipError("HTTP 500"))
    for count, (url, why) in enumerate(
        [
            (link(stage, of_others), NOT_IN_BOTH),
            (link(stage, direct), NOT_IN_BOTH),
            ("https://elsewhere.slack.com/archives/C0123ABC/p1700000000000100", NOT_IN_BOTH),
            (link(stage, own), unsure),  # while Slack does not say
        ],
        1,
    ):
        if why == unsure:
            stage.slack.fail("users.conversations", status=500)
        stage.ann.command(CHANNEL, ids.COMMAND, url)
        told = await stage.told(stage.ann, count)
        assert why in told.text
        assert QUESTION not in shown(told)
        assert ANSWER not in shown(told)
    assert stage.model.requests == []
    leads = stage.slack.workspace.channel("leads").messages.values()
    assert stage.slack.workspace.bot not in [message.author for message in leads]
