"""A provider's batch endpoint: requests in a file, answered within 24 hours at half the price.

Source: https://platform.openai.com/docs/guides/batch, https://platform.openai.com/docs/api-reference/batch
"""

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import openai

from judge.errors import JudgeError, SetupError
from judge.rows.files import is_deep, shown
from judge.scoring.model.client import limited
from judge.scoring.model.failures import not_a_completion, server_name, to_judge_error

_ENDPOINT: Final = "/v1/chat/completions"
# OpenAI's limits for one file. All requests of a file must be to one model, too.
_MOST_REQUESTS, _MOST_BYTES = 50_000, 200_000_000
_ENDED = ("completed", "failed", "expired", "cancelled")
_NO_BATCHES = (404, 405, 501)
_LIST_LAGS_S = (0, 2, 4, 8, 16)  # a new batch may be missing from the provider's list for some seconds
_MOST_ANSWER_BYTES = 10_000_000  # of an answer that is not a file

Request = TypeVar("Request")


class Answer(NamedTuple):
    """The answer to one request: its position in the batch, and the HTTP status and body."""

    position: int
    response: dict[str, Any]


def is_completion(response: Mapping[str, Any]) -> bool:
    return bool(response["status_code"] == 200 and "choices" in response["body"])


@dataclass(frozen=True)
class BatchState:
    """The state of a batch, as the provider says; None is unknown."""

    status: str  # with the reason in brackets
    counted: int | None  # requests that are answered, with a completion or an error
    completed: int  # requests that are answered with a completion
    has_ended: bool
    ended_at: datetime | None
    file_ids: Sequence[str]  # with the answers, once it has ended
    read: int = 0  # requests whose completion could be read in them
    problems: Sequence[str] = ()  # what is wrong with their other lines

    @property
    def is_short(self) -> bool:
        """Whether answers are missing: a proxy's page, or a file that is cut off; it may be whole at the next look."""
        return self.read < self.completed


def parts(
    requests: Iterable[tuple[Request, bytes]], most: int = _MOST_REQUESTS, most_bytes: int = _MOST_BYTES
) -> Iterator[list[tuple[Request, bytes]]]:
    """Splits requests, each with its body, into lists that fit the limits of a file."""
    by_model: defaultdict[str, list[tuple[Request, bytes]]] = defaultdict(list)
    for request, body in requests:
        by_model[json.loads(body)["model"]].append((request, body))
    for same in by_model.values():
        part: list[tuple[Request, bytes]] = []
        size = 0
        for request, body in same:
            more = len(_to_line("0" * 16, most, body))
            if part and (len(part) == most or size + more > most_bytes):
                yield part
                part, size = [], 0
            part.append((request, body))
            size += more
        yield part


def to_file(nonce: str, bodies: Iterable[tuple[int, bytes]]) -> bytes:
    """The file of a batch, from the bodies and their positions in it."""
    return b"".join(_to_line(nonce, place, body) for place, body in bodies)


def _to_line(nonce: str, index: int, body: bytes) -> bytes:
    head = f'{{"custom_id": "{nonce}-{index}", "method": "POST", "url": "{_ENDPOINT}", "body": '
    return head.encode() + body + b"}\n"


def read_answer(raw: bytes, nonce: str, count: int) -> Answer | None:
    """The answer on a line of a batch of `count` requests; None if there is none.

    Raises:
        ValueError: The line is not an answer, or it answers a request that was not in the batch; the message says so.
    """
    try:
        # PostgreSQL's JSON has no NaN or Infinity.
        fields = json.loads(raw, parse_constant=lambda _: None)
        its_nonce, _, index = fields["custom_id"].partition("-")
        response = fields.get("response")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError("a line is damaged or cut off") from None
    if is_deep(fields):
        raise ValueError("a line is nested too deeply")
    if its_nonce != nonce or not index.isdecimal() or int(index) >= count:
        raise ValueError(f"an answer is to {shown(fields['custom_id'])}, which was not asked,")
    is_answer = (
        isinstance(response, dict)
        and isinstance(response.get("body"), dict)
        and isinstance(response.get("status_code"), int)
    )
    return Answer(int(index), response) if is_answer else None


@dataclass
class Sent:
    """A batch of ours, by its nonce; the ids are the provider's, "" as long as they are not known."""

    nonce: str
    requests: int
    file_id: str = ""
    batch_id: str = ""


OurBatch = TypeVar("OurBatch", bound=Sent, contravariant=True)


class Keeper(Protocol[OurBatch]):
    """Keeps what is known of batches, so that no end of the process costs an answer or pays for one twice."""

    async def bodies(self, batch: OurBatch) -> Iterable[tuple[int, bytes]]:
        """The bodies of the requests, each with its position in the batch."""

    async def note(self, batch: OurBatch, **ids: str) -> bool:
        """Returns once the provider's `file_id` or `batch_id` is durable; False if another worker has noted its own."""


class Provider:
    """The batches of a provider; ours are identified by a nonce, so that none is created twice.

    Args:
        client: The client for requests to the provider.
        way_out: What the operator should do if the server has no batches, as an imperative.
    """

    def __init__(self, client: openai.AsyncOpenAI, way_out: str) -> None:
        self._unbounded = client
        self._client = limited(client, _MOST_ANSWER_BYTES)
        self._way_out = way_out
        # A factor for all waits, and not an option: only servers in tests answer at once.
        self.hurry = float(os.environ.get("JUDGE_BATCH_HURRY", 1))
        # A failed attempt may still have created the batch.
        self._once = self._client.with_options(max_retries=0)

    async def check(self) -> None:
        """Checks that the server takes batches.

        Raises:
            JudgeError: It takes none, or cannot be asked.
        """
        try:
            await self._once.batches.list(limit=1)
        except openai.APIError as exc:
            raise self.refused(exc) from exc

    async def start(self, batch: OurBatch, keeper: Keeper[OurBatch], *, creates: bool = True) -> bool:
        """Uploads the requests and creates the batch, as far as no earlier attempt has; returns whether it has an id.

        After an error, another call goes on. If not `creates`, a batch is only looked for.
        """
        found = None
        if batch.file_id:  # the batch may already have been created
            found = await self.find(batch.nonce, batch.file_id)
        else:
            file_id = await self.upload(batch.nonce, await keeper.bodies(batch))
            if not await keeper.note(batch, file_id=file_id):
                return False
            batch.file_id = file_id
        if creates or found:
            batch.batch_id = found or await self.create(batch.nonce, batch.file_id)
            await keeper.note(batch, batch_id=batch.batch_id)
        return bool(batch.batch_id)

    async def upload(self, nonce: str, bodies: Iterable[tuple[int, bytes]]) -> str:
        """Uploads these requests and returns the file's id; retries more often, because a failure may waste a day."""
        file = (f"judge-{nonce}.jsonl", to_file(nonce, bodies))
        return (await self._client.with_options(max_retries=5).files.create(file=file, purpose="batch")).id

    async def create(self, nonce: str, file_id: str) -> str:
        """Creates the batch for the file and returns its id; after an error the batch may exist or not."""
        made = await self._once.batches.create(
            input_file_id=file_id, endpoint=_ENDPOINT, completion_window="24h", metadata={"judge": nonce}
        )
        return made.id

    async def find(self, nonce: str, file_id: str) -> str | None:
        """The id of a batch that may have been created; None if it was not, which takes half a minute to say."""
        for lag_s in _LIST_LAGS_S:
            await asyncio.sleep(lag_s * self.hurry)
            async for each in self._client.batches.list(limit=100):
                if each.input_file_id == file_id or (each.metadata or {}).get("judge") == nonce:
                    return each.id
        return None

    async def look(self, batch_id: str) -> BatchState:
        now = await self._client.batches.retrieve(batch_id)
        counts, errors = now.request_counts, (now.errors and now.errors.data) or ()
        why = next((f" ({each.message})" for each in errors if each.message), "")
        counted = counts.completed + counts.failed if counts else None
        files = [each for each in (now.output_file_id, now.error_file_id) if each]
        completed = counts.completed if counts else 0
        ended_s = now.completed_at or now.failed_at or now.expired_at or now.cancelled_at
        ended_at = datetime.fromtimestamp(ended_s, UTC) if ended_s else None
        return BatchState(f"{now.status}{why}", counted, completed, now.status in _ENDED, ended_at, files)

    async def collect(self, batch: Sent, keep: Callable[[Answer, bytes], None]) -> BatchState:
        """The state of a batch; once it has ended, each answer goes to `keep` with its line, maybe more than once.

        A line without an answer, as for a request that expired, is none.
        """
        state, read, problems = await self.look(batch.batch_id), set[int](), list[str]()
        for file_id in state.file_ids if state.has_ended else ():
            async for raw in self.lines(file_id):
                try:
                    answer = read_answer(raw, batch.nonce, batch.requests)
                except ValueError as exc:
                    problems.append(str(exc))
                    continue
                if answer:
                    keep(answer, raw)
                    if is_completion(answer.response):
                        read.add(answer.position)
        return replace(state, read=len(read), problems=problems)

    async def lines(self, file_id: str) -> AsyncIterator[bytes]:
        """The lines that are not empty, including a last line that is cut off."""
        rest = b""
        async with self._unbounded.files.with_streaming_response.content(file_id) as answer:
            if "html" in answer.headers.get("content-type", ""):  # a login page
                raise not_a_completion(str(self._client.base_url))
            async for piece in answer.iter_bytes():
                *lines, rest = (rest + piece).split(b"\n")  # only the line ends of JSONL
                for line in filter(None, lines):
                    yield line
        if rest:
            yield rest

    async def cancel(self, batch_id: str) -> None:
        try:
            await self._client.batches.cancel(batch_id)
        except (openai.BadRequestError, openai.ConflictError, openai.NotFoundError):
            return  # it has already ended; any other cause will show later

    def refused(self, exc: openai.APIError) -> JudgeError:
        """The `JudgeError` for a failed request."""
        url = str(self._client.base_url)
        if not isinstance(exc, openai.APIStatusError) or exc.status_code not in _NO_BATCHES:
            return to_judge_error(exc, "", url, "")
        return SetupError(
            f"The server at {server_name(url)} takes no batches (HTTP {exc.status_code}); {self._way_out}."
        )
