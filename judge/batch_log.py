"""The file of what is known of batches, beside the output of their rows; the next run goes on from there.

{"batch": nonce, "requests": [[line, digest of the row and its judge, digest of the body], ...]}
                                                                            before anything is sent
{"batch": nonce, "file": id}                                                before the provider is told to begin
{"batch": nonce, "id": id}
{"custom_id": "nonce-index", "response": ...}                               as the provider wrote it
{"batch": nonce, "ended": status}                                           what is unanswered now is asked again
{"run": "ended with failures"}                                              so are answers that are errors
"""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from judge.errors import SetupError
from judge.files import os_reason, private
from judge.model.batches import is_completion


class Place(NamedTuple):
    """Where an answer stands in the file of what is known."""

    offset: int
    size: int


@dataclass(slots=True)
class Asked:
    """A request of a row that was sent; `is_lost`: its batch has ended without an answer."""

    line: int
    row: str
    digest: str
    place: Place | None = None
    is_lost: bool = False


@dataclass
class Sent:
    """A batch; `counted` of its requests are answered, as the provider says."""

    nonce: str
    asked: Sequence[Asked]
    file_id: str = ""
    id: str = ""
    is_earlier: bool = False  # of an earlier run
    has_ended: bool = False
    counted: int = 0
    tries: int = 0  # in a row, to read the answers of a batch that has ended


class BatchLog:
    """The file of what is known: what is noted is on the disk before the call returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._end = 0
        try:
            self._file = open(path, "a+b", buffering=0, opener=private)  # noqa: SIM115 - until `close`
        except OSError as exc:
            raise self._cannot(exc) from exc

    def read(self) -> Collection[Sent]:
        """The batches of earlier runs, with the answers that are known."""
        try:
            return self._read()
        except (ValueError, LookupError, TypeError) as exc:
            raise SetupError(f"{self._path}: damaged; remove it to ask and pay again.") from exc

    def _read(self) -> Collection[Sent]:
        batches: dict[str, Sent] = {}
        for record, place in self._records():
            match record:
                case {"custom_id": custom_id}:
                    nonce, _, index = custom_id.partition("-")
                    asked = batches[nonce].asked[int(index)]
                    asked.place = asked.place or place
                case {"batch": nonce, "requests": requests}:
                    batches[nonce] = Sent(nonce, [Asked(*each) for each in requests], is_earlier=True)
                case {"batch": nonce}:
                    batch = batches[nonce]
                    batch.file_id = record.get("file", batch.file_id)
                    batch.id = record.get("id", batch.id)
                    batch.has_ended |= "ended" in record
                case _:
                    for asked in (asked for batch in batches.values() for asked in batch.asked):
                        if asked.place and not is_completion(self.at(asked.place)):
                            asked.place = None
        return batches.values()

    def _records(self) -> Iterator[tuple[Any, Place]]:
        """Each line and where it stands; one that a killed process left half written is cut off."""
        with self._path.open("rb") as lines:
            for raw in lines:
                if not raw.endswith(b"\n"):
                    self._file.truncate(self._end)
                    return
                yield json.loads(raw), Place(self._end, len(raw))
                self._end += len(raw)

    def append(self, raw: bytes) -> Place:
        start, left = self._end, memoryview(raw + b"\n")
        try:
            while left:
                written = self._file.write(left)
                self._end += written
                left = left[written:]
        except OSError as exc:
            raise self._cannot(exc) from exc
        return Place(start, self._end - start)

    def note(self, **record: object) -> None:
        self.append(json.dumps(record).encode())
        try:
            os.fsync(self._file.fileno())
        except OSError as exc:
            raise self._cannot(exc) from exc

    def at(self, place: Place) -> Any:
        """The HTTP status and body that stand there."""
        self._file.seek(place.offset)
        return json.loads(self._file.read(place.size))["response"]

    def close(self) -> None:
        self._file.close()

    def _cannot(self, exc: OSError) -> SetupError:
        return SetupError(f"{self._path}: cannot write it ({os_reason(exc)}).")
