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
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import openai

from judge.errors import JudgeError, SetupError
from judge.rows.batch import Batch, identity_of
from judge.rows.batch_log import Asked, BatchLog, Sent
from judge.rows.exchange import QUIET_S, Exchange
from judge.rows.provider import Batches, is_completion, parts, read_answer
from judge.rows.row_file import Item, Malformed
from judge.scoring.judging import Judge
from judge.scoring.model import make_client
from judge.scoring.model.failures import is_worth_retrying, server_name
from judge.scoring.ratings import Verdict

# Limits for the rows run at once, each of which takes about 40 kB and eleven times its request, and for the bytes that
# wait to be sent.
_MOST_ROWS, _MOST_BYTES_AT_ONCE = 1_000, 50_000_000
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 5.0, 60.0
_MOST_TRIES = 5


class BatchApi:
    """Runs a `Batch` of rows whose requests are sent in batches.

    Args:
        path: The file with everything known about batches; removed once nothing in it is needed.
        say: Called with one sentence for each batch that is sent, and for each problem with one.
        concurrency: The number of rows that ask directly at once.
        then_direct: Whether a row gets one round of batches and asks directly for all that follows.
        cancels: Whether to send nothing, and to cancel the batches in progress.
    """

    def __init__(
        self, path: Path, say: Callable[[str], None], *, concurrency: int, then_direct: bool, cancels: bool
    ) -> None:
        self._path = path
        self._say = say
        self._then_direct = then_direct
        self._cancels = cancels
        self._client = make_client(os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL"))
        self._url = str(self._client.base_url)
        if (urlsplit(self._url).hostname or "").endswith(".azure.com"):
            raise SetupError("Azure takes batches only for deployments made for them; leave out --batch-api.")
        self._batches = Batches(self._client, "leave out --batch-api")
        self._hurry = self._batches.hurry
        self._directly = asyncio.Semaphore(concurrency)
        self._rows: defaultdict[int, list[Asked]] = defaultdict(list)
        self._gathered: list[tuple[Asked, bytes]] = []
        self._gathered_bytes = 0
        self._under_way: list[Sent] = []
        self._stuck: list[tuple[Sent, str]] = []  # batches whose answers are out of reach, and why
        self._lost: set[int] = set()  # rows with a request that a batch left unanswered
        self._failed: set[int] = set()
        self._asked = 0
        self._files = 0  # files that the provider has; ours is needed as long as there are any

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
        return self._asked - sum(max(0, len(batch.asked) - batch.counted) for batch in open_batches)

    @property
    def is_waiting(self) -> bool:
        """Whether batches are in progress."""
        return bool(self._under_way)

    async def drive(
        self,
        run: Batch,
        judge: Judge,
        items: Callable[[], Iterator[Item | Malformed]],
        has_verdict: Callable[[int], bool],
    ) -> None:
        """Runs `run` to its end, again after each batch; rows that still wait when no batch is left have failed.

        Args:
            run: The batch, which scores its rows with `score`.
            judge: The judge that `score` uses.
            items: Returns the rows without a verdict, each time it is called.
            has_verdict: Whether the row on a line has a verdict.
        """
        self._log = BatchLog(self._path)
        self._judge = judge
        is_needed, is_first, rows = True, True, items()
        try:
            async with self._client:
                self._load(has_verdict)
                if self._cancels and not self._under_way:
                    self._say("No batch is in progress.")
                await self._take_up()
                while not run.stopped:
                    await run.run(self._left(rows, is_first=is_first))
                    is_full = self._is_full
                    if not (run.stopped or self._cancels):
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
            run.stopped = self._batches.refused(exc)
        finally:
            self._log.close()
            if not (self._files and is_needed):
                self._path.unlink(missing_ok=True)

    def _finish(self, run: Batch) -> bool:
        """Counts the rows that are left, and returns whether a later run needs the file."""
        left = self._lost | {asked.line for asked, _ in self._gathered}
        run.failed += 0 if self._cancels else len(left)
        if run.failed:
            self._log.note(run="ended with failures")
        if self._stuck and not run.stopped:
            run.stopped = SetupError(self._stuck[0][1])
        unused = sum(any(each.place for each in asked) for line, asked in self._rows.items() if line not in left)
        if unused and not (run.failed or run.stopped):
            self._say(f"{self._path} keeps the answers for {unused:,} more rows.")
        return bool(run.failed or run.stopped or left or unused)

    async def score(self, row: Item) -> Verdict | None:
        """The verdict on a row; None if answers are still to come."""
        asked = self._rows[row.line]
        is_direct = self._then_direct and bool(asked)
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
        return self._gathered_bytes > _MOST_BYTES_AT_ONCE and not self._cancels

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
            elif item.line not in over and (item.line in self._rows or not self._cancels):
                asked = self._rows.get(item.line, ())
                if any(each.row != self._digest(item) for each in asked):
                    raise SetupError(
                        f"Line {item.line} of the input, or its judge, has changed since a batch asked for it; "
                        f"restore it, or remove {self._path} to ask and pay again."
                    )
                if all(each.place or each.is_lost for each in asked):
                    yield item
            if self._is_full:
                return

    def _load(self, has_verdict: Callable[[int], bool]) -> None:
        """Loads the requests that earlier runs sent for rows without a verdict."""
        for batch in self._log.batches.values():
            self._files += bool(batch.file_id)
            is_over = batch.has_ended or not batch.file_id  # without a file nothing was started
            if not is_over:
                self._under_way.append(batch)
            for asked in batch.asked:
                asked.is_lost = is_over and not asked.place
                if not has_verdict(asked.line) and (not asked.is_lost or (batch.has_ended and self._then_direct)):
                    self._rows[asked.line].append(asked)
                    self._asked += not asked.is_lost

    async def _take_up(self) -> None:
        for batch in list(self._under_way):
            if not batch.id:
                await self._create(batch, is_doubtful=True)
            if self._cancels and batch.id:
                await self._batches.cancel(batch.id)

    async def _send(self) -> None:
        gathered, self._gathered, self._gathered_bytes = self._gathered, [], 0
        for part in parts(gathered, most_bytes=_MOST_BYTES_AT_ONCE):
            batch = Sent(secrets.token_hex(8), [asked for asked, _ in part])
            self._log.note(batch=batch.nonce, requests=[(each.line, each.row, each.digest) for each in batch.asked])
            batch.file_id = await self._batches.upload(batch.nonce, enumerate(body for _, body in part))
            self._log.note(batch=batch.nonce, file=batch.file_id)
            self._files += 1
            self._under_way.append(batch)
            self._asked += len(batch.asked)
            for asked in batch.asked:
                self._rows[asked.line].append(asked)
            await self._create(batch)

    async def _create(self, batch: Sent, *, is_doubtful: bool = False) -> None:
        """Creates the batch; if an earlier request may have created it, only if the provider does not have it."""
        for tried in range(1, _MOST_TRIES + 1):
            try:
                found = await self._batches.find(batch.nonce, batch.file_id) if is_doubtful else None
                batch.id = found or ""
                if self._cancels and not batch.id:
                    self._end(batch, "never created")
                    return
                batch.id = batch.id or await self._batches.create(batch.nonce, batch.file_id)
                break
            except openai.APIError as exc:
                if is_doubtful and (isinstance(exc, openai.NotFoundError) or batch.file_id in str(exc)):
                    self._give_up(batch, self._unknown(batch.file_id))
                    return
                if isinstance(exc, openai.APIStatusError) and not is_worth_retrying(exc):
                    if not is_doubtful:  # if it is, another key may find the batch
                        self._log.note(batch=batch.nonce, ended="refused")
                        self._files -= 1
                    raise
                if tried == _MOST_TRIES:
                    raise
            is_doubtful = True
            await asyncio.sleep(2**tried * self._hurry)
        self._log.note(batch=batch.nonce, id=batch.id)
        number = len(batch.asked)
        self._say(
            f"{batch.id}: {number:,} {'request' if number == 1 else 'requests'} sent; answers come within 24 hours."
        )

    async def _collect(self) -> None:
        """Waits until a batch has ended, and fetches its answers."""
        pause_s, before, failures = _FIRST_PAUSE_S, len(self._under_way), 0
        while True:
            failure: Exception | None = None
            for batch in list(self._under_way):
                try:
                    await self._look_at(batch)
                except openai.NotFoundError:
                    self._give_up(batch, self._unknown(batch.id))
                except openai.APIError as exc:
                    if not is_worth_retrying(exc):
                        raise
                    failure = self._batches.refused(exc)
                except httpx2.TransportError:  # in the middle of a file; the answers so far are kept
                    failure = JudgeError("The connection broke while answers were read.")
            if len(self._under_way) < before:
                return
            failures = failures + 1 if failure else 0
            if failures == _MOST_TRIES:
                self._say(f"{failure} I keep looking once a minute.")
            await asyncio.sleep(pause_s * self._hurry)
            pause_s = min(1.5 * pause_s, _LONGEST_PAUSE_S)

    async def _look_at(self, batch: Sent) -> None:
        now = await self._batches.look(batch.id)
        batch.counted = now.counted or batch.counted
        if not now.has_ended:
            return
        completed, problems = set[int](), list[ValueError]()
        for file_id in now.file_ids:
            async for raw in self._batches.lines(file_id):
                try:
                    answer = read_answer(raw, batch.nonce, len(batch.asked))
                except ValueError as exc:
                    problems.append(exc)
                    continue
                asked = batch.asked[answer.position]
                # A second answer is ignored; so is a line without an answer, as for a request that expired.
                asked.place = asked.place or (answer.response and self._log.append(raw + b"\n")) or None
                if answer.response and is_completion(answer.response):
                    completed.add(answer.position)
        batch.tries += 1
        if len(completed) < now.completed and batch.tries < _MOST_TRIES:
            return  # a proxy's page, or a file that is cut off: it may be whole at the next look
        if problems:
            more = f", like {len(problems) - 1:,} more" if problems[1:] else ""
            self._say(f"{batch.id}: {problems[0]} and is ignored{more}.")
        if len(completed) < now.completed:
            self._give_up(
                batch,
                f"{batch.id} has {now.completed:,} answers, and {len(completed):,} of them can be read. Try again "
                "later. If the others are lost, --cancel gives them up, and the next run asks and pays for them again.",
            )
        else:
            self._end(batch, now.status)

    def _give_up(self, batch: Sent, why: str) -> None:
        """Leaves a batch to a later run; with --cancel, gives it up for good."""
        if self._cancels:
            self._end(batch, "given up")
        else:
            self._under_way.remove(batch)
            self._stuck.append((batch, why))

    def _end(self, batch: Sent, status: str) -> None:
        self._log.note(batch=batch.nonce, ended=status)
        self._under_way.remove(batch)
        number, left = len(batch.asked), [asked for asked in batch.asked if not asked.place]
        if left:
            self._say(f"{batch.id or batch.nonce}: {status}; {number - len(left):,} of {number:,} answered.")
        self._asked -= len(left)
        for asked in left:
            if self._then_direct:
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
