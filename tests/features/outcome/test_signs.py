"""A model reads what was written after an answer, once for a thread that has rested.

The watch notes the messages, so without that feature no thread is read.
"""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from bot.domain.outcome import Outcomes, Sign
from bot.domain.standing import subject_of
from bot.features.outcome.figures import OutcomeFigures
from bot.features.outcome.signs import SignReader
from bot.store.schema import seen_messages, thread_signs, watches
from bot.store.seen_messages import HELD_FOR
from pocket_slack import Message
from tests.features.outcome.listening import listening, noted
from tests.model_server import Failure, Held
from tests.stage import CHANNEL, Stage, StageFactory
from tests.watches import only

pytestmark = pytest.mark.needs("watch")
CONTESTED = "confirmed: no\nthanked: no\ncontested: yes\nhanded over: no"
CONFIRMED = "confirmed: yes\nthanked: yes\ncontested: no\nhanded over: no"
RESTED = timedelta(hours=1, minutes=1)
SETTLED = timedelta(hours=80)


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    return await listening(open_stage)


async def answered(stage: Stage, *after: str, before: int = 0) -> Message:
    """A question that the assistant has answered, and what the asker wrote after that; so many
    messages are noted before.
    """
    question = stage.ann.post(CHANNEL, f"<@{stage.helper.id}> How do I undo it?")
    stage.helper.post(CHANNEL, "With Ctrl-Z.", thread_ts=question.ts)
    for words in after:
        stage.ann.post(CHANNEL, words, thread_ts=question.ts)
    await noted(stage, before + 2 + len(after))
    return question


async def outcomes_later(stage: Stage) -> Outcomes:
    figures = OutcomeFigures(stage.services_at(SETTLED))
    return (await figures.of(subject_of(await only(stage)))).outcomes


async def look(stage: Stage, later: timedelta = RESTED) -> None:
    await SignReader(stage.services_at(later)).look()


def asked(stage: Stage) -> list[str]:
    """What the model was asked about threads; the verdicts' requests are others."""
    texts = [str(request["messages"]) for request in stage.model.requests]
    return [text for text in texts if "handed over" in text]


async def test_what_follows_an_answer_is_read_once_and_again_if_more_is_written(
    stage: Stage,
) -> None:
    stage.model.script(CONTESTED)
    question = await answered(stage, "That does not work.")
    stage.ben.post(CHANNEL, "My secret.", thread_ts=question.ts)
    await noted(stage, 4)
    # As if ben had had his words forgotten.
    forgotten = seen_messages.update().where(seen_messages.c.author_id == stage.ben.id)
    await stage.log.database.execute(forgotten.values(author_id=""))
    await look(stage, timedelta(minutes=30))
    assert asked(stage) == []
    for _ in range(2):
        await look(stage)
    (prompt,) = asked(stage)
    assert "the asker: That does not work." in prompt
    assert "secret" not in prompt
    assert (await outcomes_later(stage)).signs[Sign.CONTESTED] == 1
    stage.model.script(CONFIRMED)
    stage.ann.post(CHANNEL, "Sorry, it does.", thread_ts=question.ts)
    await noted(stage, 5)
    await look(stage)
    outcomes = await outcomes_later(stage)
    assert (outcomes.signs[Sign.CONTESTED], outcomes.signs[Sign.CONFIRMED]) == (0, 1)


async def test_what_could_not_be_asked_is_asked_once_nobody_holds_it(stage: Stage) -> None:
    await answered(stage, "Hm.")
    stage.model.script(Failure(404, "model_not_found"))
    await look(stage)
    stage.model.script("I cannot say.")
    failed = len(asked(stage))
    await look(stage)
    assert len(asked(stage)) == failed
    # An unclear answer is neither, and the last.
    for _ in range(2):
        await look(stage, RESTED + HELD_FOR)
    assert len(asked(stage)) == failed + 1
    assert await stage.log.database.values(select(thread_signs.c.contested)) == [None]


async def test_two_processes_ask_once_about_a_complaint_which_is_the_first_answers(
    stage: Stage,
) -> None:
    stage.model.script(CONTESTED)
    question = await answered(stage, "That does not work.")
    stage.helper.post(CHANNEL, "Sorry. With Cmd-Z, then.", thread_ts=question.ts)
    await noted(stage, 4)
    await asyncio.gather(*(look(stage) for _ in range(2)))
    assert len(asked(stage)) == 1
    outcomes = await outcomes_later(stage)
    assert (outcomes.questions, outcomes.signs[Sign.CONTESTED]) == (2, 1)


@pytest.mark.needs("privacy")
@pytest.mark.parametrize("change", ["edit", "delete", "forget"])
async def test_what_was_read_goes_with_the_message_also_while_the_model_reads(
    stage: Stage, change: str
) -> None:
    from bot.features.privacy.queries import PersonalData  # here: the feature can be deleted

    question = await answered(stage, "That does not work.")
    complaint = stage.ann.thread(CHANNEL, question.ts)[-1]
    gate = asyncio.Event()
    stage.model.script(Held(gate, CONTESTED))
    reading = asyncio.create_task(look(stage))

    async def is_asked() -> bool:
        return bool(asked(stage))

    await stage.eventually(is_asked)
    if change == "edit":
        stage.ann.edit(complaint, "It works now.")
    elif change == "delete":
        stage.ann.delete(complaint)
    else:
        data = PersonalData(stage.log.database)
        await data.forget(stage.slack.workspace.team_id, stage.ann.id)

    async def is_gone() -> bool:
        return await stage.log.database.values(select(thread_signs.c.thread_ts)) == []

    await stage.eventually(is_gone)
    gate.set()
    await reading
    assert await stage.log.database.values(select(thread_signs.c.contested)) == []


async def test_a_thread_costs_at_most_what_the_watch_may_spend_in_a_day(stage: Stage) -> None:
    stage.model.script(CONTESTED)
    await stage.log.database.execute(update(watches).values(per_day=1))
    for number in (1, 2):
        await answered(stage, "That does not work.", before=3 * (number - 1))
    for days in (0, 1):
        await look(stage, RESTED + timedelta(days=days))
        assert len(asked(stage)) == days + 1


async def test_an_answer_after_which_nobody_wrote_is_not_asked_about_and_a_thumb_confirms_it(
    stage: Stage,
) -> None:
    question = await answered(stage)
    await look(stage)
    assert asked(stage) == []
    assert (await outcomes_later(stage)).signs[Sign.QUIET] == 1
    (_, answer) = stage.ann.thread(CHANNEL, question.ts)
    stage.ann.react(answer, "+1")

    async def is_confirmed() -> bool:
        return (await outcomes_later(stage)).signs[Sign.CONFIRMED] == 1

    await stage.eventually(is_confirmed)
