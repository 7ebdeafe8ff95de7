"""The file with everything known about batches, beside the output of their rows; the next run continues from it.

{"batch": nonce, "requests": [[line, digest of the row and its judge, digest of the body], ...]}
                                                                            before anything is sent
{"batch": nonce, "file": id}                                                before the batch is created
{"batch": nonce, "id": id}
{"custom_id": "nonce-index", "response": ...}                               as the provider wrote it
{"batch": nonce, "ended": status}                                           unanswered requests are asked again
{"run": "ended with failures"}                                              so are requests answered by an error
"""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from judge.errors import SetupError
from judge.rows.files import append, os_reason, private
from judge.rows.provider import is_completion


class Place(NamedTuple):
    """The position of an answer in the file."""

    offset: int
    size: int


@dataclass(slots=True)
class Asked:
    """A request that was sent for a row; `is_lost` if its batch has ended without an answer to it."""

    line: int
    row: str
    digest: str
    place: Place | None = None
    is_lost: bool = False


@dataclass
class Sent:
    """A batch that was sent; `counted` of its requests are answered, according to the provider."""

    nonce: str
    asked: Sequence[Asked]
    file_id: str = ""
    id: str = ""
    is_earlier: bool = False  # sent by an earlier run
    has_ended: bool = False
    counted: int = 0
    tries: int = 0  # how often its answers were read since it ended


class BatchLog:
    """The file with everything known about batches; `note` returns after its record is on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = open(path, "a+b", buffering=0, opener=private)  # noqa: SIM115 - until `close`
        except OSError as exc:
            raise self._cannot(exc) from exc

    def read(self) -> Collection[Sent]:
        """The batches of earlier runs, with their known answers."""
        try:
            return self._read()
        except (ValueError, LookupError, TypeError, RecursionError) as exc:
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
        """Each record and its position; a last line that a killed process left incomplete is cut off."""
        end = 0
        with self._path.open("rb") as lines:
            for raw in lines:
                if not raw.endswith(b"\n"):
                    self._file.truncate(end)
                    return
                yield json.loads(raw), Place(end, len(raw))
                end += len(raw)

    def append(self, raw: bytes) -> Place:
        try:
            return Place(append(self._file, raw + b"\n"), len(raw) + 1)
        except OSError as exc:
            raise self._cannot(exc) from exc

    def note(self, **record: object) -> None:
        self.append(json.dumps(record).encode())
        try:
            os.fsync(self._file.fileno())
        except OSError as exc:
            raise self._cannot(exc) from exc

    def at(self, place: Place) -> Any:
        """The HTTP status and body at this position."""
        self._file.seek(place.offset)
        return json.loads(self._file.read(place.size))["response"]

    def close(self) -> None:
        self._file.close()

    def _cannot(self, exc: OSError) -> SetupError:
        return SetupError(f"{self._path}: cannot write it ({os_reason(exc)}).")
