"""Exports scored rows: as tables in CSV or Parquet, and as preference pairs to train on."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from judge.errors import SetupError, needs_extra
from judge.rows import files
from judge.rows.messages import split_messages
from judge.rows.row_file import ADDED, Row, RowFile, check_prompt
from judge.scoring.conversation import Turn

# Endings of formats that are not written here.
_OTHER_FORMATS = {".pdf", ".bz2", ".gz", ".json", ".tsv", ".xls", ".xlsx", ".xz", ".zip", ".zst"}


def choose_format(path: Path, asked: files.Format | None = None) -> files.Format:
    """The format that was asked for; without one, the format that the ending of `path` names, or
    JSONL.
    """
    if path.suffix.lower() in _OTHER_FORMATS:
        raise SetupError(
            f"{path}: {path.suffix} is not written; end the name in .jsonl, .csv or .parquet."
        )
    ending = path.suffix.lower().removeprefix(".")
    chosen = asked or (files.Format(ending) if ending in set(files.Format) else files.Format.JSONL)
    if chosen is files.Format.PARQUET:
        with needs_extra("Parquet", "parquet", "pyarrow"):
            import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: F401
    return chosen


def export(
    rows: Path,
    target: Path,
    form: files.Format,
    delimiter: str = ",",
    columns: Sequence[str] = (),
) -> None:
    """Writes the rows of a JSONL file as a table, which replaces `target` when it is complete.

    `columns` come first, also if no row has them.

    A column has one type: true or false, whole number, number or text. A column that mixes types,
    or holds lists or objects, is text: strings are unchanged, everything else is JSON.
    """
    types = _columns(rows, columns)
    with files.replacing(target) as file:
        if form is files.Format.CSV:
            _write_csv(rows, file, types, delimiter)
        else:
            _write_parquet(rows, file, types)


def _columns(rows: Path, first: Sequence[str]) -> dict[str, type]:
    """All columns, these first and the others as they appear, each with the one type that fits all
    its values.
    """
    kinds: dict[str, set[type]] = {name: set() for name in first}
    for _, raw in files.read_lines(rows):
        for name, value in files.decode(raw).items():
            own = kinds.setdefault(name, {_to_kind(ADDED[name])} if name in ADDED else set())
            if (
                isinstance(value, int) and abs(value) >= 2**63
            ):  # more than a column of numbers holds
                own.add(str)
            elif value is not None:
                own.add(_to_kind(type(value)))
    return {name: _common_kind(own) for name, own in kinds.items()}


def _to_kind(python_type: type) -> type:
    return python_type if python_type in (bool, int, float) else str


def _common_kind(kinds: set[type]) -> type:
    if kinds == {int, float}:
        return float
    return next(iter(kinds)) if len(kinds) == 1 else str


def _to_text(value: object) -> str:
    # Half a surrogate pair, which neither format can hold, is escaped.
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return files.encode(value)


# First characters that make a cell a formula in a spreadsheet, in East Asian settings also in their
# full width: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def _to_csv(value: object) -> str:
    text = _to_text(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULAS) else text


def _write_csv(rows: Path, file: BinaryIO, columns: Mapping[str, type], delimiter: str) -> None:
    text = TextIOWrapper(file, encoding="utf-8-sig", newline="")  # so that Excel knows
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(map(_to_csv, columns))
    for _, raw in files.read_lines(rows):
        values = map(files.decode(raw).get, columns)
        writer.writerow("" if value is None else _to_csv(value) for value in values)
    text.detach()


def _write_parquet(rows: Path, file: BinaryIO, columns: Mapping[str, type]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    schema = pa.schema([(_to_text(name), types[kind]) for name, kind in columns.items()])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        all_fields = (files.decode(raw) for _, raw in files.read_lines(rows))
        while part := list(islice(all_fields, 1_000)):
            cells = [_to_cells(fields, columns) for fields in part]
            writer.write_batch(pa.RecordBatch.from_pylist(cells, schema=schema))


def _to_cells(fields: Mapping[str, object], columns: Mapping[str, type]) -> dict[str, object]:
    cells = dict[str, object]()
    for name, kind in columns.items():
        value = fields.get(name)
        if value is not None:
            cells[_to_text(name)] = _to_text(value) if kind is str else kind(value)
    return cells


class Candidate(NamedTuple):
    """One scored row, its texts as strings or messages."""

    asked: str  # as `Row.asked`
    prompt_id: Any
    prompt: str | Sequence[Any]
    response: str | Sequence[Any]
    score: float

    @property
    def key(self) -> tuple[str, str]:
        """The `prompt_id` as JSON, or what was asked."""
        return files.encode(self.prompt_id), self.asked if self.prompt_id is None else ""


def make_pairs(file: RowFile, counts: Counter[str]) -> Iterator[str]:
    """The pairs of a scored file as JSON, in the order in which its prompts first appear.

    Of several responses with the same score, the first in the file counts. Two rows of each prompt
    are kept in memory. The `counts` are filled in as the pairs are made: "pairs", "ties" and
    "alone" count prompts, "unscored" counts lines. Raises SetupError if no line has a score.
    """
    best: dict[tuple[str, str], Candidate] = {}  # by prompt
    worst: dict[tuple[str, str], Candidate] = {}
    responses = Counter[tuple[str, str]]()
    for row in _read_scored(file, counts):
        key = row.key
        responses[key] += 1
        if row.score > best.setdefault(key, row).score:
            best[key] = row
        if row.score < worst.setdefault(key, row).score:
            worst[key] = row
    file.require(score="score")
    for key, top in best.items():
        low = worst[key]
        if top.score > low.score:
            counts["pairs"] += 1
            pair = {
                "prompt_id": top.prompt_id,
                "prompt": top.prompt,
                "chosen": top.response,
                "rejected": low.response,
            }
            yield files.encode(pair | {"score_chosen": top.score, "score_rejected": low.score})
        elif responses[key] > 1:
            counts["ties"] += 1
        else:
            counts["alone"] += 1


def _read_scored(file: RowFile, counts: Counter[str]) -> Iterator[Candidate]:
    judges: dict[str, int] = {}
    prompts: dict[str, tuple[int, int]] = {}
    for row in file.rows():
        try:
            candidate = _to_candidate(row)
        except ValueError as exc:
            file.problems.append(f"line {row.line}: {exc}")
            continue
        judges.setdefault(_judge_of(row), row.line)
        if len(judges) > 1:
            (one, first), (other, second) = judges.items()
            raise SetupError(
                f"{file.path}: two judges gave these scores ({one} in line {first}; {other} in "
                f"line {second}), and scores of different judges cannot be compared; make pairs for "
                "each judge separately."
            )
        if candidate is None:
            counts["unscored"] += 1
            continue
        if candidate.prompt_id is not None:
            check_prompt(file.path, prompts, row.line, candidate.key[0], candidate.asked)
        yield candidate


def _to_candidate(row: Row) -> Candidate | None:
    """None if it is unscored; raises ValueError if it is no scored row."""
    asked = row.asked
    prompt, response = _sides(row)
    score = row.score
    return (
        None if score is None else Candidate(asked, row.get("prompt_id"), prompt, response, score)
    )


def _judge_of(row: Row) -> str:
    # Without a rubric version the row is not ours, and its `model` may be the one that wrote the
    # response.
    if "rubric_version" not in row.fields:
        return "another"
    version = row.get("rubric_version")
    return f"model {row.judge}, rubric_version {version}, samples {row.get('samples')}"


def _sides(row: Row) -> tuple[str | Sequence[Any], str | Sequence[Any]]:
    """What was asked and what was answered: texts, or the messages of a conversation, as trainers
    take them.
    """
    if not row.has_turns:
        return row.dialogue[:2]
    if (messages := row.messages) is not None:
        return split_messages(messages)
    question, response, turns = row.dialogue
    asked = [{"role": each.role, "content": each.text} for each in (*turns, Turn("user", question))]
    return asked, [{"role": "assistant", "content": response}]
