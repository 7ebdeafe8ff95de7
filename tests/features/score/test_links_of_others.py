"""A link may lead anywhere; what stands in a channel is for those who are in it."""

from bot.pipeline.text import NOT_IN_BOTH, unsure_of_membership
from bot.slack.members import MembershipError
from pocket_slack import Message
from tests.gestures import link, say
from tests.stage import Stage

QUESTION = "What will the new price be?"
ANSWER = "Nine euros, from May on."


def ask_in(stage: Stage, name: str, person: str) -> Message:
    """The answer to a question in a private channel of this person, the helper and the bot."""
    workspace = stage.workspace
    members = [workspace.user(person), stage.helper.user, workspace.bot]
    workspace.add_channel(name, members, is_private=True)
    question = stage.slack.person(person).post(name, QUESTION)
    return stage.helper.post(name, ANSWER, thread_ts=question.ts)


async def test_a_message_that_a_person_may_not_read_is_left_alone(stage: Stage) -> None:
    of_others = ask_in(stage, "leads", "ben")
    own = ask_in(stage, "own", "ann")
    for url in (
        link(stage, of_others),
        link(stage, stage.ben.post(stage.ben.im, ANSWER)),
        "https://elsewhere.slack.com/archives/C0123ABC/p1700000000000100",
    ):
        assert (await say(stage, url)).text == NOT_IN_BOTH
    stage.slack.fail("users.conversations", status=500)
    unsure = unsure_of_membership(MembershipError("HTTP 500"))
    assert (await say(stage, link(stage, own))).text == unsure
    assert (await stage.cases(), stage.model.requests) == (0, [])
