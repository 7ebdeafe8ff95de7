"""SQLite's one writer: cases that wait together share a commit, and each of them fails alone."""

import asyncio
import resource
import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import TooLateError, accepted_within
from bot.store import Store, TakenError
from bot.store.errors import STORE_ERRORS
from tests.cases import a_case, held, newest

pytestmark = pytest.mark.on("sqlite")


async def keys(log: Store) -> list[str]:
    return [case.key for case in await newest(log, 1000)]


def commits(log: Store) -> list[object]:
    """A list that grows with each commit."""
    found: list[object] = []
    event.listen(log.database.engine.sync_engine, "commit", found.append)
    return found


@asynccontextmanager
async def busy_writer(log: Store) -> AsyncIterator[None]:
    """Has the writer work until the end of the block: what is written meanwhile waits for it."""
    is_begun = asyncio.Event()
    may_end = threading.Event()
    begin = partial(asyncio.get_running_loop().call_soon_threadsafe, is_begun.set)

    async def hold(_: AsyncConnection) -> None:
        begin()
        may_end.wait()

    holding = asyncio.create_task(log.database.write(hold))
    await is_begun.wait()
    try:
        yield
        await asyncio.sleep(0)  # tasks that were made in the block begin to wait
    finally:
        may_end.set()
    await holding


async def test_of_twenty_cases_that_share_a_commit_one_that_is_refused_takes_no_other_with_it(
    log: Store,
) -> None:
    async def add(number: int) -> object:
        with accepted_within(-1 if number == 7 else 60):
            return await log.add(a_case(key=str(number)))

    counted = commits(log)
    async with busy_writer(log):
        adding = [asyncio.create_task(add(number)) for number in range(20)]
    told = await asyncio.gather(*adding, return_exceptions=True)
    assert [number for number, each in enumerate(told) if isinstance(each, TooLateError)] == [7]
    held_here = [case.key for case in log.database.added.values()]  # noted after the commit
    assert await keys(log) == held_here == [str(number) for number in range(20) if number != 7]
    assert len(counted) == 2  # of the work before, and of all of these


async def execute(connection: AsyncConnection, statements: Sequence[str]) -> None:
    for statement in statements:
        await connection.execute(text(statement))


@pytest.mark.parametrize(
    "statements",
    [
        # With foreign keys checked at its end, a row that belongs to no case has the commit itself
        # fail.
        (
            "PRAGMA defer_foreign_keys = ON",
            "INSERT INTO turns (team_id, case_id, position, channel_id, part, ts, role, text_hash) "
            "VALUES ('T1', 99, 0, 'C1', '', '', '', '')",
        ),
        # SQLite rolls back all of it by itself, as it may when the disk is full.
        ("INSERT OR ROLLBACK INTO alembic_version VALUES (NULL)",),
    ],
    ids=["commit", "rolled-back"],
)
async def test_all_who_share_a_transaction_that_fails_are_told_and_nothing_of_it_is_left(
    log: Store, statements: Sequence[str]
) -> None:
    async with busy_writer(log):
        adding = [asyncio.create_task(log.add(a_case(key="before")))]
        failing = asyncio.create_task(
            log.database.settle(None, partial(execute, statements=statements))
        )
        adding.append(asyncio.create_task(log.add(a_case(key="after"))))
    told = await asyncio.gather(*adding, failing, return_exceptions=True)
    assert [type(each) for each in told] == [IntegrityError] * 3
    assert await keys(log) == []
    assert (await log.add(a_case(key="before")))[1]


async def test_after_a_transaction_that_cannot_be_ended_the_next_write_has_another_connection(
    log: Store,
) -> None:
    async def hold(connection: AsyncConnection) -> None:
        sqlite = (await connection.get_raw_connection()).driver_connection._conn
        ends = sqlite3.SQLITE_TRANSACTION, ("COMMIT", "ROLLBACK")
        sqlite.set_authorizer(lambda action, name, *_: int(action == ends[0] and name in ends[1]))

    with pytest.raises(STORE_ERRORS):
        await log.database.write(hold)
    assert (await log.add(a_case()))[1]


async def test_cases_that_share_a_commit_on_a_full_disk_are_told_and_can_be_added_when_there_is_space(
    log: Store,
) -> None:
    """The disk is a limit on how far the process may write a file, which ends in the same error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        async with busy_writer(log):
            adding = [asyncio.create_task(log.add(a_case(key=str(number)))) for number in range(20)]
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        told = await asyncio.gather(*adding, return_exceptions=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [type(each) for each in told] == [OperationalError] * 20
    assert await keys(log) == []
    assert all([(await log.add(a_case(key=str(number))))[1] for number in range(20)])


async def test_a_cancelled_write_is_dropped_before_it_begins_and_done_once_it_has(
    log: Store,
) -> None:
    is_begun = asyncio.Event()
    may_end = threading.Event()
    begin = partial(asyncio.get_running_loop().call_soon_threadsafe, is_begun.set)

    def hold(*call: Any) -> None:
        if call[2].startswith("INSERT INTO cases "):
            begin()
            may_end.wait()

    event.listen(log.database.engine.sync_engine, "before_cursor_execute", hold)
    begun = asyncio.create_task(log.add(a_case(key="begun")))
    await is_begun.wait()
    waiting = asyncio.create_task(log.add(a_case(key="waiting")))
    await asyncio.sleep(0)
    for task in (begun, waiting):
        task.cancel()
    done, _ = await asyncio.wait([begun, waiting], return_when=asyncio.FIRST_COMPLETED)
    assert done == {waiting}
    may_end.set()
    told = await asyncio.gather(begun, waiting, return_exceptions=True)
    assert [type(each) for each in told] == [asyncio.CancelledError] * 2
    assert await keys(log) == ["begun"]


async def test_long_work_is_not_before_the_cases_that_wait(log: Store) -> None:
    order: list[str] = []

    async def note(_: AsyncConnection, name: str) -> None:
        order.append(name)

    async with busy_writer(log):
        long = [
            asyncio.create_task(log.database.write(partial(note, name=name)))
            for name in ("long", "longer")
        ]
        await asyncio.sleep(0)
        short = [
            asyncio.create_task(log.database.settle(None, partial(note, name="case")))
            for _ in range(2)
        ]
    await asyncio.gather(*long, *short)
    assert order == ["case", "case", "long", "longer"]


async def test_what_this_process_has_just_added_it_holds_without_a_commit(log: Store) -> None:
    counted = commits(log)
    await log.add(a_case(question="a\0b", response="half \ud800 a pair"))
    claimed = await held(log, 1)
    assert len(counted) == 1
    assert claimed.model_copy(update={"asked_at_s": 0.0}) == await log.cases.get(1)
    await held(log, 1)
    with pytest.raises(TakenError):
        await log.renew(claimed)


async def test_what_has_changed_since_it_was_added_is_read_again(log: Store) -> None:
    asked, _ = await log.add(a_case(key="answered", question=None))
    await log.answer(asked, "Typed?")
    assert (await held(log, 1)).question == "Typed?"
    await log.add(a_case(key="deleted", message_ts="1.1"))
    await log.edits.note_deleted("T1", "C1", "1.1")
    assert (await held(log, 2)).deleted_at is not None
