"""What holds for every way to ask for a score of a reply: the shortcut, a link, a mention and a
reaction.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.domain.case import CaseSource, CaseStatus, Visibility
from bot.slack import ids
from pocket_slack import Message, Person
from tests.cases import save_visibility
from tests.gestures import link
from tests.stage import (
    ANSWER,
    CHANNEL,
    QUESTION,
    Stage,
    buttons,
    is_verdict,
    responses_at_the_ack,
)

Way = Callable[[Stage, Person, Message], Any]


def by_link(stage: Stage, person: Person, reply: Message) -> None:
    person.command(CHANNEL, ids.COMMAND, link(stage, reply))


def by_mention(_: Stage, person: Person, reply: Message) -> None:
    person.post(CHANNEL, "@Slack Judge score this", thread_ts=reply.thread_ts)


def by_reaction(_: Stage, person: Person, reply: Message) -> None:
    person.react(reply, "mag")


def by_shortcut(_: Stage, person: Person, reply: Message) -> None:
    person.shortcut(ids.SHORTCUT_SCORE_REPLY, reply)


WAYS = {
    CaseSource.LINK: by_link,
    CaseSource.MENTION: by_mention,
    CaseSource.REACTION: by_reaction,
    CaseSource.SHORTCUT: by_shortcut,
}
every_way = pytest.mark.parametrize(("source", "ask"), WAYS.items())


@pytest.fixture
async def stage(stage: Stage) -> Stage:
    """A channel in which a reaction asks for a score."""
    place = stage.place
    await stage.log.channels.save(*place, "U1", score_reaction="mag")
    return stage


@every_way
async def test_a_reply_is_scored_for_the_person_who_asked_and_shown_to_a_second_one(
    stage: Stage, source: CaseSource, ask: Way, tmp_path: Path
) -> None:
    parent, reply = stage.ask_and_answer()
    at_the_ack = responses_at_the_ack(stage, tmp_path)
    ask(stage, stage.ben, reply)
    assert is_verdict(await stage.verdict(parent))
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert (case.message_ts, case.parent_ts) == (reply.ts, parent.ts)
    assert (case.response, case.question) == (ANSWER, QUESTION)
    assert (case.requester_id, case.requester_name, case.source) == (stage.ben.id, "ben", source)
    # The case was in the store before Slack was told. What a link leads to is looked up
    # afterwards, on a busy machine before the answer arrives.
    await stage.slack.until(lambda: at_the_ack)
    assert at_the_ack[0] in ([ANSWER], *[[None]] * (source is CaseSource.LINK))

    ask(stage, stage.ann, reply)
    known = await stage.told(stage.ann)
    assert known.text.startswith("Scored before: *4 of 5* · ")
    assert buttons(known) == [ids.ACTION_AGAIN, ids.ACTION_DETAILS]
    # After a command it stands where that was typed, and not in a thread that may be closed.
    assert known.thread_ts == (None if source is CaseSource.LINK else parent.ts)
    assert (await stage.cases(), len(stage.model.requests), len(stage.ours())) == (1, 1, 1)


async def test_a_person_who_chose_only_me_is_the_only_one_to_get_the_verdict(stage: Stage) -> None:
    await save_visibility(stage.log, stage.workspace.team_id, stage.ann.id, Visibility.ME)
    for number, (source, ask) in enumerate(WAYS.items(), 1):
        _, reply = stage.ask_and_answer()
        ask(stage, stage.ann, reply)
        case = await stage.reaches(number, CaseStatus.DELIVERED)
        assert (case.source, case.visibility) == (source, Visibility.ME)
    assert sum(is_verdict(each) for each in stage.ann.ephemerals(CHANNEL)) == len(WAYS)
    assert stage.ours() == []
