"""The engine: takes jobs from the queue and has them done, until it is stopped.

The queue is pgqueuer (https://github.com/janbjorge/pgqueuer): in the memory of this process beside a log in SQLite, in
the database beside a log in PostgreSQL, where any number of workers share it. A worker says by its heartbeat that it is
alive; the jobs of one that is dead or frozen go to another. Each start of the queue, and a look every minute, writes a
job for whatever is unsettled and has none.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import aiohttp
import structlog
from pgqueuer import PgQueuer
from pgqueuer.adapters.inmemory import InMemoryDriver, InMemoryQueries
from pgqueuer.errors import RetryRequested
from pgqueuer.models import Job, Schedule
from slack_sdk.errors import SlackApiError

from bot import metrics
from bot.pipeline.retries import LOG_PAUSE, RetryError, growing_pause, in_brief
from bot.slack.incoming import Traffic
from bot.store import Store
from bot.store.errors import STORE_ERRORS
from bot.store.jobs import JobKind, JobPayload, entrypoint

TAKEOVER = timedelta(seconds=15)
"""A worker that gives no sign for so long is taken to be gone."""

LANDS = timedelta(seconds=3)
"""A post that is cut off may still be on its way; whoever looks for it after this time finds it in Slack."""

_LOOK_EVERY = timedelta(seconds=5)  # for jobs of dead workers, and for what no notice has come of
_NEVER = timedelta(days=365)  # the memory of a process dies with it
_MOST_IN_MEMORY = 1000
_AGAIN_SOON = timedelta(seconds=0.5)
_EVERY_MINUTE = "* * * * *"
_LAST_WORDS_S = 3

JobHandler = Callable[[JobPayload], Awaitable[None]]

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class PeriodicJob:
    """What runs every minute, and at each start, where it may run beside that of another worker."""

    name: str
    run: Callable[[], Awaitable[object]]
    is_for_one: bool = False


class Engine:
    """Runs jobs in this process.

    Args:
        team_id: Whose jobs; another team may have its own in the same database, and another app.
        periodic_jobs: What runs at each start and every minute; with PostgreSQL by one worker at a time.
        traffic: Payloads, which go before jobs.
        at_once: With PostgreSQL, how many jobs this worker has at once, so that others get their share.
    """

    def __init__(
        self,
        store: Store,
        team_id: str,
        handlers: Mapping[JobKind, JobHandler],
        periodic_jobs: list[PeriodicJob],
        at_once: int,
        traffic: Traffic | None = None,
    ) -> None:
        self._store = store
        self._traffic = traffic or Traffic()
        self._team_id = team_id
        self._handlers = handlers
        self._periodic_jobs = [*periodic_jobs, PeriodicJob("resubmit", self._resubmit)]
        self._at_once = at_once
        self._queue: PgQueuer | None = None
        self._running: dict[tuple[JobKind, int], asyncio.Task[Any]] = {}
        self._is_stopping = False
        if store.database.is_sqlite:
            store.jobs.memory = InMemoryQueries(InMemoryDriver())

    async def is_running(self) -> bool:
        return self._queue is not None

    async def run_forever(self) -> None:
        """Runs until stopped; where the database goes away, begins anew after growing pauses."""
        tries = 0
        while not self._is_stopping:
            try:
                async with self._open_queue() as queue:
                    number = await self._store.unsettled.submit_all(self._team_id)
                    await self._store.edits.resubmit(self._team_id)
                    logger.info("queue_opened", unsettled=number)
                    tries = 0
                    await self._run(queue)
            except Exception as exc:  # of the log's, the queue's or its connection's; what is to do is in the log
                tries += 1
                pause_s = min(growing_pause(tries), LOG_PAUSE).total_seconds()
                brief = in_brief(exc)
                reason = brief or type(exc).__name__
                logger.error("queue_interrupted", reason=reason, next_in_s=pause_s, exc_info=None if brief else exc)
                await asyncio.sleep(pause_s)

    async def stop(self, running: asyncio.Task[None], grace_s: float) -> None:
        """Ends `run_forever`: jobs that run get `grace_s` to end, and go back to the queue then."""
        self._is_stopping = True
        if self._queue:
            self._queue.shutdown.set()
        try:
            await asyncio.wait([running], timeout=grace_s)
        finally:  # whoever does not wait for it must not leave jobs running behind a closed log either
            for job in list(self._running.values()):
                job.cancel()
            await asyncio.wait([running], timeout=_LAST_WORDS_S)
            running.cancel()
            await asyncio.wait([running])

    @asynccontextmanager
    async def _open_queue(self) -> AsyncIterator[PgQueuer]:
        if self._store.database.is_sqlite:
            memory = self._store.jobs.memory = InMemoryQueries(InMemoryDriver())
            yield PgQueuer(memory.driver, queries=memory)
            return
        async with self._store.database.engine.connect() as connection:
            from bot.pipeline.queue_connection import QueueConnection  # its driver is there with PostgreSQL alone

            driver_connection: Any = (await connection.get_raw_connection()).driver_connection
            try:
                yield PgQueuer(QueueConnection(driver_connection, self._drop_jobs))
            finally:
                await connection.invalidate()  # it listens, and is of no use to anybody else

    async def _run(self, queue: PgQueuer) -> None:
        for kind in self._handlers:
            queue.entrypoint(entrypoint(kind, self._team_id))(partial(self._do, kind))
        for job in self._periodic_jobs:
            queue.schedule(f"{job.name}:{self._team_id}", _EVERY_MINUTE)(partial(self._do_periodic, job))
        self._queue = queue
        # At once, since a minute has begun; and beside the jobs, since a digest may take its time.
        first = [asyncio.create_task(self._do_periodic(job)) for job in self._periodic_jobs if not job.is_for_one]
        try:
            if self._is_stopping:
                return
            if self._store.database.is_sqlite:
                await queue.run(
                    dequeue_timeout=_LOOK_EVERY,
                    max_concurrent_tasks=_MOST_IN_MEMORY,
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
            for task in first:
                task.cancel()
            await asyncio.gather(*first, return_exceptions=True)

    async def _do(self, kind: JobKind, job: Job) -> None:
        """Does a job; whatever becomes of it, nothing but a wish for another try is told to the queue."""
        payload = JobPayload.model_validate_json(job.payload or b"")
        key = kind, payload.case_id
        if key in self._running:  # the one before it is about to end
            raise RetryRequested(_AGAIN_SOON)
        this = asyncio.current_task()
        assert this is not None  # noqa: S101 - a coroutine runs in a task
        self._running[key] = this
        metrics.RUNNING.inc()
        try:
            await self._traffic.calm()
            await self._handlers[kind](payload)
        except asyncio.CancelledError:
            if not self._is_stopping:
                raise
            raise RetryRequested(LANDS, "stopped") from None
        except RetryError as exc:
            raise RetryRequested(exc.pause, str(exc)) from None
        except (SlackApiError, aiohttp.ClientError, *STORE_ERRORS) as exc:
            logger.warning("job_interrupted", kind=kind, case=payload.case_id, reason=in_brief(exc))
            raise RetryRequested(growing_pause(job.attempts + 1), in_brief(exc)) from None
        except Exception as exc:
            logger.error("job_failed", kind=kind, case=payload.case_id, exc_info=exc)
            raise RetryRequested(growing_pause(job.attempts + 1), type(exc).__name__) from None
        finally:
            metrics.RUNNING.dec()
            del self._running[key]

    def _drop_jobs(self) -> None:
        """Ends the jobs of a queue that is lost; it would wait for them, and a job at the model takes minutes.

        Their cases are where they were, and are settled by whoever is given the jobs next.
        """
        for job in self._running.values():
            asyncio.get_running_loop().call_soon(job.cancel)

    async def _do_periodic(self, job: PeriodicJob, _: Schedule | None = None) -> None:
        try:
            await job.run()
        except Exception as exc:  # whatever it was, the app goes on, and the job is due again
            reason = in_brief(exc)
            logger.error("periodic_job_failed", job=job.name, reason=reason, exc_info=None if reason else exc)

    async def _resubmit(self) -> None:
        await self._store.unsettled.submit_oldest(self._team_id)
        await self._store.edits.resubmit(self._team_id)
        await self._store.executions.resubmit(self._team_id)
        await self._store.executions.trim()
        await self._store.channel_replays.resubmit(self._team_id)
        await self._store.improvements.resubmit(self._team_id)
        await self._store.jobs.trim()
        await self._store.batches.trim(self._team_id)
