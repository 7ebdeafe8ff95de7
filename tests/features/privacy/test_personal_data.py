"""A person's words in the store: what is theirs, how it goes, and what stays for the others."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pgqueuer.adapters.inmemory import InMemoryDriver, InMemoryQueries
from sqlalchemy import select, text

from bot.domain.case import LoggedCase, Part
from bot.domain.label import Label
from bot.features.privacy.queries import PersonalData, Words
from bot.store import Store
from bot.store.forgotten import without_forgotten
from bot.store.schema import cases
from tests.cases import (
    ANN,
    BEGUN_AT,
    a_case,
    a_row,
    a_turn,
    a_verdict,
    add_release,
    amendments,
    delivered,
    held,
    notes,
    thumb,
    thumbs_kept,
    url,
)

pytestmark = [pytest.mark.usefixtures("log_file"), pytest.mark.on("sqlite")]

BEN = "U-ben"


async def texts(log: Store, case: LoggedCase) -> list[Any]:
    """All that is left of a case's words: question, response, justification, and those of its
    rating.
    """
    found = await log.cases.get(case.id)
    verdict = await log.cases.verdict(case.id)
    rating = verdict.ratings[0]
    return [found.question, found.response, verdict.justification, rating.justification, rating.raw]


async def test_a_case_of_which_a_person_wrote_or_asked_anything_loses_all_texts(log: Store) -> None:
    found = [
        await delivered(log, str(theirs), **theirs)
        for theirs in (
            {"requester_id": ANN},
            {"requester_id": BEN, "requester_name": "ben", "author_id": ANN},
            {"question_author_id": ANN},
            {"turns": (a_turn(Part.CONVERSATION, "3.1"),), "messages_before": 1},
        )
    ]
    assert await PersonalData(log.database).forget("T1", ANN) == Words(cases=4)
    for case in found:
        assert await texts(log, case) == [None, None, "", "", ""]
    names = [(await log.cases.get(case.id)).requester_name for case in found[:2]]
    assert names == [ANN, "ben"]


async def test_their_reasons_thumbs_and_notes_go_and_all_else_stays(log: Store) -> None:
    case = await delivered(log, requester_id=BEN)
    for user_id in (ANN, BEN):
        await log.labels.put(case, user_id, Label(2, "Too short."))
        await add_release(log, user_id, "New prompt.")
        await log.thumbs.note(thumb(user_id=user_id), is_watched=True)
    await log.thumbs.note(thumb(team_id="T2"), is_watched=True)
    assert await PersonalData(log.database).forget("T1", ANN) == Words(others=3)
    for user_id, reason in ((ANN, None), (BEN, "Too short.")):
        assert await log.labels.get(case, user_id) == Label(2, reason)
    assert await notes(log) == [(ANN, ""), (BEN, "New prompt.")]
    assert await thumbs_kept(log) == 2
    assert (await texts(log, case))[:2] == ["Why?", "Because."]


async def test_nothing_of_others_or_of_another_team_is_touched(log: Store) -> None:
    others = await delivered(log, "ben", requester_id=BEN, author_id=BEN)
    elsewhere = await delivered(log, "T2", team_id="T2", requester_id=ANN, author_id=ANN)
    await log.labels.put(elsewhere, ANN, Label(2, "Short."))
    assert await PersonalData(log.database).forget("T1", ANN) == Words()
    for case in (others, elsewhere):
        assert (await texts(log, case))[:2] == ["Why?", "Because."]
    assert await log.labels.get(elsewhere, ANN) == Label(2, "Short.")
    assert await log.audit.since() == []


@pytest.mark.on("sqlite", "postgres")
async def test_more_than_a_batch_is_forgotten_noted_and_not_counted_again(log: Store) -> None:
    row = {"author_id": ANN, "response": "Because.", "created_at": BEGUN_AT}
    many = [a_row(key=f"k{n}", **row) for n in range(601)]
    await log.database.execute(cases.insert().values(many))
    data = PersonalData(log.database)
    assert await data.forget("T1", ANN) == Words(cases=601)
    assert await data.forget("T1", ANN) == Words()
    left = select(cases.c.id).where(cases.c.response.is_not(None))
    assert await log.database.values(left) == []
    acts = await log.audit.since()
    assert {(act.team_id, act.who, act.what, act.user_id) for act in acts} == {
        ("T1", ANN, "forgot_person", ANN)
    }
    assert sum(act.cases or 0 for act in acts) == 601


async def test_verdicts_in_slack_follow_after_all_that_somebody_waits_for(tmp_path: Path) -> None:
    async with await Store.open(url(tmp_path)) as log:
        log.database.queue = InMemoryQueries(InMemoryDriver())
        done = await delivered(log, "done", author_id=ANN)
        waiting, _ = await log.add(a_case(key="waiting", author_id=ANN))
        await PersonalData(log.database).forget("T1", ANN)
        *_, last = await log.database.queue.browse_queue()
        assert (last.entrypoint, last.priority < -2_000_000) == ("amend", True)
        await log.note_delivered(await log.record(await held(log, waiting), a_verdict()))
        assert sorted(await amendments(log)) == [done.id, waiting.id]


@pytest.mark.on("postgres")
async def test_a_case_that_is_being_stored_is_waited_for(log: Store) -> None:
    """On SQLite there is one writer."""
    waits = text(
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE datname = current_database() AND NOT granted"
    )
    async with log.database.engine.begin() as connection:
        await without_forgotten(connection, a_case(author_id=ANN, message_ts="5.1"))
        forgetting = asyncio.create_task(PersonalData(log.database).forget("T1", ANN))
        while not (forgetting.done() or await log.database.value(waits)):  # noqa: ASYNC110
            await asyncio.sleep(0)
        row = a_row(key="k1", author_id=ANN, created_at=BEGUN_AT)
        await connection.execute(cases.insert().values(row))
    assert (await forgetting).cases == 1
