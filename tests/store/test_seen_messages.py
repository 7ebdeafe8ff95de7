"""The signs of threads, claimed by one process at a time; on both databases."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import insert, select

from bot.domain.questions import Says, SeenMessage, to_time
from bot.store import Store
from bot.store.figures import to_ts
from bot.store.schema import thread_signs, topics
from bot.store.seen_messages import (
    HELD_FOR,
    NO_AUTHOR,
    AskedThread,
    SeenMessages,
    ThreadSigns,
)
from judge.evaluation.signs import Signs
from tests.cases import NOW

CONTESTED = Signs(confirmed=False, thanked=False, contested=True, handed_over=False)
TS = "1795339203.000001"
THREAD = AskedThread("T1", "C1", TS, "B1")


async def test_a_claim_ends_when_it_is_noted_or_its_time_is_over(log: Store) -> None:
    signs = ThreadSigns(log.database)
    held_until = await signs.claim(THREAD, "2.0", NOW)
    assert held_until
    assert await signs.claim(THREAD, "2.0", NOW) is None
    taken_over = await signs.claim(THREAD, "2.0", NOW + HELD_FOR)
    assert taken_over
    await signs.note(THREAD, held_until, None, "2.0")  # the first process, which comes too late
    await signs.note(THREAD, taken_over, CONTESTED, "2.0")
    found = await signs.of("T1", ["C1"], "B1")
    assert found["C1", TS].signs == CONTESTED
    later = NOW + 2 * HELD_FOR
    assert await signs.claim(THREAD, "2.0", later) is None  # it has been read
    assert await signs.claim(THREAD, "3.0", later)
    assert (await signs.of("T1", ["C1"], "B1"))["C1", TS].signs == CONTESTED


@pytest.mark.on("sqlite")
@pytest.mark.needs("privacy")
async def test_what_was_read_goes_with_the_words_of_a_person(log: Store) -> None:
    from bot.features.privacy.queries import PersonalData  # here: the feature can be deleted

    seen = SeenMessages(log.database)
    message = SeenMessage("T1", "C1", TS, TS, "U1", False, Says.WORDS, ("B1",), "hash")
    joined = replace(message, ts=to_ts(NOW), author_id="U2")
    for each in (message, joined):
        await seen.note(each)
    asked = {"team_id": "T1", "channel_id": "C1", "question_ts": TS, "author_id": "B1"}
    await log.database.execute(insert(topics).values(**asked, name="undo"))
    await ThreadSigns(log.database).claim(THREAD, "2.0", NOW - timedelta(hours=1))
    for user_id, left in (("U2", 1), ("U1", 0)):
        await PersonalData(log.database).forget("T1", user_id)
        for table in (thread_signs, topics):
            assert len(await log.database.all(select(table))) == left
    # The messages stay, and come again when a channel is read anew, without who wrote them.
    await seen.note(joined)
    stored = await seen.of("T1", ["C1"], to_time(TS))
    assert stored == [replace(each, **NO_AUTHOR) for each in (message, joined)]


@pytest.mark.on("sqlite")
async def test_a_streams_start_that_arrives_after_its_end_changes_nothing(log: Store) -> None:
    seen = SeenMessages(log.database)
    start = SeenMessage("T1", "C1", TS, TS, "B1", True, Says.NOTHING)
    whole = replace(start, says=Says.WORDS, text_hash="hash", finished_at=NOW)
    for each in (start, whole, start):
        await seen.note(each)
    assert await seen.of("T1", ["C1"], to_time(TS)) == [whole]
