"""Scores rows on a Ray cluster, with a class for `ray.data.Dataset.map_batches`;
docs/integrations.md has a job.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from judge.errors import HOPELESS, JudgeError, needs_extra
from judge.rows.batch import score_row
from judge.rows.files import encode
from judge.rows.row_file import ADDED, Row, own_name, to_added
from judge.scoring.judging import Judge
from judge.scoring.ratings import UnscoredReason

with needs_extra("judge.integrations.ray", "ray", "pyarrow", error=ImportError):  # on each node
    import pyarrow as pa  # type: ignore[import-untyped]

_TYPES = {int: pa.int64(), float: pa.float64()}


class JudgeRows:
    """A class for `map_batches` with `batch_format="pyarrow"`: each actor has one judge, which
    keeps its connections.

    A row has `prompt` (or `question`) and `completion` (or `response`), or `messages`, and may have
    a `reference`. It gets the fields of `judge batch`, except `line`; lists are JSON. No row fails
    its block: a row without texts gets the status `skipped`, a row whose calls fail gets `failed`,
    with the reason in `unscored_detail`.

    Each actor has `requests` rows in progress at once; `judge` are the arguments of `Judge`. Ray
    ends the job with a JudgeError if no row can be scored: no key, an unknown model, an exhausted
    quota.
    """

    def __init__(self, requests: int = 16, **judge: Any) -> None:
        self._judge = Judge(**judge)
        self._turns = asyncio.Semaphore(requests)
        self._loop = asyncio.new_event_loop()

    def __call__(self, batch: pa.Table) -> pa.Table:
        added = self._loop.run_until_complete(self._score_all(batch.to_pylist()))
        batch = batch.rename_columns([own_name(name) for name in batch.column_names])
        for name, kind in ADDED.items():
            if name != "line":
                values = [fields.get(name) for fields in added]
                cells = [
                    encode(each) if kind in (list, dict) and each is not None else each
                    for each in values
                ]
                batch = batch.append_column(name, pa.array(cells, _TYPES.get(kind, pa.string())))
        return batch

    def close(self) -> None:
        """Closes the judge's connections.

        Within an actor this is not needed: they end with its process.
        """
        self._loop.run_until_complete(self._judge.aclose())
        self._loop.close()

    async def _score_all(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        return await asyncio.gather(*(self._score(Row(0, fields)) for fields in rows))

    async def _score(self, row: Row) -> Mapping[str, Any]:
        try:
            async with self._turns:
                verdict = await score_row(self._judge, row)
        except ValueError as exc:  # a text is missing, or is not a string
            return {"status": "skipped", "unscored_detail": f"{exc}."}
        except JudgeError as exc:
            if isinstance(exc, HOPELESS):
                raise
            return {
                "status": "failed",
                "unscored_reason": UnscoredReason.CALL_FAILED,
                "unscored_detail": str(exc),
            }
        return to_added(verdict, self._judge.samples)
