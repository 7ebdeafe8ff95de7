"""Several processes on one log: a case is settled by one of them, and taken over when that one is gone."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from bot.domain.case import CaseStatus
from bot.log import LapsedError, Log, TakenError
from bot.log.engine import open_engine
from bot.log.presence import LEASE_S, Presence
from bot.log.schema import cases, processes
from tests.unit.bot.test_log import a_case, a_verdict


@pytest.fixture
async def ours(database_url: str) -> AsyncIterator[Log]:
    log = await Log.open(database_url)
    await log.presence.enter()
    yield log
    await log.close()


@pytest.fixture
async def theirs(database_url: str) -> AsyncIterator[Log]:
    log = await Log.open(database_url)
    await log.presence.enter()
    yield log
    await log.close()


async def change(log: Log, name: str, **values: Any) -> None:
    """Changes what the log says of a process."""
    async with log.engine.begin() as connection:
        await connection.execute(update(processes).where(processes.c.id == name).values(values))


async def fall_silent(log: Log) -> None:
    await change(log, log.presence.name, seen_at=datetime.now(UTC) - timedelta(seconds=LEASE_S + 1))


async def test_a_case_that_one_holds_is_left_alone_by_the_other(ours: Log, theirs: Log) -> None:
    await ours.add(a_case())
    assert await theirs.claim(1) is None
    assert await theirs.unsettled("T1") == []
    assert await ours.unsettled("T1") == [1]


async def test_the_case_of_a_silent_process_is_taken_over_and_its_writes_are_refused(ours: Log, theirs: Log) -> None:
    await ours.add(a_case())
    await fall_silent(ours)
    assert await theirs.unsettled("T1") == [1]
    assert await theirs.claim(1) is not None
    for late in (
        ours.note_post(await ours.case(1), reply_intent=True),
        ours.record(await ours.case(1), a_verdict()),
        ours.note_texts(await ours.case(1), question="Late?"),
        ours.note_delivered(await ours.case(1)),
        ours.postpone(await ours.case(1), timedelta()),
    ):
        with pytest.raises(TakenError):
            await late
    assert (await theirs.record(await theirs.case(1), a_verdict())).status is CaseStatus.JUDGED


async def test_a_process_that_leaves_gives_its_cases_back(ours: Log, theirs: Log) -> None:
    await ours.add(a_case())
    await ours.presence.leave()
    assert await theirs.claim(1) is not None


async def test_what_a_dead_process_of_this_machine_held_is_free_at_the_next_start(ours: Log, theirs: Log) -> None:
    dead = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await dead.wait()
    await ours.add(a_case())
    await change(ours, ours.presence.name, pid=dead.pid)
    assert await theirs.claim(1) is None
    await theirs.presence.enter()
    assert await theirs.claim(1) is not None


async def test_a_container_that_starts_again_with_the_same_pid_knows_its_own(ours: Log, theirs: Log) -> None:
    await ours.add(a_case())
    await change(ours, ours.presence.name, pid=os.getpid(), started_at=datetime(2026, 1, 1, tzinfo=UTC))
    await theirs.presence.enter()
    assert await theirs.claim(1) is not None


async def test_a_running_process_of_another_machine_is_not_taken_for_dead(ours: Log, theirs: Log) -> None:
    await ours.add(a_case())
    await change(ours, ours.presence.name, host="elsewhere", pid=2**22 + 1)
    await theirs.presence.enter()
    assert await theirs.claim(1) is None


async def test_a_sign_of_life_keeps_the_cases(ours: Log, theirs: Log) -> None:
    await ours.add(a_case())
    await fall_silent(ours)
    await ours.presence.beat(is_connected=True)
    assert await theirs.claim(1) is None


async def test_a_sign_of_life_after_being_forgotten_comes_too_late(ours: Log) -> None:
    await ours.presence.leave()
    with pytest.raises(LapsedError):
        await ours.presence.beat(is_connected=True)


async def test_after_a_silence_nothing_goes_out_under_the_old_name(database_url: str) -> None:
    now_s = [100.0]
    engine = await open_engine(database_url)
    presence = Presence(engine.begin, lambda: now_s[0])
    await presence.enter()
    before = presence.name
    now_s[0] += LEASE_S
    presence.check()
    now_s[0] += 0.1
    with pytest.raises(LapsedError):
        presence.check()
    with pytest.raises(LapsedError):
        await presence.beat(is_connected=True)
    await presence.enter()
    presence.check()
    assert presence.name != before
    await engine.dispose()


async def test_a_postponed_case_waits_until_it_is_due(ours: Log) -> None:
    await ours.add(a_case())
    case = await ours.postpone(await ours.case(1), timedelta(hours=1))
    assert (case.tries, case.holder) == (1, None)
    assert await ours.claim(1) is None
    assert await ours.unsettled("T1") == []
    async with ours.engine.begin() as connection:
        await connection.execute(update(cases).values(due_at=datetime.now(UTC) - timedelta(seconds=1)))
    assert await ours.claim(1) is not None


async def test_tries_are_counted_until_there_is_a_verdict(ours: Log) -> None:
    await ours.add(a_case())
    for tries in (1, 2):
        assert (await ours.postpone(await ours.case(1), timedelta())).tries == tries
        await ours.claim(1)
    case = await ours.record(await ours.case(1), a_verdict())
    assert (case.tries, case.due_at) == (0, None)
