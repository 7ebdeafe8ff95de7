"""The engine: runs the jobs of the queue until it is stopped.

The queue is pgqueuer (https://github.com/janbjorge/pgqueuer). With SQLite it is in the memory of
this process; with PostgreSQL it is in the database, where any number of processes share it. A
process's heartbeat shows that it is alive; the jobs of a dead or frozen one go to another. At each
start of the queue and every minute, unsettled cases without a job get one.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Protocol

import sqlalchemy as sa
import structlog
from pgqueuer import PgQueuer
from pgqueuer.adapters.inmemory import InMemoryDriver, InMemoryQueries
from pgqueuer.errors import RetryRequested
from pgqueuer.models import Job as QueuedJob
from pgqueuer.models import Schedule

from bot import metrics
from bot.pipeline.retries import (
    STORE_PAUSE,
    RetryError,
    growing_pause,
    in_log,
    note_interruption,
)
from bot.slack.incoming import Traffic
from bot.store import Store
from bot.store.jobs import Job, submit_all, submit_oldest, trim_queue

TAKEOVER = timedelta(seconds=15)
"""A process without a heartbeat for this long counts as dead."""

LANDS = timedelta(seconds=3)
"""A post that was cut off may still reach Slack; after this time, a search finds it."""

# For jobs of dead processes, and for jobs whose notification was lost.
_LOOK_EVERY = timedelta(seconds=5)
_NEVER = timedelta(days=365)  # an in-memory queue has no other process to take jobs over
# A workspace whose periodic job takes longer no longer keeps the next one from beginning.
_ROUND_S = 30.0
_WORKSPACES_AT_ONCE = 8

JobHandler = Callable[[Job], Awaitable[None]]

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class PeriodicJob:
    """A job that runs at each start and every minute, in each workspace or once for all of them.

    Where there are several, it only runs in those whose ids `teams` selects: most may have nothing
    to do.
    """

    name: str
    run: Callable[[], Awaitable[object]]
    is_for_all: bool = False
    teams: sa.Select[tuple[str]] | None = None


@dataclass(frozen=True)
class Work:
    """What is to be done in one workspace; each has the same kinds of jobs, and the same periodic
    jobs.
    """

    handlers: Mapping[str, JobHandler]
    periodic_jobs: Sequence[PeriodicJob] = ()


class Served(Protocol):
    """The workspaces that this process serves; their number changes while it runs."""

    @property
    def template(self) -> Work:
        """The kinds of jobs and the periodic jobs that each workspace has."""

    async def team_ids(self) -> Collection[str]: ...

    async def work_of(self, team_id: str) -> Work | None:
        """None if the app is not installed there, or its token is no longer valid."""


class Engine:
    """Runs the jobs of all workspaces in this process.

    Periodic jobs run at each start and every minute, with PostgreSQL in one process at a time. The
    payloads of `traffic` go before jobs. With PostgreSQL, it holds at most `at_once` jobs.
    `on_stop` ends what would wait too long.
    """

    def __init__(
        self,
        store: Store,
        served: Served,
        at_once: int,
        traffic: Traffic | None = None,
        on_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._traffic = traffic or Traffic()
        self._served = served
        self._at_once = at_once
        self._on_stop = on_stop
        self._queue: PgQueuer | None = None
        self._running: dict[tuple[str, int], asyncio.Task[Any] | None] = {}
        # Those under way, by job and workspace.
        self._periodic: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._is_stopping = False

    async def is_running(self) -> bool:
        return self._queue is not None

    async def run_forever(self) -> None:
        """Runs until stopped; if the database is lost, starts again after growing pauses."""
        tries = 0
        while not self._is_stopping:
            try:
                async with self._open_queue() as queue:
                    unsettled = 0
                    for team_id in await self._served.team_ids():
                        unsettled += await submit_all(self._store.database, team_id)
                        await self._store.edits.resubmit(team_id)
                    logger.info("queue_opened", unsettled=unsettled)
                    tries = 0
                    await self._run(queue)
            except Exception as exc:  # noqa: BLE001 - it is logged
                # From the store, the queue or its connection; the store still has all work.
                tries += 1
                pause_s = min(growing_pause(tries), STORE_PAUSE).total_seconds()
                logger.error("queue_interrupted", next_in_s=pause_s, **in_log(exc))
                await asyncio.sleep(pause_s)

    async def stop(self, running: asyncio.Task[None], grace_s: float) -> None:
        """Ends `run_forever`: running jobs get `grace_s` to finish, then go back to the queue."""
        self._is_stopping = True
        if self._queue:
            self._queue.shutdown.set()
        self._on_stop()
        try:
            await asyncio.wait([running], timeout=grace_s)
        finally:
            # Even if this wait is cancelled, no job may run on after the store is closed.
            for job in list(self._running.values()):
                if job:
                    job.cancel()
            await asyncio.wait([running], timeout=3)  # seconds for their last words
            running.cancel()
            await asyncio.wait([running])

    @asynccontextmanager
    async def _open_queue(self) -> AsyncIterator[PgQueuer]:
        if self._store.database.is_sqlite:
            memory = self._store.database.queue = InMemoryQueries(InMemoryDriver())
            yield PgQueuer(memory.driver, queries=memory)
            return
        async with self._store.database.engine.connect() as connection:
            from bot.pipeline.queue_connection import QueueConnection  # needs asyncpg, an extra

            driver_connection: Any = (await connection.get_raw_connection()).driver_connection
            try:
                yield PgQueuer(QueueConnection(driver_connection, self._drop_jobs))
            finally:
                # It is in LISTEN state, so it must not return to the pool.
                await connection.invalidate()

    async def _run(self, queue: PgQueuer) -> None:
        for kind in self._served.template.handlers:
            queue.entrypoint(kind)(partial(self._do, kind))
        first_rounds = self._begin_periodic(queue)
        self._queue = queue
        try:
            if self._is_stopping:
                return
            if self._store.database.is_sqlite:
                await queue.run(
                    dequeue_timeout=_LOOK_EVERY,
                    max_concurrent_tasks=1000,
                    heartbeat_timeout=_NEVER,
                    log_aggregation_interval=timedelta(),
                )
            else:
                await queue.run(
                    dequeue_timeout=_LOOK_EVERY,
                    batch_size=max(self._at_once // 2, 1),
                    max_concurrent_tasks=max(self._at_once, 2),
                    heartbeat_timeout=TAKEOVER,
                    shutdown_on_listener_failure=True,
                )
        finally:
            self._queue = None
            under_way = [*first_rounds, *self._periodic.values()]
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    def _begin_periodic(self, queue: PgQueuer) -> Sequence[asyncio.Task[None]]:
        """Schedules the periodic jobs; returns their first rounds.

        These run at once instead of at the next full minute, and beside the jobs, because a digest
        may take long.
        """
        resubmit = PeriodicJob("resubmit", self._resubmit, is_for_all=True)
        first_rounds = []
        for job in (*self._served.template.periodic_jobs, resubmit):
            work = job.run if job.is_for_all else partial(self._go_round, job)
            run = partial(self._do_periodic, job.name, work)
            queue.schedule(job.name, "* * * * *")(run)
            first_rounds.append(asyncio.create_task(run()))
        return first_rounds

    async def _do(self, kind: str, queued: QueuedJob) -> None:
        """Runs a job; the only error that the queue ever gets is a request for a retry."""
        job = Job(kind, **json.loads(queued.payload or b""))
        key = kind, job.case_id
        if key in self._running:
            # The earlier job of this case is about to end.
            raise RetryRequested(timedelta(seconds=0.5))
        self._running[key] = asyncio.current_task()
        metrics.RUNNING.inc()
        try:
            await self._traffic.calm()
            await self._hand_over(job)
        except asyncio.CancelledError:
            if not self._is_stopping:
                raise
            raise RetryRequested(LANDS, "stopped") from None
        except RetryError as exc:
            raise RetryRequested(exc.pause, str(exc)) from None
        except Exception as exc:  # noqa: BLE001 - it is logged
            reason = note_interruption("job_interrupted", exc, kind=kind, case=job.case_id)
            raise RetryRequested(growing_pause(queued.attempts + 1), reason) from None
        finally:
            metrics.RUNNING.dec()
            del self._running[key]

    async def _hand_over(self, job: Job) -> None:
        work = await self._served.work_of(job.team_id)
        if work is None:
            # Once the app is there again, its cases get jobs again.
            logger.info(
                "job_of_another_workspace", kind=job.kind, case=job.case_id, team=job.team_id
            )
            return
        await work.handlers[job.kind](job)

    def _drop_jobs(self) -> None:
        """Cancels the jobs of a lost queue, which would wait for them; a job that waits for the
        model takes minutes.

        Their cases keep the step that they have reached, and the next process with these jobs
        settles them.
        """
        loop = asyncio.get_running_loop()
        for job in self._running.values():
            if job:
                loop.call_soon(job.cancel)

    async def _go_round(self, job: PeriodicJob) -> None:
        """Runs a periodic job in each workspace, in some at once; one that still runs there is not
        begun again.
        """
        team_ids = await self._served.team_ids()
        patience_s = None if len(team_ids) == 1 else _ROUND_S
        if job.teams is not None and len(team_ids) > 1:
            with_work = await self._store.database.values(job.teams.distinct())
            team_ids = set(team_ids).intersection(with_work)
        at_once = asyncio.Semaphore(_WORKSPACES_AT_ONCE)

        async def visit(team_id: str) -> None:
            work = await self._served.work_of(team_id)
            # Each workspace has a job of that name, with services of its own.
            for own_job in work.periodic_jobs if work else ():
                if own_job.name == job.name:
                    await own_job.run()

        async def begin(team_id: str) -> None:
            key = job.name, team_id
            async with at_once:
                if key in self._periodic:
                    return
                task = asyncio.create_task(self._do_periodic(job.name, partial(visit, team_id)))
                self._periodic[key] = task
                task.add_done_callback(lambda _: self._periodic.pop(key))
                await asyncio.wait([task], timeout=patience_s)

        await asyncio.gather(*(begin(team_id) for team_id in team_ids))

    async def _do_periodic(
        self, name: str, run: Callable[[], Awaitable[object]], _: Schedule | None = None
    ) -> None:
        try:
            await run()
        except Exception as exc:  # noqa: BLE001 - it is logged
            # The app goes on after any error, and the job runs again.
            logger.error("periodic_job_failed", job=name, **in_log(exc))

    async def _resubmit(self) -> None:
        for team_id in await self._served.team_ids():
            await submit_oldest(self._store.database, team_id)
            await self._store.edits.resubmit(team_id)
        await trim_queue(self._store.database)
