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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import SetupError
from judge.rows.line_file import LineFile, Place
from judge.rows.provider import is_completion


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


class BatchLog(LineFile):
    """The file with everything known about batches; `note` returns after its record is on the disk.

    Attributes:
        batches: Those of earlier runs, with their known answers, by nonce.
    """

    def __init__(self, path: Path) -> None:
        self.batches: dict[str, Sent] = {}
        super().__init__(path, self._take)

    def _take(self, _: int, place: Place, raw: bytes) -> None:
        try:
            record = json.loads(raw)
            match record:
                case {"custom_id": custom_id}:
                    nonce, _, index = custom_id.partition("-")
                    asked = self.batches[nonce].asked[int(index)]
                    asked.place = asked.place or place
                case {"batch": nonce, "requests": requests}:
                    self.batches[nonce] = Sent(nonce, [Asked(*each) for each in requests], is_earlier=True)
                case {"batch": nonce}:
                    batch = self.batches[nonce]
                    batch.file_id = record.get("file", batch.file_id)
                    batch.id = record.get("id", batch.id)
                    batch.has_ended |= "ended" in record
                case _:
                    for asked in (asked for batch in self.batches.values() for asked in batch.asked):
                        if asked.place and not is_completion(self.response(asked.place)):
                            asked.place = None
        except (ValueError, LookupError, TypeError, RecursionError) as exc:
            raise SetupError(f"{self.path}: damaged; remove it to ask and pay again.") from exc

    def note(self, **record: object) -> None:
        self.append(json.dumps(record).encode() + b"\n")
        self.sync()

    def response(self, place: Place) -> Any:
        """The HTTP status and body of the answer at this position."""
        return json.loads(self.at(place))["response"]
