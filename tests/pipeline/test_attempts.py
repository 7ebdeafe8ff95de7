"""Who gets another attempt at a reply that was scored, by any of its messages, and whether it
counts.
"""

import pytest

from pocket_slack import Message, Person
from tests.stage import CHANNEL, QUESTION, Stage, StageFactory


def carl(stage: Stage) -> Person:
    """A third person in the channel."""
    stage.slack.workspace.add_user("carl")
    person = stage.slack.person("carl")
    person.join(CHANNEL)
    return person


def in_two_messages(stage: Stage, author: Person) -> tuple[Message, Message, Message]:
    """A question, and its reply in two messages."""
    parent = stage.ann.post(CHANNEL, QUESTION)
    first, last = (
        author.post(CHANNEL, words, thread_ts=parent.ts)
        for words in ("Run git reset.", "Your changes stay staged.")
    )
    return parent, first, last


@pytest.mark.parametrize("which", ["first", "last"])
async def test_a_persons_reply_is_scored_once_whichever_of_its_messages_somebody_else_chooses(
    open_stage: StageFactory, which: str
) -> None:
    stage: Stage = await open_stage(score_people=True)
    parent, first, last = in_two_messages(stage, stage.ben)
    await stage.score(first)
    await stage.verdict(parent)
    asked = len(stage.model.requests)
    other = carl(stage)
    await stage.score({"first": first, "last": last}[which], other)
    assert "Scored before" in (await stage.told(other)).text
    assert len(stage.model.requests) == asked


@pytest.mark.parametrize("is_told", [False, True], ids=["without events", "with events"])
async def test_an_edited_reply_counts_for_whoever_has_it_scored_again(
    open_stage: StageFactory, is_told: bool
) -> None:
    stage: Stage = await open_stage(events=["message.channels"] * is_told)
    parent, answer = stage.ask_and_answer()
    await stage.score(answer)
    await stage.verdict(parent)
    stage.helper.edit(answer, "Run git reset --hard HEAD~1.")
    if is_told:
        await stage.eventually(lambda: _is_edited(stage))
    await stage.score(answer, stage.ben)
    await stage.verdict(parent, 2)
    again = await stage.log.cases.get(2)
    assert (again.attempt, again.excluded) == (2, None)


async def _is_edited(stage: Stage) -> bool:
    case = await stage.log.cases.get(1)
    return case is not None and case.edited_at is not None
