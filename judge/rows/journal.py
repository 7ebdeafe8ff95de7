"""The output of a batch, which is also its journal: what is in it is paid for, and is not asked
again.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.errors import SetupError
from judge.rows.files import decode, encode
from judge.rows.line_file import LineFile
from judge.rows.row_file import ADDED, PROMPT_ID, Row, RowFile, check_prompt


def answered_as(served: Counter[tuple[str, str]]) -> Iterator[str]:
    """A phrase for each model whose name stood for several: their scores are those of different
    judges.
    """
    for model in dict.fromkeys(model for model, _ in served):
        names = sorted((name, n) for (asked, name), n in served.items() if asked == model)
        if len(names) > 1:
            shown = " and ".join(f"{name!r} ({n:,} ratings)" for name, n in names)
            yield f"{model!r} answered as {shown}"


@dataclass
class JournalTally:
    """Counts and sums over the rows that have a verdict."""

    scored: int = 0
    unscored: int = 0
    scores: Counter[int] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0  # rows whose cost is unknown
    served: Counter[tuple[str, str]] = field(
        default_factory=Counter
    )  # ratings by model and the name that answered

    @property
    def rows(self) -> int:
        return self.scored + self.unscored

    def add(self, added: Mapping[str, Any]) -> None:
        if added["score"] is not None:
            self.scored += 1
            self.scores[added["score"]] += 1
        else:
            self.unscored += 1
            self.reasons[str(added["unscored_reason"])] += 1
        self.input_tokens += added["input_tokens"] or 0
        self.output_tokens += added["output_tokens"] or 0
        self.served.update(Row(0, added).served)
        self.cost_usd += added["cost_usd"] or 0.0
        self.unpriced += added["cost_usd"] is None


class Journal(LineFile):
    """The output of a batch: a JSONL file with a row per verdict, as they arrive, all with the
    fields of `judge`.
    """

    def __init__(self, path: Path, judge: Mapping[str, Any]) -> None:
        self.tally = JournalTally()
        self._judge = judge
        # By line of the input: a hash of the row that was judged, and the offset of its verdict.
        self.rows: dict[int, tuple[int, int]] = {}
        super().__init__(path, self._take, b'{"line":')

    def write(self, row: Row, added: Mapping[str, Any]) -> None:
        line = f'{{"line": {row.line}, {row.carried[1:-1]}, {encode(added)[1:-1]}}}\n'
        self._count(row.line, 0, self.append(line.encode()), added)

    def sort(self) -> None:
        lines = sorted(self.rows)
        if lines != list(self.rows):
            failure = f"{self.path}: has all rows, but they cannot be put in the order of the input"
            self.rewrite((self.rows[line][1] for line in lines), failure)

    def carried(self, line: int) -> Mapping[str, Any]:
        """The fields of a row as it was judged."""
        with self.path.open("rb") as lines:
            lines.seek(self.rows[line][1])
            fields = decode(lines.readline())
        return {name: value for name, value in fields.items() if name not in ADDED}

    def _take(self, number: int, offset: int, raw: bytes) -> None:
        where = f"{self.path}, line {number}"
        try:
            fields = decode(raw)
            added = {name: fields.pop(name) for name in ADDED if name in fields}
            carried = encode(fields)
            line = added.get("line")
            is_whole = raw.endswith(b"\n") and len(added) == len(ADDED)
            if not (is_whole and isinstance(line, int)):
                raise ValueError("it lacks fields of one")
        except ValueError as exc:
            raise SetupError(
                f"{where}: not a row with a verdict ({exc}); choose another output, or delete that "
                "line to have its row judged again."
            ) from exc
        for name, value in self._judge.items():
            if added[name] != value:
                why = f"judged with {name} {added[name]!r}, and now it is {value!r}"
                raise SetupError(
                    f"{where}: {why}; continue with the former, or choose another output."
                )
        if line in self.rows:
            raise SetupError(
                f"{where}: a second verdict on line {line} of the input; delete one of them."
            )
        self._count(line, hash(carried), offset, added)

    def _count(self, line: int, digest: int, offset: int, added: Mapping[str, Any]) -> None:
        self.tally.add(added)
        self.rows[line] = digest, offset


def survey(source: RowFile, journal: Journal) -> int:
    """The number of lines of `source` that are not blank, read with about 200 bytes of memory for
    each `prompt_id`.

    Raises SetupError if there is none, a `prompt_id` has two prompts, or a row in `journal` is no longer in
    `source` as it was judged.
    """
    judged = journal.rows
    changed = f"has changed since its verdicts in {journal.path}"
    remedy = "; restore it, or choose another output."
    prompts: dict[str, tuple[int, int]] = {}
    lines = unchanged = 0
    for line, raw in source.lines():
        lines += 1
        if line not in judged and PROMPT_ID not in raw:  # decoding takes most of the time
            continue
        row = None
        carried = ""
        with suppress(ValueError):
            row = Row(line, decode(raw))
            carried = row.carried
        if line in judged and hash(carried) != judged[line][0]:
            which = _changed_fields(journal.carried(line), carried)
            raise SetupError(f"line {line} of {source.path} {changed}{which}{remedy}")
        unchanged += line in judged
        if row and row.get("prompt_id") is not None:
            with suppress(ValueError):  # not a row; it is reported when its turn comes
                check_prompt(source.path, prompts, line, encode(row.get("prompt_id")), row.asked)
    if unchanged < len(judged):
        raise SetupError(f"{source.path} {changed}{remedy}")
    if not lines:
        raise SetupError(f"{source.path} is empty: it has no rows.")
    return lines


def _changed_fields(before: Mapping[str, Any], carried: str) -> str:
    now = decode(carried.encode()) if carried else {}
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return f" (fields: {', '.join(names)})" if names else ""
