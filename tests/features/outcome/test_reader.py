"""The messages of watched channels are noted without their words, however Slack tells of them."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Row, select

from bot.domain.small_talk import is_small_talk
from bot.store.schema import seen_messages
from tests.features.outcome.listening import listening, noted
from tests.stage import CHANNEL, Stage, StageFactory
from tests.tables import each


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    return await listening(open_stage)


async def seen(stage: Stage, number: int) -> Sequence[Row[Any]]:
    """So many messages, once they are noted."""
    await noted(stage, number)
    rows = await stage.log.database.all(select(seen_messages).order_by(seen_messages.c.ts))
    assert not any(word in str(rows) for word in ("ticket", "Hand over", "Thanks"))
    return rows


@pytest.mark.needs("watch")
async def test_questions_and_answers_are_noted_without_words_until_they_are_deleted(
    stage: Stage,
) -> None:
    question = stage.ann.post(CHANNEL, f"<@{stage.helper.id}> How do I hand over a ticket?")
    stage.helper.post(CHANNEL, "With *Hand over*.", thread_ts=question.ts)
    stage.ben.post(CHANNEL, "Thanks a lot!", thread_ts=question.ts)
    asked, answer, thanks = await seen(stage, 3)
    assert (list(asked.mentions), asked.says, asked.is_app) == ([stage.helper.id], "words", False)
    assert (answer.is_app, answer.thread_ts, answer.says) == (True, question.ts, "words")
    assert thanks.says == "thanks"
    stage.ann.delete(question)
    await seen(stage, 2)


@each(
    ("words", "expected"),
    [
        ("Thanks!", True),
        ("Hi all :wave:", True),
        ("👍", True),
        ("thanks, and how do I undo it?", False),
        ("no", True),
        ("VPN?", False),
    ],
)
def test_greetings_and_thanks_are_small_talk(words: str, expected: bool) -> None:
    assert is_small_talk(words) == expected
