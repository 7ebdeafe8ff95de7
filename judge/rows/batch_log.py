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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import SetupError
from judge.rows.line_file import ByteSpan, LineFile
from judge.rows.provider import Sent, is_completion

_NAMES = {"file_id": "file", "batch_id": "id"}


@dataclass(slots=True)
class Asked:
    """A request that was sent for a row; `is_lost` if its batch has ended without an answer to it."""

    line: int
    row: str
    digest: str
    place: ByteSpan | None = None
    is_lost: bool = False


@dataclass
class SentRows(Sent):
    """A batch of requests for rows; `counted` of them are answered, according to the provider."""

    asked: Sequence[Asked] = ()
    bodies: Sequence[bytes] = ()  # until they are uploaded
    is_earlier: bool = False  # sent by an earlier run
    has_ended: bool = False
    counted: int = 0
    tries: int = 0  # how often its answers were read since it ended


class BatchLog(LineFile):
    """The file with everything known about batches; a record is on the disk when its method returns.

    Attributes:
        batches: All batches, those of earlier runs with their known answers, by nonce.
    """

    def __init__(self, path: Path) -> None:
        self.batches: dict[str, SentRows] = {}
        super().__init__(path, self._take)

    def begin(self, batch: SentRows) -> None:
        self.batches[batch.nonce] = batch
        self.record(batch=batch.nonce, requests=[(each.line, each.row, each.digest) for each in batch.asked])

    async def bodies(self, batch: SentRows) -> Iterable[tuple[int, bytes]]:
        return enumerate(batch.bodies)

    async def note(self, batch: SentRows, **ids: str) -> bool:
        self.record(batch=batch.nonce, **{_NAMES[name]: value for name, value in ids.items()})
        return True

    def _take(self, _: int, place: ByteSpan, raw: bytes) -> None:
        try:
            record = json.loads(raw)
            match record:
                case {"custom_id": custom_id}:
                    nonce, _, index = custom_id.partition("-")
                    asked = self.batches[nonce].asked[int(index)]
                    asked.place = asked.place or place
                case {"batch": nonce, "requests": requests}:
                    asked_for = [Asked(*each) for each in requests]
                    self.batches[nonce] = SentRows(nonce, len(asked_for), asked=asked_for, is_earlier=True)
                case {"batch": nonce}:
                    batch = self.batches[nonce]
                    batch.file_id = record.get("file", batch.file_id)
                    batch.batch_id = record.get("id", batch.batch_id)
                    batch.has_ended |= "ended" in record
                case _:
                    for asked in (asked for batch in self.batches.values() for asked in batch.asked):
                        if asked.place and not is_completion(self.response(asked.place)):
                            asked.place = None
        except (ValueError, LookupError, TypeError, RecursionError) as exc:
            raise SetupError(f"{self.path}: damaged; remove it to ask and pay again.") from exc

    def record(self, **record: object) -> None:
        self.append(json.dumps(record).encode() + b"\n")
        self.sync()

    def response(self, place: ByteSpan) -> Any:
        """The HTTP status and body of the answer at this position."""
        return json.loads(self.at(place))["response"]
