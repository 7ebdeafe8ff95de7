"""The demo's assistant answers people, and nobody else."""

import pytest

from bot.commands.demo import answer_people
from bot.commands.demo_past import demo_workspace
from judge.scoring.offline import rate_offline
from judge.scoring.rubric import Scale
from pocket_slack import ManualClock, Sandbox
from pocket_slack.writers import PAUSE_S

CHANNEL = "help-desk"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_768_641_060.0)


@pytest.fixture
def slack(clock: ManualClock) -> Sandbox:
    slack = Sandbox(demo_workspace(clock))
    answer_people(slack, CHANNEL)
    return slack


def answer_to(slack: Sandbox, clock: ManualClock, asked: str) -> str:
    ann = slack.person("ann")
    question = ann.post(CHANNEL, asked)
    clock.advance(2 * PAUSE_S)
    answers = ann.thread(CHANNEL, question.ts)[1:]
    assert {answer.author.name for answer in answers} == {"helper"}
    return "\n\n".join(answer.text for answer in answers)


def test_what_was_asked_before_is_answered_alike(slack: Sandbox, clock: ManualClock) -> None:
    assert "set Protocol to IKEv2" in answer_to(slack, clock, "Why does my VPN drop every ten minutes?")
    assert "git reset --soft HEAD~1" in answer_to(slack, clock, "COMMITTED, and not PUSHED.")


def test_an_answer_in_parts_comes_a_message_at_a_time(slack: Sandbox, clock: ManualClock) -> None:
    ann = slack.person("ann")
    question = ann.post(CHANNEL, "How do I take back a git commit, and keep my changes?")
    for come in range(1, 4):
        clock.advance(PAUSE_S if come > 1 else 0)
        assert len(ann.thread(CHANNEL, question.ts)) == 1 + come
    look_up, *answer = (message.text for message in ann.thread(CHANNEL, question.ts)[1:])
    assert look_up == "Let me look that up for you..."
    assert [begins in said for begins, said in zip(("Run `git", "Do this only"), answer, strict=True)] == [True, True]


def test_any_other_question_gets_three_good_answers_and_a_bad_one(slack: Sandbox, clock: ManualClock) -> None:
    others = ("hello", "What can you do?", "How do I reset my VPN password?", "asdf qwer {zxcv}")
    one_word_in_common = "What is the company's name?"
    for asked in (*others, one_word_in_common):
        scores = [rate_offline(asked, answer_to(slack, clock, asked), Scale(0, 5)).score for _ in range(4)]
        assert min(scores[:3]) >= 4
        assert scores[3] <= 1


def test_nobody_else_is_answered(slack: Sandbox, clock: ManualClock, caplog: pytest.LogCaptureFixture) -> None:
    ann, helper, app = slack.person("ann"), slack.person("helper"), slack.workspace.bot
    before = by_helper(slack)
    helper.post(CHANNEL, "I am a bot.")
    ann.post(CHANNEL, f"@{app.name} score this")
    ann.post("made-up-weeks", "Is anybody here?")
    ann.post(CHANNEL, "Thanks!", thread_ts=ann.messages(CHANNEL)[0].ts)
    answer_to(slack, clock, "And now?")  # after all before it were looked at
    assert by_helper(slack) == before + 2
    assert caplog.messages == []


def by_helper(slack: Sandbox) -> int:
    channels = [slack.workspace.channel(name) for name in (CHANNEL, "made-up-weeks")]
    return sum(message.author.name == "helper" for channel in channels for message in channel.messages.values())
