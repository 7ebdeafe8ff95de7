"""The demo's assistant answers people, and nobody else."""

import pytest

from bot.commands.demo import answer_people, show
from bot.commands.demo_past import CHANNEL, demo_workspace
from bot.errors import BotError
from pocket_slack import ManualClock, Sandbox
from pocket_slack.writers import PAUSE_S


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_768_641_060.0)


@pytest.fixture
def slack(clock: ManualClock) -> Sandbox:
    slack = Sandbox(demo_workspace(clock))
    answer_people(slack)
    return slack


def answer_to(slack: Sandbox, clock: ManualClock, asked: str, follow_up: str = "") -> str:
    ann = slack.person("ann")
    question = ann.post(CHANNEL, asked)
    clock.advance(2 * PAUSE_S)
    known = len(ann.thread(CHANNEL, question.ts)) if follow_up else 0
    if follow_up:
        ann.post(CHANNEL, follow_up, thread_ts=question.ts)
        assert len(ann.thread(CHANNEL, question.ts)) == 1 + known  # the question goes out first
        clock.advance(0)
    answers = ann.thread(CHANNEL, question.ts)[1 + known :]
    assert {answer.author.name for answer in answers} <= {"helper"}
    return "\n\n".join(answer.text for answer in answers)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Why does my VPN keep dropping?", "set Protocol to IKEv2"),
        ("COMMITTED, and not PUSHED.", "git reset --soft HEAD~1"),
        ("Which vacation days count?", "Is there anything else that I can do?"),
        ("What is the company's name?", "Ask me why the VPN drops"),
    ],
)
def test_questions_are_answered_by_the_words_that_they_have_in_common(
    slack: Sandbox, clock: ManualClock, asked: str, said: str
) -> None:
    assert said in answer_to(slack, clock, asked)


def test_what_is_asked_in_the_thread_of_one_question_is_answered_wrongly(
    slack: Sandbox, clock: ManualClock
) -> None:
    assert "push again" in answer_to(
        slack, clock, "How do I take back a commit?", "And after a push?"
    )
    assert (
        answer_to(slack, clock, "Why does my VPN drop every ten minutes?", "And after the update?")
        == ""
    )


def test_an_answer_in_parts_comes_a_message_at_a_time(slack: Sandbox, clock: ManualClock) -> None:
    ann = slack.person("ann")
    question = ann.post(CHANNEL, "How do I take back a git commit, and keep my changes?")
    for come in range(1, 4):
        clock.advance(PAUSE_S if come > 1 else 0)
        assert len(ann.thread(CHANNEL, question.ts)) == 1 + come
    look_up, *answer = (message.text for message in ann.thread(CHANNEL, question.ts)[1:])
    assert look_up == "Let me look that up for you..."
    assert len(answer) == 2


def test_nobody_else_is_answered(
    slack: Sandbox, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    ann = slack.person("ann")
    helper = slack.person("helper")
    app = slack.workspace.bot
    before = by_helper(slack)
    helper.post(CHANNEL, "I am a bot.")
    ann.post(CHANNEL, f"@{app.name} score this")
    ann.post("made-up-weeks", "Is anybody here?")
    answer_to(slack, clock, "And now?")  # after all before it were looked at
    assert by_helper(slack) == before + 2
    assert caplog.messages == []


def by_helper(slack: Sandbox) -> int:
    channels = [slack.workspace.channel(name) for name in (CHANNEL, "made-up-weeks")]
    return sum(
        message.author.name == "helper"
        for channel in channels
        for message in channel.messages.values()
    )


async def test_a_taken_port_is_one_sentence() -> None:
    async with Sandbox(demo_workspace()) as first:
        with pytest.raises(BotError, match=f"port {first.port} is taken"):
            await show(first.port, opens=False)
