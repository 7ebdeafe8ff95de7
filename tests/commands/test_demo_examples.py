"""The demo's verdicts that were written by hand: each says so, and none of them is a verdict to the app."""

import pytest

from bot.commands.demo_past import CHANNEL, EXAMPLES, demo_workspace, post_offline_note
from judge import load_rubric
from judge.scoring.offline import rate_offline
from pocket_slack import ManualClock, Message, Person, Workspace
from tests.texts import read

SAID = "Example: written by hand, not by a model."


@pytest.fixture
def workspace() -> Workspace:
    return demo_workspace(ManualClock(1_768_641_060.0))


def examples(workspace: Workspace) -> list[Message]:
    return [each for each in workspace.channel(CHANNEL).messages.values() if each.author == workspace.bot]


def test_each_says_first_that_it_was_written_by_hand_and_has_nothing_to_press(workspace: Workspace) -> None:
    found = examples(workspace)
    assert len(found) == len(EXAMPLES)
    for message in found:
        assert (message.text.startswith(SAID), message.blocks[0]["elements"][0]["text"]) == (True, SAID)
        assert "case " not in str(message.blocks)
        assert {block["type"] for block in message.blocks} <= {"context", "section", "rich_text"}
        assert message.metadata is None
        assert "your model · 3 ratings: " in str(message.blocks[-1])
    assert ["  ".join(read([message.blocks[1]]).split("  ")[:2]) for message in found] == [
        ":large_green_circle: Score 4 of 5  ●●●●○",
        "Score 3 of 5, ratings from 2 to 5  ●●◐◐◐",
        ":red_circle: Score 1 of 5  ●○○○○",
    ]


def test_each_stands_under_the_reply_it_speaks_of(workspace: Workspace) -> None:
    channel = workspace.channel(CHANNEL)
    for example, message in zip(EXAMPLES, examples(workspace), strict=True):
        question = channel.messages[message.thread_ts or ""].text
        assert question.startswith(example.question_begins)
        assert channel.replies(message.thread_ts or "")[1] == message


def test_the_offline_rater_comes_to_the_same_scores_and_tells_good_replies_from_bad_ones(workspace: Workspace) -> None:
    channel = workspace.channel(CHANNEL)
    questions = [each for each in channel.messages.values() if not each.is_reply]
    scale = load_rubric("additive-5").scale
    replies = [[each.text for each in channel.replies(asked.ts) if each.author != workspace.bot] for asked in questions]
    scores = [
        rate_offline(asked.text, "\n".join(said), scale).score for asked, said in zip(questions, replies, strict=True)
    ]
    assert scores == [4, 3, 1, 4, 1, 4]


def test_without_a_model_the_newest_message_says_that_words_are_counted(workspace: Workspace) -> None:
    post_offline_note(workspace)
    note = Person(workspace, "ann").messages(CHANNEL)[-1]
    assert note.author == workspace.bot
    assert "a word counter, not a judge" in note.text
    assert "choose *Score this reply*" in note.text
