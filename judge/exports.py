"""Scored rows for what comes next: tables as CSV or Parquet, and preference pairs to train on."""

import csv
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from judge.errors import SetupError
from judge.files import (
    COMPLETION,
    PROMPT,
    Format,
    decode,
    encode,
    judge_of,
    os_reason,
    private_and_new,
    put_in_place,
    read_lines,
    text_of,
)
from judge.rows import ADDED

# Endings that promise what is not written here.
_OTHER_FORMATS = {".bz2", ".gz", ".json", ".tsv", ".xls", ".xlsx", ".xz", ".zip", ".zst"}
_CHUNK_ROWS = 4_000
_CHUNK_BYTES = 8 * 2**20


class Kind(StrEnum):
    """What a column holds. The values are the names of Arrow's types; TEXT is for all that fits no other."""

    BOOL = "bool"
    INT = "int64"
    FLOAT = "float64"
    TEXT = "string"


_KINDS: Mapping[type, Kind] = {bool: Kind.BOOL, int: Kind.INT, float: Kind.FLOAT}


def choose_format(path: Path, asked: Format | None) -> Format:
    """The format that was asked for, else the one that the ending of `path` names, else JSONL.

    Raises:
        SetupError: An ending of another format; or Parquet, and its package is not installed.
    """
    if path.suffix.lower() in _OTHER_FORMATS:
        raise SetupError(f"{path}: {path.suffix} is not written; end the name in .jsonl, .csv or .parquet.")
    chosen = asked or _format_of(path) or Format.JSONL
    if chosen is Format.PARQUET:
        try:
            import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: F401
        except ImportError as exc:
            raise SetupError("Parquet needs the package pyarrow: pip install 'slack-judge[parquet]'.") from exc
    return chosen


def name_beside(path: Path, form: Format) -> Path:
    """The file of the same name in another format: an ending that names one is replaced, any other kept."""
    return path.with_suffix(f".{form}") if _format_of(path) else path.with_name(f"{path.name}.{form}")


def refuse_foreign(table: Path, form: Format) -> None:
    """Nothing, where `table` may be replaced: it is not there, or its first column is `line`, as in tables of a batch.

    Raises:
        SetupError: Something else stands there.
    """
    if table.exists() and not _begins_with_line(table, form):
        raise SetupError(f"{table}: not a table of 'judge batch', and would be overwritten; choose another output.")


def _begins_with_line(table: Path, form: Format) -> bool:
    try:
        if form is Format.CSV:
            with table.open("rb") as file:
                return file.read(5) in (b"line,", b"\r\n")  # a batch without rows has no columns
        from pyarrow import ArrowException, parquet

        try:
            return list(parquet.read_schema(table).names)[:1] in (["line"], [])
        except ArrowException:
            return False
    except OSError as exc:
        raise SetupError(f"{table}: cannot read it ({os_reason(exc)}).") from exc


def export(rows: Path, target: Path, form: Format) -> None:
    """Writes the rows of a JSONL file as a table, which replaces `target` when it is complete.

    A column has one type: true or false, whole number, number or text. One that mixes them, or holds lists or
    objects, is text: strings as they are, everything else as JSON.

    Raises:
        SetupError: The table cannot be written.
    """
    columns = _columns(rows)
    beside = target.with_name(f"{target.name}.part")
    try:
        if form is Format.CSV:
            _write_csv(rows, beside, columns)
        else:
            _write_parquet(rows, beside, columns)
        put_in_place(beside, target)
    except OSError as exc:
        raise SetupError(f"{target}: cannot write it ({os_reason(exc)}).") from exc
    finally:
        beside.unlink(missing_ok=True)


def _format_of(path: Path) -> Format | None:
    ending = path.suffix.lower().removeprefix(".")
    return Format(ending) if ending in set(Format) else None


def _columns(rows: Path) -> dict[str, Kind]:
    columns: dict[str, Kind | None] = {}
    for fields in _read(rows):
        for name, value in fields.items():
            seen = columns.setdefault(name, _KINDS.get(ADDED[name], Kind.TEXT) if name in ADDED else None)
            columns[name] = _common(seen, value)
    return {name: kind or Kind.TEXT for name, kind in columns.items()}


def _common(seen: Kind | None, value: object) -> Kind | None:
    if value is None or seen is Kind.TEXT:
        return seen
    is_too_long = isinstance(value, int) and abs(value) >= 2**63
    kind = Kind.TEXT if is_too_long else _KINDS.get(type(value), Kind.TEXT)
    if seen in (None, kind):
        return kind
    return Kind.FLOAT if {seen, kind} == {Kind.INT, Kind.FLOAT} else Kind.TEXT


def _read(rows: Path) -> Iterator[dict[str, Any]]:
    return (decode(raw) for _, _, raw in read_lines(rows))


def _to_text(value: object) -> str:
    if not isinstance(value, str):
        return encode(value)
    return value if value.isascii() else value.encode(errors="backslashreplace").decode()


def _write_csv(rows: Path, target: Path, columns: Mapping[str, Kind]) -> None:
    with open(target, "w", encoding="utf-8", newline="", opener=private_and_new) as file:
        writer = csv.writer(file)
        writer.writerow(_to_text(name) for name in columns)
        for fields in _read(rows):
            values = (fields.get(name) for name in columns)
            writer.writerow("" if value is None else _to_text(value) for value in values)


def _write_parquet(rows: Path, target: Path, columns: Mapping[str, Kind]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    names = [_to_text(name) for name in columns]
    schema = pa.schema(
        [(name, pa.type_for_alias(kind.value)) for name, kind in zip(names, columns.values(), strict=True)]
    )
    with (
        open(target, "wb", opener=private_and_new) as file,
        parquet.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        for chunk in _chunks(rows):
            cells = [[_to_cell(fields.get(name), kind) for fields in chunk] for name, kind in columns.items()]
            arrays = [pa.array(column, kind) for column, kind in zip(cells, schema.types, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _to_cell(value: object, kind: Kind) -> object:
    if kind is Kind.FLOAT and isinstance(value, int):
        return float(value)
    return value if value is None or kind is not Kind.TEXT else _to_text(value)


def _chunks(rows: Path) -> Iterator[list[dict[str, Any]]]:
    chunk: list[dict[str, Any]] = []
    size = 0
    for _, _, raw in read_lines(rows):
        chunk.append(decode(raw))
        size += len(raw)
        if len(chunk) >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


Key: TypeAlias = str | bytes
_LOOKED_AT = 10_000
_JUDGE = ("rubric_version", "samples")


class Scored(NamedTuple):
    """One scored row: where it stands in the file, and what it takes to rank it. `prompt` is a digest."""

    line: int
    start: int
    key: Key
    prompt: bytes
    score: float


@dataclass(slots=True)
class Ranking:
    """The best and the worst response to one prompt, by the bytes where their rows start."""

    first_line: int
    prompt: bytes
    best_score: float
    best_start: int
    worst_score: float
    worst_start: int
    responses: int = 1

    def add(self, row: Scored) -> None:
        """Ranks one more response; of several with the same score, the first in the file stays."""
        self.responses += 1
        if row.score > self.best_score:
            self.best_score, self.best_start = row.score, row.start
        if row.score < self.worst_score:
            self.worst_score, self.worst_start = row.score, row.start


@dataclass
class Counts:
    """What became of the rows: `pairs`, `ties` and `alone` count prompts, the others lines."""

    pairs: int = 0
    ties: int = 0
    alone: int = 0
    unscored: int = 0
    malformed: int = 0


def make_pairs(source: Path, report: Callable[[str], None], counts: Counts) -> Iterator[str]:
    """The pairs of a scored file as JSON, in the order in which its prompts first appear.

    Rows belong together by `prompt_id`, and by the prompt itself where they have none. Per prompt some 400 bytes are
    held, whatever the length of the texts; the file is read a second time for these.

    Args:
        source: Rows with prompt, completion and score, in any order; a score of null is unscored.
        report: Gets one plain sentence for each line that is no such row; it is skipped.
        counts: Is filled in as the pairs are made.

    Raises:
        SetupError: One `prompt_id` stands for two prompts, or two judges gave the scores.
    """
    rankings: dict[Key, Ranking] = {}
    for row in _read_scored(source, report, counts):
        ranking = rankings.get(row.key)
        if ranking is None:
            rankings[row.key] = Ranking(row.line, row.prompt, row.score, row.start, row.score, row.start)
        elif row.prompt == ranking.prompt:
            ranking.add(row)
        else:
            raise SetupError(
                f"{source}: prompt_id {row.key!s} has one prompt in line {ranking.first_line} and another in line "
                f"{row.line}; give each prompt an id of its own."
            )
    with source.open("rb") as file:
        for ranking in rankings.values():
            if ranking.best_score > ranking.worst_score:
                counts.pairs += 1
                yield encode(_to_pair(_fields_at(file, ranking.best_start), _fields_at(file, ranking.worst_start)))
            elif ranking.responses > 1:
                counts.ties += 1
            else:
                counts.alone += 1


def has_pair(source: Path) -> bool:
    first: dict[Key, Scored] = {}
    for row in islice(_read_scored(source, lambda _: None, Counts()), _LOOKED_AT):
        other = first.setdefault(row.key, row)
        if other.prompt != row.prompt:
            return False
        if other.score != row.score:
            return True
    return False


def _read_scored(source: Path, report: Callable[[str], None], counts: Counts) -> Iterator[Scored]:
    judges: dict[str, int] = {}
    for line, start, raw in read_lines(source):
        try:
            fields = decode(raw)
            row = _to_scored(line, start, fields)
        except ValueError as exc:
            counts.malformed += 1
            report(f"line {line}: {exc}; skipped.")
            continue
        _check_judge(source, line, fields, judges)
        if row is None:
            counts.unscored += 1
        else:
            yield row


def _to_scored(line: int, start: int, fields: Mapping[str, Any]) -> Scored | None:
    prompt = blake2b(text_of(fields, PROMPT).encode(), digest_size=16).digest()
    text_of(fields, COMPLETION)
    if "score" not in fields:
        raise ValueError("no score; 'judge batch' adds them")
    score = fields["score"]
    if score is None:
        return None
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not is_number or (isinstance(score, float) and not math.isfinite(score)):
        raise ValueError("the score is no number")
    given_id = fields.get("prompt_id")
    return Scored(line, start, prompt if given_id is None else encode(given_id), prompt, score)


def _check_judge(source: Path, line: int, fields: Mapping[str, Any], judges: dict[str, int]) -> None:
    # Without a rubric the row is not ours, and its `model` may well be the one that wrote the response.
    parts = {"model": judge_of(fields)} | {name: fields.get(name) for name in _JUDGE}
    judge = ", ".join(f"{name} {part}" for name, part in parts.items()) if "rubric_version" in fields else "another"
    judges.setdefault(judge, line)
    if len(judges) > 1:
        (one, first), (other, second) = judges.items()
        raise SetupError(
            f"{source}: two judges gave these scores ({one} in line {first}; {other} in line {second}), and "
            "theirs do not compare; make pairs of each judge's rows alone."
        )


def _fields_at(file: BinaryIO, start: int) -> dict[str, Any]:
    file.seek(start)
    return decode(file.readline())


def _to_pair(best: Mapping[str, Any], worst: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "prompt_id": best.get("prompt_id"),
        "prompt": text_of(best, PROMPT),
        "chosen": text_of(best, COMPLETION),
        "rejected": text_of(worst, COMPLETION),
        "score_chosen": best["score"],
        "score_rejected": worst["score"],
    }
