"""Tables for what comes next: rows of JSONL as CSV or Parquet, read line by line."""

import csv
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from judge.batch.rows import ADDED
from judge.errors import SetupError
from judge.files import private_and_new, put_in_place
from judge.jsonl import decode, encode, os_reason, read_lines

# Endings that promise what is not written here.
_OTHER_FORMATS = {".bz2", ".gz", ".json", ".tsv", ".xls", ".xlsx", ".xz", ".zip", ".zst"}
_CHUNK_ROWS = 4_000
_CHUNK_BYTES = 8 * 2**20


class Format(StrEnum):
    """What a file of rows is written as."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


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
    """All columns in the order of their first appearance, each with the one kind that fits all its values."""
    columns: dict[str, Kind | None] = {}
    for fields in _read(rows):
        for name, value in fields.items():
            seen = columns.setdefault(name, _KINDS.get(ADDED[name], Kind.TEXT) if name in ADDED else None)
            columns[name] = _common(seen, value)
    return {name: kind or Kind.TEXT for name, kind in columns.items()}


def _common(seen: Kind | None, value: object) -> Kind | None:
    """The kind that fits what was `seen` before (None: nothing but nulls) and `value`."""
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
