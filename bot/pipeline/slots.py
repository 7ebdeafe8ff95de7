"""The places at the model, which all workspaces of a process share."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from cachetools import LRUCache

from bot import metrics
from bot.domain.fair_queue import BACKGROUND, FairQueue
from bot.pipeline.retries import FLEX_PAUSE, RetryError
from judge.scoring.ratings import Result


class ModelSlots:
    """What all workspaces share: at most `concurrency` cases are judged at the same time.

    Workspaces, channels and people take turns. As many watched cases may wait beside them at the
    tier "flex", where an answer can take 15 minutes; the others give their job back, so that they
    keep no place in the queue from people's cases.
    """

    def __init__(self, concurrency: int) -> None:
        self.line = FairQueue(concurrency, metrics.QUEUE)
        # The attempts at watched cases that wait at the tier "flex".
        self.patient: dict[int, asyncio.Task[Any] | None] = {}
        self.most_patient = concurrency
        # The cases whose slot at the model has come, in order.
        self.under_way: dict[int, None] = {}
        # For cases whose try failed: what was judged, and the ratings that came and are paid for.
        self.came: LRUCache[int, tuple[int, Sequence[Result]]] = LRUCache(100)

    def background(self) -> AbstractAsyncContextManager[None]:
        """A slot at the model for a request that belongs to no case, once no case waits."""
        return self.line.slot(*[BACKGROUND] * 3)

    def place_of(self, case_id: int) -> int | None:
        """How many cases came before this one and are at the model; None while it waits."""
        return [*self.under_way].index(case_id) if case_id in self.under_way else None

    def begin_waiting(self, case_id: int) -> None:
        """Has this attempt wait at the tier "flex", or raises RetryError if as many do as may."""
        if len(self.patient) >= self.most_patient:
            raise RetryError("others wait at its tier", FLEX_PAUSE)
        self.patient[case_id] = asyncio.current_task()

    def stop_waiting(self) -> None:
        """Ends the attempts that wait at the tier "flex", and lets none begin; the next start makes
        them again.
        """
        self.most_patient = 0
        for attempt in filter(None, self.patient.values()):
            attempt.cancel()
