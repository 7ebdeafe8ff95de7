"""Asks what a judge asks through the provider's batch endpoint: at half the price, answered within 24 hours.

The judge knows nothing of it. Its requests wait here until all rows under way do, and go off as a batch; a line that
comes back in one, with its status and body, is the HTTP answer to its request. So whatever the judge asks next (without
a parameter that the server rejects, for the score alone, for a third rating) is one more batch.

What is known of batches stands in a file beside the output before it is acted upon (`judge.batch_files`). The next run
goes on from there.
"""

import asyncio
import hashlib
import json
import os
import secrets
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from judge.batch import Batch
from judge.batch_files import ENDPOINT, Key, Log, Place, Request, Sent, Slot, is_good, parts, read_batches, to_line
from judge.errors import JudgeError, SetupError
from judge.files import shown
from judge.model import make_client
from judge.model.completion import BATCH
from judge.model.failures import is_worth_retrying, server_name, to_judge_error
from judge.rows import Item, Malformed

# A row that waits takes some 40 kB, and eleven times its request: either limit comes to half a gigabyte.
_MOST_ROWS, _MOST_BYTES_AT_ONCE = 10_000, 50_000_000
_ENDED = ("completed", "failed", "expired", "cancelled")
_NO_BATCHES = (404, 405, 501)
_QUIET_S, _FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 5.0, 60.0
_MOST_TRIES = 5

# The line of the input whose row is under way, in the task that judges it and in those which that starts.
_line: ContextVar[int] = ContextVar("line")


class _Client(openai.AsyncOpenAI):
    """Has its chat completions answered by a `BatchApi`; a transport of our own would leave out a proxy that is set."""

    async def _send_request(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        api: BatchApi = self.__dict__["batch_api"]
        place = await api.ask(request)
        if place is None:
            async with api.directly:
                return await super()._send_request(request, **options)
        return api.to_response(place, request)


class _Items(Iterator[Item | Malformed]):
    """The items, or those on the lines `only`; notes in `rows` whose are under way.

    The task that takes an item will judge it, and is done with the one before. A generator, once at its end, would not
    learn of that.
    """

    def __init__(self, items: Iterator[Item | Malformed], rows: set[int], only: Collection[int] | None) -> None:
        self._items = items
        self._rows = rows
        self._only = only

    def __next__(self) -> Item | Malformed:
        self._rows.discard(_line.get(0))
        for item in self._items:
            if isinstance(item, Malformed):
                return item
            if self._only is None or item.line in self._only:
                _line.set(item.line)
                self._rows.add(item.line)
                return item
        raise StopIteration


class BatchApi:
    """Answers a judge's requests from batches.

    Args:
        path: The file that keeps what is known of batches; removed once nothing in it is needed.
        say: Gets one sentence for each batch that is sent, and for what is wrong with one.
        concurrency: Direct requests at once.
        then_direct: Whether to ask directly for what a batch leaves unanswered; else the next run asks again.
        cancels: Whether to send nothing, and to cancel what is under way.

    Attributes:
        client: What the judge has to ask through.
        timeout_s: The judge's, which no batch outlasts.
        directly: Bounds the direct requests at once.
        total: How many requests there are so far, answered or not.
    """

    timeout_s = 10 * 365 * 86_400.0

    def __init__(
        self, path: Path, say: Callable[[str], None], *, concurrency: int, then_direct: bool, cancels: bool
    ) -> None:
        self._path = path
        self._say = say
        self._then_direct = then_direct
        self._cancels = cancels
        # Not an option: only tests have servers that answer in no time.
        self._hurry = float(os.environ.get("JUDGE_BATCH_HURRY", 1))
        self._api = make_client(os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL"))
        self._url = str(self._api.base_url)
        if (urlsplit(self._url).hostname or "").endswith(".azure.com"):
            raise SetupError("Azure takes batches only for deployments made for them; leave out --batch-api.")
        self.directly = asyncio.Semaphore(concurrency)
        self.client: openai.AsyncOpenAI = object.__new__(_Client)
        self.client.__dict__ = self._api.__dict__ | {"batch_api": self}
        self._slots: defaultdict[Key, deque[Slot]] = defaultdict(deque)  # of what earlier runs asked
        self._gathered: list[Request] = []
        self._under_way: list[Sent] = []
        self._rows: set[int] = set()
        self._direct: set[int] = set()  # rows that have gone over to direct requests
        self._waits: Counter[int] = Counter()  # by row, its requests that wait
        self.total = self._turns = 0
        self._has_sent = False  # so that the file is needed

    @staticmethod
    def rows_at_once(rows: int, size: int, prompt: str) -> int:
        """How many of that many rows, of `size` bytes in all, may wait at once, so that memory holds them."""
        a_row = size / max(1, rows) + len(prompt)
        return max(1, min(rows, _MOST_ROWS, int(_MOST_BYTES_AT_ONCE / a_row)))

    @property
    def done(self) -> int:
        """How many of the requests are answered, as the provider counts."""
        return self.total - len(self._gathered) - sum(max(0, len(b.slots) - b.counted) for b in self._under_way)

    async def drive(self, run: Batch, items: Iterator[Item | Malformed], is_done: Callable[[int], bool]) -> None:
        """Runs `run` to its end, or until no row has anything to wait for; those that wait then have failed."""
        self._log = Log(self._path)
        work = None
        try:
            async with self._api:
                self._load(is_done)
                asked_for = {line for line, _ in self._slots} if self._cancels else None
                work = asyncio.create_task(run.run(_Items(items, self._rows, asked_for)))
                await self._go_on(run, work)
        except JudgeError as exc:
            run.stopped = exc
        except openai.APIError as exc:
            run.stopped = to_judge_error(exc, "", self._url, "")
        finally:
            if work and not work.done():
                work.cancel()
                await asyncio.wait([work])
            self._log.close()
            if not self._has_sent:
                self._path.unlink(missing_ok=True)
        if work and not work.cancelled():
            work.result()

    async def ask(self, request: httpx2.Request) -> Place | None:
        """Where the answer to a row's request stands, once it is there; None where it is to be asked directly."""
        line = _line.get()
        key = line, hashlib.sha256(request.content).hexdigest()[:32]
        slots = self._slots.get(key)
        self._turns += 1
        self._waits[line] += 1
        try:
            place = await slots.popleft() if slots else None
            if place is None and line not in self._direct:
                self._gathered.append(Request(key, request.content, asyncio.get_running_loop().create_future()))
                self.total += 1
                place = await self._gathered[-1].slot
        finally:
            self._waits[line] -= 1
            if not self._waits[line]:
                del self._waits[line]
            self._turns += 1
        return place

    def to_response(self, place: Place, request: httpx2.Request) -> httpx2.Response:
        response = self._log.at(place)["response"]
        return httpx2.Response(
            response["status_code"], json=response["body"] | {"service_tier": BATCH}, request=request
        )

    async def _go_on(self, run: Batch, work: "asyncio.Task[None]") -> None:
        for batch in list(self._under_way):
            if not batch.id:
                await self._create(batch, is_doubtful=True)
            if self._cancels and batch.id:
                # Refused where it has ended already, or else that will show.
                with suppress(openai.BadRequestError, openai.ConflictError, openai.NotFoundError):
                    await self._api.batches.cancel(batch.id)
        pause_s = _FIRST_PAUSE_S
        while await self._all_wait(run, work):
            if self._gathered and not self._cancels:
                await self._send()
                pause_s = _FIRST_PAUSE_S
            if await self._collect():
                continue
            if not self._under_way and not any(line in self._direct for line in self._rows):
                run.failed += len(self._rows)
                break
            await asyncio.wait([work], timeout=pause_s * self._hurry)
            pause_s = min(1.5 * pause_s, _LONGEST_PAUSE_S)
        if run.failed:
            self._log.note(run="ended with failures")
        elif not self._under_way and not run.stopped:
            self._has_sent = False  # all has been used

    async def _all_wait(self, run: Batch, work: "asyncio.Task[None]") -> bool:
        """Returns once all rows under way wait, and have for a moment; false where the run has ended meanwhile."""
        while not (work.done() or run.stopped):
            turns = self._turns
            await asyncio.wait([work], timeout=_QUIET_S * self._hurry)
            are_waiting = all(self._waits[line] or line in self._direct for line in self._rows)
            if turns == self._turns and are_waiting and not work.done():
                return True
        return False

    async def _send(self) -> None:
        gathered, self._gathered = self._gathered, []
        for part in parts(gathered):
            batch = Sent(secrets.token_hex(8), [each.key for each in part], dict(enumerate(each.slot for each in part)))
            self._log.note(batch=batch.nonce, requests=batch.keys)
            content = b"".join(to_line(batch.nonce, index, each.body) for index, each in enumerate(part))
            try:
                file = await self._api.files.create(file=(f"judge-{batch.nonce}.jsonl", content), purpose="batch")
            except openai.APIStatusError as exc:
                raise self._refused(exc) from exc
            batch.file_id = file.id
            self._log.note(batch=batch.nonce, file=file.id)
            self._has_sent = True
            self._under_way.append(batch)
            await self._create(batch)

    async def _create(self, batch: Sent, *, is_doubtful: bool = False) -> None:
        """Has the provider begin; where it may have been told to before, only if it has no such batch."""
        client = self._api.with_options(max_retries=0)  # an attempt that fails may have made the batch all the same
        for tried in range(1, _MOST_TRIES + 1):
            try:
                batch.id = (is_doubtful and await self._find(batch)) or ""
                if self._cancels and not batch.id:
                    self._end(batch, "never created")
                    return
                if not batch.id:
                    made = await client.batches.create(
                        input_file_id=batch.file_id,
                        endpoint=ENDPOINT,
                        completion_window="24h",
                        metadata={"judge": batch.nonce},
                    )
                    batch.id = made.id
                break
            except openai.APIError as exc:
                if is_doubtful and isinstance(exc, openai.BadRequestError | openai.NotFoundError):
                    raise self._unknown(batch.file_id) from exc
                if isinstance(exc, openai.APIStatusError) and not is_worth_retrying(exc):
                    if not is_doubtful:  # else there may be a batch, which another key would find
                        self._log.note(batch=batch.nonce, ended="refused")
                    raise self._refused(exc) from exc
                if tried == _MOST_TRIES:
                    raise
            is_doubtful = True
            await asyncio.sleep(2**tried * self._hurry)
        self._log.note(batch=batch.nonce, id=batch.id)
        asked = f"{len(batch.keys):,} {'request' if len(batch.keys) == 1 else 'requests'}"
        self._say(f"{batch.id}: {asked} sent; answers come within 24 hours.")

    def _refused(self, exc: openai.APIStatusError) -> JudgeError:
        if exc.status_code not in _NO_BATCHES:
            return to_judge_error(exc, "", self._url, "")
        server = server_name(self._url)
        return SetupError(f"The server at {server} takes no batches (HTTP {exc.status_code}); leave out --batch-api.")

    def _unknown(self, what: str) -> SetupError:
        return SetupError(
            f"The server at {server_name(self._url)} does not know {what} or has lost its answers; use the key that it "
            f"was sent with, or remove {self._path} to ask and pay again."
        )

    async def _find(self, batch: Sent) -> str | None:
        async for each in self._api.batches.list(limit=100):
            if each.input_file_id == batch.file_id or (each.metadata or {}).get("judge") == batch.nonce:
                return each.id
        return None

    async def _collect(self) -> bool:
        """Fetches the answers of batches that have ended; whether there is one."""
        before = len(self._under_way)
        for batch in list(self._under_way):
            try:
                await self._look_at(batch)
            except openai.NotFoundError as exc:
                raise self._unknown(batch.id) from exc
            except openai.APIError as exc:
                if not is_worth_retrying(exc):
                    raise
            except httpx2.TransportError:  # in the midst of a file; the answers so far are kept
                pass
        return len(self._under_way) < before

    async def _look_at(self, batch: Sent) -> None:
        now = await self._api.batches.retrieve(batch.id)
        if now.request_counts:
            batch.counted = now.request_counts.completed + now.request_counts.failed
        if now.status in _ENDED:
            for file_id in filter(None, (now.output_file_id, now.error_file_id)):
                await self._fetch(batch, file_id)
            why = [each.message for each in (now.errors and now.errors.data) or () if each.message]
            self._end(batch, f"{now.status} ({why[0]})" if why else now.status)

    async def _fetch(self, batch: Sent, file_id: str) -> None:
        async with self._api.files.with_streaming_response.content(file_id) as answer:
            taken = [self._take(batch, raw) async for raw in _lines(answer.iter_bytes())]
        if problems := [each for each in taken if each]:
            more = f"; so are {len(problems) - 1:,} more lines" if problems[1:] else ""
            self._say(f"{batch.id}: {problems[0]} and is ignored{more}.")

    def _take(self, batch: Sent, raw: bytes) -> str | None:
        """Keeps the answer on a line; what is wrong where it holds none of ours."""
        try:
            fields = json.loads(raw)
            nonce, _, index = fields["custom_id"].partition("-")
        except (ValueError, LookupError, TypeError, AttributeError):
            return "a line is damaged or cut off"
        if nonce != batch.nonce or not index.isdecimal() or int(index) >= len(batch.keys):
            return f"an answer is to {shown(fields['custom_id'])}, which was not asked,"
        good = is_good(fields)
        # A second answer counts as little as none, as of a request that expired.
        if int(index) in batch.slots and good is not None:
            batch.slots.pop(int(index)).set_result(Place(*self._log.append(raw), good))
        return None

    def _end(self, batch: Sent, status: str) -> None:
        self._log.note(batch=batch.nonce, ended=status)
        self._under_way.remove(batch)
        self.total -= len(batch.slots)
        asked = len(batch.keys)
        if batch.slots:
            self._say(f"{batch.id or batch.nonce}: {status}; {asked - len(batch.slots):,} of {asked:,} answered.")
        # What this run has asked in vain, the next one asks again.
        if self._then_direct:
            self._direct.update(batch.keys[index][0] for index in batch.slots)
        if self._then_direct or batch.is_earlier:
            for slot in batch.slots.values():
                slot.set_result(None)

    def _load(self, is_done: Callable[[int], bool]) -> None:
        """Takes up what earlier runs have sent, as far as rows without a verdict asked for it."""
        for batch in read_batches(self._log, is_done):
            self._has_sent |= bool(batch.file_id)
            for index, slot in list(batch.slots.items()):
                is_lost = batch.has_ended or not batch.file_id  # without a file nothing was begun
                if slot.done() or is_lost:
                    del batch.slots[index]
                if slot.done() or not is_lost:
                    self.total += 1
                    self._slots[batch.keys[index]].append(slot)
                elif self._then_direct and batch.has_ended:
                    self._direct.add(batch.keys[index][0])
            if batch.slots:
                self._under_way.append(batch)


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines that are not empty, the last one also where it is cut off. Ends of lines are those of JSONL alone."""
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in filter(None, lines):
            yield line
    if rest:
        yield rest
