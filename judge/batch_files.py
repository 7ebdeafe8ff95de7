"""The files of batches: of requests, which goes to the provider, and of what is known, which lies beside the output.

The latter has our own records and the lines that the provider answered:

{"batch": nonce, "requests": [[line of the row, hash of the body], ...]}    before anything is sent
{"batch": nonce, "file": id}                                                 before the provider is told to begin
{"batch": nonce, "id": id}
{"custom_id": "nonce-index", "response": ...}                                as the provider wrote it
{"batch": nonce, "ended": status}                                            what is unanswered now is asked again
{"run": "ended with failures"}                                               so are answers that are errors
"""

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from judge.errors import SetupError
from judge.files import os_reason, private

ENDPOINT: Final = "/v1/chat/completions"
# OpenAI's limits for one file, whose requests must be to one model, too.
_MOST_REQUESTS, _MOST_BYTES = 50_000, 200_000_000

Key = tuple[int, str]
"""What a request is known by: the line of its row, and a hash of its body."""


class Place(NamedTuple):
    """Where an answer stands in the file, and whether it is a completion."""

    offset: int
    size: int
    is_good: bool


# None comes where a batch ended without an answer.
Slot = asyncio.Future[Place | None]


class Request(NamedTuple):
    """One that waits to be sent."""

    key: Key
    body: bytes
    slot: Slot


@dataclass
class Sent:
    """A batch: what it asks, and by their places in it the slots of what it has not answered."""

    nonce: str
    keys: Sequence[Key]
    slots: dict[int, Slot]
    file_id: str = ""
    id: str = ""
    is_earlier: bool = False  # of an earlier run
    has_ended: bool = False
    counted: int = 0  # as answered, by the provider


def to_line(nonce: str, index: int, body: bytes) -> bytes:
    head = f'{{"custom_id": "{nonce}-{index}", "method": "POST", "url": "{ENDPOINT}", "body": '
    return head.encode() + body + b"}\n"


def parts(
    requests: Iterable[Request], most: int = _MOST_REQUESTS, most_bytes: int = _MOST_BYTES
) -> Iterator[list[Request]]:
    """The requests in lists, each of which makes a file within the limits."""
    by_model: defaultdict[str, list[Request]] = defaultdict(list)
    for request in requests:
        by_model[json.loads(request.body)["model"]].append(request)
    for same in by_model.values():
        part: list[Request] = []
        size = 0
        for request in same:
            more = len(to_line("0" * 16, most, request.body))
            if part and (len(part) == most or size + more > most_bytes):
                yield part
                part, size = [], 0
            part.append(request)
            size += more
        yield part


class Log:
    """The file: what is noted is on the disk before the call returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._end = 0
        try:
            self._file = open(path, "a+b", buffering=0, opener=private)  # noqa: SIM115 - until `close`
        except OSError as exc:
            raise self._cannot(exc) from exc

    def read(self) -> Iterator[tuple[Any, int, int]]:
        """Each line, its beginning and its size; one that a killed process left half written is cut off."""
        with self._path.open("rb") as lines:
            for raw in lines:
                if not raw.endswith(b"\n"):
                    self._file.truncate(self._end)
                    return
                try:
                    yield json.loads(raw), self._end, len(raw)
                except ValueError as exc:
                    raise SetupError(f"{self._path}: damaged; remove it to ask and pay again.") from exc
                self._end += len(raw)

    def append(self, raw: bytes) -> tuple[int, int]:
        start, left = self._end, memoryview(raw + b"\n")
        try:
            while left:
                written = self._file.write(left)
                self._end += written
                left = left[written:]
        except OSError as exc:
            raise self._cannot(exc) from exc
        return start, self._end - start

    def note(self, **record: object) -> None:
        self.append(json.dumps(record).encode())
        try:
            os.fsync(self._file.fileno())
        except OSError as exc:
            raise self._cannot(exc) from exc

    def at(self, place: Place) -> Any:
        self._file.seek(place.offset)
        return json.loads(self._file.read(place.size))

    def close(self) -> None:
        self._file.close()

    def _cannot(self, exc: OSError) -> SetupError:
        return SetupError(f"{self._path}: cannot write it ({os_reason(exc)}).")


def read_batches(log: Log, is_done: Callable[[int], bool]) -> Collection[Sent]:
    """The batches of earlier runs, with a slot for each request of a row without a verdict, answered or not."""
    new_slot = asyncio.get_running_loop().create_future
    batches: dict[str, Sent] = {}
    for record, offset, size in log.read():
        match record:
            case {"custom_id": custom_id}:
                nonce, _, index = custom_id.partition("-")
                slot = batches[nonce].slots.get(int(index))
                if slot and not slot.done():
                    slot.set_result(Place(offset, size, bool(is_good(record))))
            case {"batch": nonce, "requests": requests}:
                keys = [(line, digest) for line, digest in requests]
                slots = {index: new_slot() for index, (line, _) in enumerate(keys) if not is_done(line)}
                batches[nonce] = Sent(nonce, keys, slots, is_earlier=True)
            case {"batch": nonce}:
                batch = batches[nonce]
                batch.file_id = record.get("file", batch.file_id)
                batch.id = record.get("id", batch.id)
                batch.has_ended |= "ended" in record
            case _:  # what failed in a run that came to its end is asked again
                for batch in batches.values():
                    batch.slots = {index: slot for index, slot in batch.slots.items() if not _has_failed(slot)}
    return batches.values()


def _has_failed(slot: Slot) -> bool:
    place = slot.result() if slot.done() else None
    return place is not None and not place.is_good


def is_good(fields: Mapping[str, Any]) -> bool | None:
    """Whether a line holds a completion; None where it holds no answer, as of a request that expired."""
    response = fields.get("response")
    if not isinstance(response, dict) or not isinstance(response.get("body"), dict):
        return None
    status = response.get("status_code")
    return status == 200 and "choices" in response["body"] if isinstance(status, int) else None
