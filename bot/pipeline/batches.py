"""Scores watched replies through the provider's batch endpoint, at half the price: WATCH_BY_BATCH.

A case is judged with the answers that are in the store. Requests without an answer are queued there, and the case
waits. Every minute, queued requests are sent if the oldest has waited for an hour, and the answers of ended batches are
fetched; each step is logged before the next. No request is in two batches. Requests that a batch leaves unanswered are
queued again. A reply without a score after a day stays unscored, as with any watch.
"""

from datetime import timedelta
from typing import Any

import httpx2
import openai
import structlog

from bot.domain.case import LoggedCase
from bot.domain.clock import Clock
from bot.pipeline.retries import RetryError
from bot.store.batches import Batches
from judge import Judge, JudgeError, Verdict
from judge.rows.exchange import Exchange
from judge.rows.provider import Answer, Provider, Sent, is_completion, parts

_READ_AGAIN_FOR = timedelta(hours=6)  # if a file has fewer answers than the provider counts
_LOOK_AGAIN = timedelta(hours=1)  # a fallback: when the answers arrive, the case gets a job at once
_MOST_REQUESTS_REFUSED = 428  # higher statuses, a rate limit or a server error, are asked again

logger = structlog.get_logger(__name__)


class BatchJudging:
    """Judges cases with answers from batches, and sends the batches.

    Args:
        log: Keeps the requests and answers.
        team_id: The team whose cases are judged.
        client: The client for the provider.
        clock: Returns the time.
    """

    def __init__(self, log: Batches, team_id: str, client: openai.AsyncOpenAI, clock: Clock) -> None:
        self._log = log
        self._team_id = team_id
        self._provider = Provider(client, "unset WATCH_BY_BATCH")
        self._now = clock

    async def score(self, judge: Judge, case: LoggedCase) -> Verdict:
        """The verdict on a case.

        Raises:
            RetryError: Some answers have not arrived yet.
            JudgeError: As in `Judge.score`.
        """
        known = await self._log.known(case)
        exchange = Exchange(known)
        verdict = await exchange.score(judge, case.question or "", case.response or "", conversation=case.conversation)
        if verdict is None:
            await self._log.ask(case, len(known), exchange.missing, self._now())
            raise RetryError("its answers come in a batch", _LOOK_AGAIN)
        return verdict

    async def work(self) -> None:
        """Sends the requests that are due, and fetches answers; the next call retries what fails."""
        for part in parts(await self._log.due(self._team_id, self._now())):
            await self._log.begin(self._team_id, [request for request, _ in part])
        for batch in await self._log.open(self._team_id):
            try:
                await self._bring_on(batch)
            except (JudgeError, openai.APIError, httpx2.TransportError) as exc:
                cause = self._provider.refused(exc) if isinstance(exc, openai.APIError) else exc
                logger.error("batch_interrupted", batch=batch.batch_id or batch.nonce, reason=str(cause))

    async def _bring_on(self, batch: Sent) -> None:
        if not batch.batch_id:
            if await self._provider.start(batch, self._log):
                logger.info("batch_sent", batch=batch.batch_id, requests=batch.requests)
            return
        answers: dict[int, dict[str, Any]] = {}

        def keep(answer: Answer, _: bytes) -> None:
            if is_completion(answer.response) or 400 <= answer.response["status_code"] <= _MOST_REQUESTS_REFUSED:
                answers.setdefault(answer.position, answer.response)

        state = await self._provider.collect(batch, keep)
        if not state.has_ended:
            return
        for problem in state.problems:
            logger.warning("batch_line_ignored", batch=batch.batch_id, reason=problem)
        if state.is_short and state.ended_at is not None and self._now() - state.ended_at < _READ_AGAIN_FOR:
            logger.warning("batch_file_short", batch=batch.batch_id, answers=state.read, of=state.completed)
            return
        await self._log.end(batch, answers, self._now())
        logger.info("batch_ended", batch=batch.batch_id, status=state.status, answered=len(answers), of=batch.requests)
