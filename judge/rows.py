"""Rows of JSONL or CSV: one `Row` for all that is read of a file, and the fields that a batch adds."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, TypeAlias

from judge.errors import SetupError
from judge.files import COMPLETION, PROMPT, InputFormat, check_is_file, decode, encode, os_reason, read_lines, text_of
from judge.ratings import Rating, Result, Verdict

ADDED: Mapping[str, type] = {
    "line": int,
    "status": str,
    "score": int,
    "mean": float,
    "spread": int,
    "justification": str,
    "unscored_reason": str,
    "unscored_detail": str,
    "basis": str,
    "ratings": list,
    "weighted_score": float,
    "flags": list,
    "model": str,
    "escalation": str,
    "rubric": str,
    "rubric_version": str,
    "samples": int,
    "input_tokens": int,
    "output_tokens": int,
    "latency_ms": int,
    "cost_usd": float,
}
"""The fields that a batch adds, and their types where they are not null. `line` stands first in a row."""

_NOT_READ = {".bz2", ".gz", ".numbers", ".ods", ".parquet", ".xls", ".xlsx", ".xz", ".zip", ".zst"}
_PROMPT_ID = b'"prompt_id"'
_OWN_NAME = re.compile(rf"(?:input_)*(?:{'|'.join(ADDED)})")


@dataclass(frozen=True, slots=True)
class Row:
    """A question and a response to judge, from line `line` (from 1); `carried` are all its fields, as JSON."""

    line: int
    question: str
    response: str
    carried: str


@dataclass(frozen=True, slots=True)
class Malformed:
    line: int
    why: str


Item: TypeAlias = Row | Malformed


@dataclass(frozen=True, slots=True)
class Source:
    path: Path
    form: InputFormat

    @classmethod
    def at(cls, path: Path, form: InputFormat | None = None) -> Self:
        """The file as `form`; without, as CSV where its name ends in .csv or .tsv, else as JSONL.

        Raises:
            SetupError: An ending that promises something else.
        """
        ending = path.suffix.lower()
        if form is None and ending in _NOT_READ:
            raise SetupError(f"{path}: {ending} is not read; save it as .csv or .jsonl.")
        is_sheet = ending in (".csv", ".tsv")
        return cls(path, form or (InputFormat.CSV if is_sheet else InputFormat.JSONL))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """What is not blank, as JSON, each with its line: that of CSV's rows is the one on which they begin.

        Raises:
            SetupError: The file cannot be read.
        """
        if self.form is InputFormat.CSV:
            return read_sheet(self.path)
        return ((line, raw) for line, _, raw in read_lines(self.path))

    def count(self) -> tuple[int, int]:
        last = count = 0
        for line, _ in self.lines():
            last, count = line, count + 1
        return last, count

    def check_prompts(self) -> None:
        """Nothing, where each `prompt_id` stands for one prompt; per id some 200 bytes are held meanwhile.

        Raises:
            SetupError: One stands for two prompts: what goes by it, pairs and intervals, would mix them up.
        """
        firsts: dict[str, tuple[int, int]] = {}
        for line, raw in self.lines():
            if _PROMPT_ID not in raw:  # most of the time is that of decoding
                continue
            key, prompt = _identify(raw)
            first, its_prompt = firsts.setdefault(key, (line, prompt)) if key else (line, prompt)
            if prompt != its_prompt:
                raise SetupError(
                    f"{self.path}: prompt_id {key} has one prompt in line {first} and another in line {line}; "
                    "give each prompt an id of its own."
                )

    def items(self, is_done: Callable[[int], bool], limit: int | None = None) -> Iterator[Item]:
        """Up to its row `limit`, without those whose line `is_done`; what is no row does not count."""
        rows = 0
        for line, raw in self.lines():
            if rows == limit:
                return
            item = None if is_done(line) else parse_row(line, raw)
            rows += not isinstance(item, Malformed)
            if item:
                yield item


def parse_row(line: int, raw: bytes) -> Item:
    """The row on a line. Fields that have the name of an added one are carried as `input_...`."""
    try:
        fields = decode(raw)
        question, response = text_of(fields, PROMPT), text_of(fields, COMPLETION)
        carried = encode({_carried_name(name): value for name, value in fields.items()})
    except ValueError as exc:
        return Malformed(line, str(exc))
    return Row(line, question, response, carried)


def _identify(raw: bytes) -> tuple[str, int]:
    """A row's `prompt_id` as JSON, "" where it has none, and a hash of its prompt."""
    try:
        fields = decode(raw)
        prompt_id = fields.get("prompt_id")
        return ("" if prompt_id is None else encode(prompt_id)), hash(text_of(fields, PROMPT))
    except ValueError:  # no row; it is named when its turn comes
        return "", 0


def to_line(row: Row, added: Mapping[str, Any]) -> bytes:
    return f'{{"line": {row.line}, {row.carried[1:-1]}, {encode(added)[1:-1]}}}\n'.encode()


def to_added(verdict: Verdict, samples: int) -> dict[str, Any]:
    return {
        "status": "scored" if verdict.is_scored else "unscored",
        "score": verdict.score,
        "mean": verdict.mean,
        "spread": verdict.spread,
        "justification": verdict.justification,
        "unscored_reason": verdict.unscored.reason if verdict.unscored else None,
        "unscored_detail": verdict.unscored.detail if verdict.unscored else None,
        "basis": verdict.basis,
        "ratings": [_to_fields(rating) for rating in verdict.ratings],
        "weighted_score": verdict.weighted_score,
        "flags": list(verdict.flags),
        "model": verdict.model,
        "escalation": verdict.escalation,
        "rubric": verdict.rubric,
        "rubric_version": verdict.rubric_version,
        "samples": samples,
        "input_tokens": verdict.input_tokens,
        "output_tokens": verdict.output_tokens,
        "latency_ms": verdict.latency_ms,
        "cost_usd": verdict.cost_usd,
    }


def _to_fields(rating: Result) -> dict[str, Any]:
    """What a row keeps of one rating: without its texts, which would make the file many times as long."""
    if isinstance(rating, Rating):
        return {"model": rating.model, "score": rating.score, "unscored_reason": None}
    return {"model": rating.model, "score": None, "unscored_reason": rating.reason}


@lru_cache(maxsize=1024)
def _carried_name(name: str) -> str:
    return f"input_{name}" if _OWN_NAME.fullmatch(name) else name


_DELIMITERS = ",;\t"  # a semicolon where the comma stands in numbers
_LONGEST_CELL = 2**31 - 1  # what fits the C type on any system
_KNOWN = {*PROMPT, *COMPLETION, "prompt_id"}
_MOST_NAMED = 10


def read_sheet(path: Path) -> Iterator[tuple[int, bytes]]:
    """The rows below the first, each with the line on which it begins, from 1, and as a JSON object by column.

    Cells are strings. Empty ones are null, but for a text, which is empty; rows of empty cells are passed over.

    Raises:
        SetupError: The file cannot be read, is not UTF-8, has no columns for the two texts, or has quotation marks or
            rows that do not come out even, so that where a cell ends is not known.
    """
    check_is_file(path)
    csv.field_size_limit(_LONGEST_CELL)
    line = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = next((each for each in file if each.strip()), "")
            file.seek(0)
            reader = csv.reader(file, delimiter=_find_delimiter(first), strict=True)
            names = _to_names(path, next((cells for cells in reader if any(cells)), []))
            line = reader.line_num + 1
            for cells in reader:
                if any(cells):
                    yield line, encode(_cells_to_fields(f"{path}, line {line}", names, cells)).encode()
                line = reader.line_num + 1
    except UnicodeDecodeError as exc:
        raise SetupError(f"{path}: not UTF-8; save it as such (in a spreadsheet, 'CSV UTF-8').") from exc
    except csv.Error as exc:
        raise SetupError(
            f"{path}, line {line}: a quotation mark is out of place ({exc}); close it, and double those within a cell."
        ) from exc
    except OSError as exc:
        raise SetupError(f"{path}: cannot read it ({os_reason(exc)}).") from exc


def _find_delimiter(line: str) -> str:
    def yields(delimiter: str) -> tuple[int, int]:
        cells = next(csv.reader([line], delimiter=delimiter), [])
        return len(_KNOWN.intersection(map(_to_name, cells))), len(cells)

    return max(_DELIMITERS, key=yields)


def _to_name(cell: str) -> str:
    name = " ".join(cell.split())
    return name.lower() if name.lower() in _KNOWN else name


def _to_names(path: Path, cells: Sequence[str]) -> Sequence[str]:
    """The columns' names; one without a name is called by its number."""
    names = [_to_name(cell) or f"column {number}" for number, cell in enumerate(cells, start=1)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SetupError(f"{path}: two columns are named {twice[0]!r}; rename one.")
    if not all(any(name in names for name in texts) for texts in (PROMPT, COMPLETION)):
        found = ", ".join(repr(name) for name in names[:_MOST_NAMED]) or "none"
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        raise SetupError(
            f"{path}: looked for a column {' or '.join(map(repr, PROMPT))} and a column "
            f"{' or '.join(map(repr, COMPLETION))}, and found {found}{more}; the first line names the columns."
        )
    return names


def _cells_to_fields(where: str, names: Sequence[str], cells: Sequence[str]) -> Mapping[str, str | None]:
    if any(cells[len(names) :]):
        raise SetupError(
            f"{where}: {len(cells)} cells, and the first line names {len(names)}; put a text with the delimiter in it "
            "in quotation marks."
        )
    fields = dict.fromkeys(names) | {name: cell or None for name, cell in zip(names, cells, strict=False)}
    for texts in (PROMPT, COMPLETION):
        given = [name for name in texts if name in fields]
        if not any(fields[name] for name in given):
            fields[given[0]] = ""
    return fields
