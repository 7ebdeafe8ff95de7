"""The engine alone, without Bolt: jobs of a queue in memory and in a database, and what becomes of
them.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

from bot.errors import StoreError
from bot.pipeline.engine import LANDS, Engine, PeriodicJob, Work
from bot.pipeline.retries import RetryError
from bot.store import Store
from bot.store.jobs import Job, JobKind, submit_oldest
from bot.store.opening import connect
from bot.store.ownership import owned
from bot.store.schema import channels
from tests.cases import Teams, a_case, url
from tests.patience import ONLY_A_HANG_S

TEAM = "T1"
LONG = timedelta(minutes=10)


@asynccontextmanager
async def opened(database_url: str) -> AsyncIterator[Store]:
    async with await Store.open(database_url) as store:
        yield store


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Returns once that is true; polled, because the engine says it nowhere else."""
    async with asyncio.timeout(ONLY_A_HANG_S):
        while not await condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(
    log: Store,
    settle: Callable[[Job], Awaitable[None]],
    grace_s: float = 5,
    served: Teams | None = None,
) -> AsyncIterator[Engine]:
    engine = Engine(log, served or Teams({TEAM: Work({JobKind.SETTLE: settle})}), at_once=4)
    task = asyncio.create_task(engine.run_forever())
    await until(engine.is_running)
    try:
        yield engine
    finally:  # else what a failed test leaves open fails another one
        await engine.stop(task, grace_s)
    assert not await engine.is_running()


class Settler:
    """Settles cases by noting their numbers, once it has failed as it is told to."""

    def __init__(self, log: Store, failures: list[type[Exception]] | None = None) -> None:
        self._log = log
        self._failures = failures
        self.tried: list[int] = []
        self.done: list[int] = []
        self._news = asyncio.Event()

    async def __call__(self, job: Job) -> None:
        claimed = await self._log.claim(job.case_id)
        if claimed is None:  # a look for unsettled cases may write a second job
            return
        self.tried.append(job.case_id)
        if self._failures:
            raise self._failures.pop()("whatever")
        await self._log.note_asked(claimed)  # it has no way to go now
        self.done.append(job.case_id)
        self._news.set()

    async def settled(self, count: int) -> None:
        async with asyncio.timeout(ONLY_A_HANG_S):
            while len(self.done) < count:
                await self._news.wait()
                self._news.clear()


async def test_a_job_that_ends_in_any_error_is_tried_again(log: Store) -> None:
    failures = [ValueError, TimeoutError]
    settler = Settler(log, failures)
    async with running(log, settler):
        await log.add(a_case())
        await settler.settled(1)
    assert (settler.tried, failures) == ([1, 1, 1], [])


async def test_a_case_that_is_opened_while_its_job_ends_is_settled_at_once(log: Store) -> None:
    """The first job is still in the queue's books when the second one is written."""
    settler = Settler(log)
    async with running(log, settler):
        await log.add(a_case(question=None))
        await settler.settled(1)
        case = await log.cases.get(1)
        await log.answer(case, "Why?")
        await settler.settled(2)


@pytest.mark.on("sqlite")
async def test_a_case_of_a_workspace_that_has_left_is_settled_once_it_is_back(log: Store) -> None:
    settler = Settler(log)
    work = Work({JobKind.SETTLE: settler})
    served = Teams({TEAM: work})
    async with running(log, settler, served=served):
        await log.add(a_case(team_id="TOTHER"))
        await log.add(a_case())
        await settler.settled(1)
        assert settler.tried == [2]
        served.work["TOTHER"] = work

        async def is_settled() -> bool:
            await submit_oldest(log.database, "TOTHER")  # as every minute
            return len(settler.done) == 2

        await until(is_settled)


@pytest.mark.on("sqlite")
async def test_a_periodic_job_that_hangs_or_fails_does_not_keep_the_others_waiting(
    log: Store,
) -> None:
    looked = asyncio.Event()

    async def hang() -> None:
        await asyncio.Event().wait()

    async def fail() -> None:
        raise ValueError("whatever")

    async def look() -> None:
        looked.set()

    work = {f"T{number}": Work({}, [PeriodicJob("look", hang)]) for number in range(3)}
    work["TLAST"] = Work({}, [PeriodicJob("fails", fail), PeriodicJob("look", look)])
    async with running(log, Settler(log), served=Teams(work)):
        await asyncio.wait_for(looked.wait(), ONLY_A_HANG_S)


@pytest.mark.on("sqlite")
async def test_a_periodic_job_runs_only_in_its_teams(log: Store) -> None:
    visited = []
    looked = asyncio.Event()

    def work_of(team_id: str) -> Work:
        async def look() -> None:
            visited.append(team_id)
            await asyncio.sleep(0)  # the others of this round begin
            looked.set()

        return Work({}, [PeriodicJob("look", look, teams=select(channels.c.team_id))])

    await log.database.execute(insert(channels).values(team_id="TBUSY", channel_id="C1"))
    served = Teams({each: work_of(each) for each in ("TIDLE", "TBUSY")})
    async with running(log, Settler(log), served=served):
        await asyncio.wait_for(looked.wait(), ONLY_A_HANG_S)
    assert visited == ["TBUSY"]


async def test_a_job_that_takes_too_long_goes_back_to_the_queue(database_url: str) -> None:
    log = await Store.open(database_url)
    began = asyncio.Event()

    async def settle_for_ever(_: Job) -> None:
        began.set()
        await asyncio.Event().wait()

    async with running(log, settle_for_ever, grace_s=0):
        await log.add(a_case())
        await began.wait()
    if not log.database.is_sqlite:  # whose queue is gone with its process
        query = text("SELECT status, execute_after - updated AS rests FROM pgqueuer")
        (job,) = await log.database.all(query)
        assert (job.status, job.rests) == (
            "queued",
            LANDS,
        )  # any earlier, its post might not be there
    settler = Settler(log)
    async with asyncio.timeout(ONLY_A_HANG_S), running(log, settler):
        await settler.settled(1)
    await log.close()


@pytest.mark.slow
async def test_a_job_that_hangs_does_not_keep_the_queue_from_coming_back(postgres_url: str) -> None:
    """Its connection is lost: the queue ends only once its jobs have ended, and this one would wait
    for ever.
    """
    log = await Store.open(postgres_url)
    settler = Settler(log)
    began = asyncio.Event()

    async def settle(job: Job) -> None:
        if not began.is_set():
            began.set()
            await asyncio.Event().wait()
        await settler(job)

    async with running(log, settle):
        await log.add(a_case(key="hangs"))
        await began.wait()
        await cut_connections(postgres_url)
        async with opened(postgres_url) as theirs:
            await theirs.add(a_case(key="waits"))
        # The first is taken again once its process has given no sign of life.
        await settler.settled(2)
    assert settler.done == [2, 1]
    await log.close()


_CUT = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid != pg_backend_pid()"
)


async def cut_connections(database_url: str) -> None:
    """Ends all connections to a database."""
    engine = connect(database_url)
    async with engine.connect() as connection:
        await connection.execute(_CUT)
    await engine.dispose()


@pytest.mark.on("sqlite")
async def test_a_pause_is_kept(log: Store) -> None:
    tried = asyncio.Event()

    async def settle_later(_: Job) -> None:
        tried.set()
        raise RetryError("not now", LONG)

    async with running(log, settle_later):
        await log.add(a_case())
        await tried.wait()
        tried.clear()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(tried.wait(), 1)


async def test_a_second_process_is_told_that_the_file_is_taken(tmp_path: Path) -> None:
    ours = await Store.open(url(tmp_path))
    theirs = await Store.open(url(tmp_path))
    refused = pytest.raises(StoreError, match=r"another judge-bot \(process \d+\) uses this file")
    with owned(ours.database), refused, owned(theirs.database):
        pass
    with owned(theirs.database):
        pass
    for each in (ours, theirs):
        await each.close()
