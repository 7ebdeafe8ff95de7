"""The demo's assistant answers people, and nobody else."""

from collections.abc import AsyncIterator

import pytest

from bot.commands.demo import answer_people
from bot.commands.demo_past import demo_workspace
from judge.scoring.offline import rate_offline
from judge.scoring.rubric import Scale
from pocket_slack import Sandbox

CHANNEL = "help-desk"


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox(demo_workspace()) as slack:
        answer_people(slack, CHANNEL)
        yield slack


async def answer_to(slack: Sandbox, asked: str) -> str:
    ann = slack.person("ann")
    question = ann.post(CHANNEL, asked)
    await slack.until(lambda: ann.thread(CHANNEL, question.ts)[1:])
    [answer] = ann.thread(CHANNEL, question.ts)[1:]
    assert answer.author.name == "helper"
    return answer.text


async def test_what_was_asked_before_is_answered_alike(slack: Sandbox) -> None:
    assert "set Protocol to IKEv2" in await answer_to(slack, "Why does my VPN drop every ten minutes?")
    assert "git reset --soft HEAD~1" in await answer_to(slack, "COMMITTED, and not PUSHED.")


async def test_any_other_question_gets_three_good_answers_and_a_bad_one(slack: Sandbox) -> None:
    others = ("hello", "What can you do?", "How do I reset my VPN password?", "asdf qwer {zxcv}")
    one_word_in_common = "What is the company's name?"
    for asked in (*others, one_word_in_common):
        scores = [rate_offline(asked, await answer_to(slack, asked), Scale(0, 5)).score for _ in range(4)]
        assert min(scores[:3]) >= 4
        assert scores[3] <= 1


async def test_nobody_else_is_answered(slack: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    ann, helper, app = slack.person("ann"), slack.person("helper"), slack.workspace.bot
    before = by_helper(slack)
    helper.post(CHANNEL, "I am a bot.")
    ann.post(CHANNEL, f"@{app.name} score this")
    ann.post("made-up-weeks", "Is anybody here?")
    ann.post(CHANNEL, "Thanks!", thread_ts=ann.messages(CHANNEL)[0].ts)
    await answer_to(slack, "And now?")  # after all before it were looked at
    assert by_helper(slack) == before + 2
    assert caplog.messages == []


def by_helper(slack: Sandbox) -> int:
    channels = [slack.workspace.channel(name) for name in (CHANNEL, "made-up-weeks")]
    return sum(message.author.name == "helper" for channel in channels for message in channel.messages.values())
