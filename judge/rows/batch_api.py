"""Scores the rows of a file through the provider's batch endpoint: at half the price, answered within 24 hours.

All rows are run with the answers known so far (`exchange.py`). Their other requests are sent in batches, and once a
batch has ended, the rows without a verdict are run again. So whatever the judge asks next (without a parameter that the
server rejects, for the score alone, for a third rating) goes into another batch.

Everything known about batches is in a file beside the output (`judge.rows.batch_log`) before it is acted upon.
"""

import asyncio
import hashlib
import os
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import openai

from judge.errors import JudgeError, SetupError
from judge.rows import provider
from judge.rows.batch import Batch, identity_of
from judge.rows.batch_log import Asked, BatchLog, SentRows
from judge.rows.exchange import QUIET_S, Exchange
from judge.rows.journal import Journal
from judge.rows.row_file import Item, Malformed
from judge.scoring.model import make_client
from judge.scoring.model.failures import is_worth_retrying, server_name
from judge.scoring.ratings import Verdict

# Limits for the rows run at once, each of which takes about 40 kB and eleven times its request, and for the bytes that
# wait to be sent.
_MOST_ROWS, _MOST_BYTES_AT_ONCE = 1_000, 50_000_000
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 5.0, 60.0
_MOST_TRIES = 5


@dataclass
class BatchApi:
    """Runs a `Batch` of rows whose requests are sent in batches."""

    path: Path  # the file with everything known about batches; removed once nothing in it is needed
    say: Callable[[str], None]  # called with one sentence for each batch that is sent, and for each problem with one
    concurrency: int  # rows that ask directly at once
    then_direct: bool  # whether a row gets one round of batches and asks directly for all that follows
    cancels: bool  # whether to send nothing, and to cancel the batches in progress

    def __post_init__(self) -> None:
        self._client = make_client(os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL"))
        self._url = str(self._client.base_url)
        if (urlsplit(self._url).hostname or "").endswith(".azure.com"):
            raise SetupError("Azure takes batches only for deployments made for them; leave out --batch-api.")
        self._provider = provider.Provider(self._client, "leave out --batch-api")
        self._hurry = self._provider.hurry
        self._directly = asyncio.Semaphore(self.concurrency)
        self._rows: defaultdict[int, list[Asked]] = defaultdict(list)
        self._gathered: list[tuple[Asked, bytes]] = []
        self._gathered_bytes = 0
        self._under_way: list[SentRows] = []
        self._stuck: list[tuple[SentRows, str]] = []  # batches whose answers are out of reach, and why
        self._lost: set[int] = set()  # rows with a request that a batch left unanswered
        self._failed: set[int] = set()
        self._asked = 0

    @staticmethod
    def rows_at_once(rows: int, size: int, prompt: str) -> int:
        """How many of these rows, of `size` bytes in all, can be run at once within the memory limit."""
        a_row = size / max(1, rows) + len(prompt)
        return max(1, min(rows, _MOST_ROWS, int(_MOST_BYTES_AT_ONCE / a_row)))

    @property
    def total(self) -> int:
        """The number of requests so far, answered or not."""
        return self._asked + len(self._gathered)

    @property
    def done(self) -> int:
        """The number of requests that are answered, as counted by the provider."""
        open_batches = [*self._under_way, *(batch for batch, _ in self._stuck)]
        return self._asked - sum(max(0, batch.requests - batch.counted) for batch in open_batches)

    @property
    def is_waiting(self) -> bool:
        """Whether batches are in progress."""
        return any(batch.file_id for batch in self._under_way)

    async def drive(self, run: Batch, items: Callable[[], Iterator[Item | Malformed]]) -> None:
        """Runs `run` to its end, again after each batch; rows that still wait when no batch is left have failed.

        `run` scores its rows with `score`; `items` returns those without a verdict, each time it is called.
        """
        self._log = BatchLog(self.path)
        self._judge = run.judge
        is_needed, is_first, rows = True, True, items()
        try:
            async with self._client:
                await self._take_up(run.journal)
                while not run.stopped:
                    await run.run(self._left(rows, is_first=is_first))
                    is_full = self._is_full
                    if not (run.stopped or self.cancels):
                        await self._send()
                    if run.stopped or not (is_full or self._under_way):
                        break
                    if not is_full:
                        await self._collect()
                        is_first, rows = False, items()
            is_needed = self._finish(run)
        except JudgeError as exc:
            run.stopped = exc
        except openai.APIError as exc:
            run.stopped = self._provider.refused(exc)
        finally:
            self._log.close()
            # Without a file at the provider, nothing was started.
            if not (is_needed and any(batch.file_id for batch in self._log.batches.values())):
                self.path.unlink(missing_ok=True)

    def _finish(self, run: Batch) -> bool:
        """Counts the rows that are left, and returns whether a later run needs the file."""
        left = self._lost | {asked.line for asked, _ in self._gathered}
        run.failed += 0 if self.cancels else len(left)
        if run.failed:
            self._log.record(run="ended with failures")
        if self._stuck and not run.stopped:
            run.stopped = SetupError(self._stuck[0][1])
        unused = sum(any(each.place for each in asked) for line, asked in self._rows.items() if line not in left)
        if unused and not (run.failed or run.stopped):
            self.say(f"{self.path} keeps the answers for {unused:,} more rows.")
        return bool(run.failed or run.stopped or left or unused)

    async def score(self, row: Item) -> Verdict | None:
        """The verdict on a row; None if answers are still to come."""
        asked = self._rows[row.line]
        is_direct = self.then_direct and bool(asked)
        there = [
            (each.digest, self._log.response(each.place) if each.place else None) for each in asked if not each.is_lost
        ]
        exchange = Exchange(there, is_direct=is_direct)
        try:
            async with self._directly if is_direct else nullcontext():
                verdict = await exchange.score(
                    self._judge, row.question, row.response, QUIET_S * self._hurry, conversation=row.conversation
                )
        except JudgeError:
            self._failed.add(row.line)
            raise
        if verdict:
            del self._rows[row.line]
        else:
            own = self._digest(row)
            self._gathered += [(Asked(row.line, own, digest), body) for digest, body in exchange.missing]
            self._gathered_bytes += sum(len(body) for _, body in exchange.missing)
        return verdict

    @property
    def _is_full(self) -> bool:
        """Whether too many requests wait to be sent, so that the other rows come later."""
        return self._gathered_bytes > _MOST_BYTES_AT_ONCE and not self.cancels

    def _digest(self, row: Item) -> str:
        judged = identity_of(self._judge), self._judge.model, row.question, row.response, *row.conversation
        return hashlib.sha256(repr(judged).encode()).hexdigest()[:16]

    def _left(self, items: Iterator[Item | Malformed], *, is_first: bool) -> Iterator[Item | Malformed]:
        """The rows whose requests are all answered, until it is time to send; in the first run also malformed lines."""
        over = self._failed | self._lost
        for item in items:
            if isinstance(item, Malformed):
                if is_first:
                    yield item
            elif item.line not in over and (item.line in self._rows or not self.cancels):
                asked = self._rows.get(item.line, ())
                if any(each.row != self._digest(item) for each in asked):
                    raise SetupError(
                        f"Line {item.line} of the input, or its judge, has changed since a batch asked for it; "
                        f"restore it, or remove {self.path} to ask and pay again."
                    )
                if all(each.place or each.is_lost for each in asked):
                    yield item
            if self._is_full:
                return

    async def _take_up(self, journal: Journal) -> None:
        """Goes on with the batches of earlier runs, and with their requests for rows without a verdict."""
        for batch in self._log.batches.values():
            is_over = batch.has_ended or not batch.file_id  # without a file nothing was started
            if not is_over:
                self._under_way.append(batch)
            for asked in batch.asked:
                asked.is_lost = is_over and not asked.place
                if not journal.has(asked.line) and (not asked.is_lost or (batch.has_ended and self.then_direct)):
                    self._rows[asked.line].append(asked)
                    self._asked += not asked.is_lost
            if is_over:
                batch.asked = ()  # they take much memory
        if self.cancels and not self._under_way:
            self.say("No batch is in progress.")
        for batch in list(self._under_way):
            if not batch.batch_id:
                await self._start(batch)
            if self.cancels and batch.batch_id:
                await self._provider.cancel(batch.batch_id)

    async def _send(self) -> None:
        gathered, self._gathered, self._gathered_bytes = self._gathered, [], 0
        for part in provider.parts(gathered, most_bytes=_MOST_BYTES_AT_ONCE):
            asked, bodies = [each for each, _ in part], [body for _, body in part]
            batch = SentRows(secrets.token_hex(8), len(part), asked=asked, bodies=bodies)
            self._log.begin(batch)
            self._under_way.append(batch)
            self._asked += batch.requests
            for each in asked:
                self._rows[each.line].append(each)
            await self._start(batch)
            batch.bodies = ()

    async def _start(self, batch: SentRows) -> None:
        for tried in range(1, _MOST_TRIES + 1):
            try:
                await self._provider.start(batch, self._log, creates=not self.cancels)
                break
            except openai.APIError as exc:
                is_doubtful = batch.is_earlier or tried > 1  # whether an earlier request may have created it
                if is_doubtful and (isinstance(exc, openai.NotFoundError) or batch.file_id in str(exc)):
                    self._give_up(batch, self._unknown(batch.file_id))
                    return
                if isinstance(exc, openai.APIStatusError) and not is_worth_retrying(exc):
                    if batch.file_id and not is_doubtful:  # if it is, another key may find the batch
                        self._log.record(batch=batch.nonce, ended="refused")
                        batch.file_id = ""
                    raise
                if tried == _MOST_TRIES or not batch.file_id:
                    raise
            await asyncio.sleep(2**tried * self._hurry)
        if not batch.batch_id:
            self._end(batch, "never created")
            return
        requests = "1 request" if batch.requests == 1 else f"{batch.requests:,} requests"
        self.say(f"{batch.batch_id}: {requests} sent; answers come within 24 hours.")

    async def _collect(self) -> None:
        """Waits until a batch has ended, and fetches its answers."""
        pause_s, before, failures = _FIRST_PAUSE_S, len(self._under_way), 0
        while True:
            failure: Exception | None = None
            for batch in list(self._under_way):
                try:
                    await self._look_at(batch)
                except openai.NotFoundError:
                    self._give_up(batch, self._unknown(batch.batch_id))
                except openai.APIError as exc:
                    if not is_worth_retrying(exc):
                        raise
                    failure = self._provider.refused(exc)
                except httpx2.TransportError:  # in the middle of a file; the answers so far are kept
                    failure = JudgeError("The connection broke while answers were read.")
            if len(self._under_way) < before:
                return
            failures = failures + 1 if failure else 0
            if failures == _MOST_TRIES:
                self.say(f"{failure} I keep looking once a minute.")
            await asyncio.sleep(pause_s * self._hurry)
            pause_s = min(1.5 * pause_s, _LONGEST_PAUSE_S)

    async def _look_at(self, batch: SentRows) -> None:
        def keep(answer: provider.Answer, raw: bytes) -> None:
            asked = batch.asked[answer.position]
            asked.place = asked.place or self._log.append(raw + b"\n")  # a second answer is ignored

        now = await self._provider.collect(batch, keep)
        batch.counted = now.counted or batch.counted
        batch.tries += now.has_ended
        if not now.has_ended or (now.is_short and batch.tries < _MOST_TRIES):
            return
        if now.problems:
            more = f", like {len(now.problems) - 1:,} more" if now.problems[1:] else ""
            self.say(f"{batch.batch_id}: {now.problems[0]} and is ignored{more}.")
        if not now.is_short:
            self._end(batch, now.status)
            return
        self._give_up(
            batch,
            f"{batch.batch_id} has {now.completed:,} answers, and {now.read:,} of them can be read. Try again "
            "later. If the others are lost, --cancel gives them up, and the next run asks and pays for them again.",
        )

    def _give_up(self, batch: SentRows, why: str) -> None:
        """Leaves a batch to a later run; with --cancel, gives it up for good."""
        if self.cancels:
            self._end(batch, "given up")
        else:
            self._under_way.remove(batch)
            self._stuck.append((batch, why))

    def _end(self, batch: SentRows, status: str) -> None:
        self._log.record(batch=batch.nonce, ended=status)
        self._under_way.remove(batch)
        number, left = batch.requests, [asked for asked in batch.asked if not asked.place]
        batch.asked = ()  # as in `_take_up`
        if left:
            self.say(f"{batch.batch_id or batch.nonce}: {status}; {number - len(left):,} of {number:,} answered.")
        self._asked -= len(left)
        for asked in left:
            if self.then_direct:
                asked.is_lost = True
            elif batch.is_earlier:
                self._rows[asked.line].remove(asked)
            else:  # the next run asks again for what this one got no answer to
                self._lost.add(asked.line)

    def _unknown(self, what: str) -> str:
        return (
            f"The server at {server_name(self._url)} does not know {what}. Use the key that it was sent with. If it is "
            "lost, --cancel gives it up, and the next run asks and pays for its rows again."
        )
