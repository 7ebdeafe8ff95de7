"""Reads CSV as spreadsheets, scripts and databases write it."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from judge.errors import SetupError
from judge.rows import files

PROMPT = ("prompt", "question")
COMPLETION = ("completion", "response")
"""The names that the two texts may have in a row."""

_LONGEST_CELL = 10_000_000
_DELIMITERS = ",;\t"  # spreadsheets use a semicolon if the comma is their decimal mark
_KNOWN = {*PROMPT, *COMPLETION, "prompt_id", "conversation", "reference"}


def read_sheet(path: Path) -> Iterator[tuple[int, bytes]]:
    """The rows below the first, each with the number of its first line, from 1, and as a JSON
    object by column.

    Cells are strings. Empty cells are null, except for the two texts, which are ""; rows of empty
    cells are skipped.
    """
    files.check_is_file(path)
    csv.field_size_limit(_LONGEST_CELL)
    line = 1
    try:
        with (
            files.explaining(f"{path}: cannot read it"),
            path.open(encoding="utf-8-sig", newline="") as file,
        ):
            reader = csv.reader(file, delimiter=find_delimiter(path), strict=True)
            names: Sequence[str] = ()
            for cells in reader:
                if any(cells) and names:
                    fields = _cells_to_fields(f"{path}, line {line}", names, cells)
                    yield line, files.encode(fields).encode()
                elif any(cells):
                    names = _to_names(path, cells)
                line = reader.line_num + 1
            if not names:
                _to_names(path, [])
    except UnicodeDecodeError as exc:
        raise SetupError(
            f"{path}: not UTF-8; save it as such (in a spreadsheet, 'CSV UTF-8')."
        ) from exc
    except csv.Error as exc:
        raise SetupError(
            f"{path}, line {line}: not CSV ({exc}); close each quotation mark, and double those "
            "within a cell."
        ) from exc


def find_delimiter(path: Path) -> str:
    """That which gives the most known columns, and among these the most columns."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = next((line for line in file if line.strip()), "")

    def columns(delimiter: str) -> tuple[int, int]:
        cells = next(csv.reader([first], delimiter=delimiter), [])
        known = [cell for cell in cells if _to_name(cell) in _KNOWN]
        return len(known), len(cells)

    return max(_DELIMITERS, key=columns)


def _to_name(cell: str) -> str:
    name = " ".join(cell.split())
    return name.lower() if name.lower() in _KNOWN else name


def _to_names(path: Path, cells: Sequence[str]) -> Sequence[str]:
    """The columns' names; a column without a name is called by its number."""
    names = [_to_name(cell) or f"column {number}" for number, cell in enumerate(cells, start=1)]
    for name in names:
        if names.count(name) > 1:
            raise SetupError(f"{path}: two columns are named {name!r}; rename one.")
    if set(PROMPT).isdisjoint(names) or set(COMPLETION).isdisjoint(names):
        columns = files.listed([repr(name) for name in names]) or "none"
        raise SetupError(
            f"{path}: looked for a column 'prompt' or 'question' and a column 'completion' or "
            f"'response', and found {columns}; the first line names the columns."
        )
    return names


def _cells_to_fields(
    where: str, names: Sequence[str], cells: Sequence[str]
) -> Mapping[str, str | None]:
    if any(cells[len(names) :]):
        raise SetupError(
            f"{where}: {len(cells)} cells, and the first line names {len(names)}; put a text with "
            "the delimiter in it in quotation marks."
        )
    fields: dict[str, str | None] = dict.fromkeys(names)
    for name, cell in zip(names, cells, strict=False):
        fields[name] = cell or None
    for texts in (PROMPT, COMPLETION):
        columns = [name for name in texts if name in fields]
        if not any(fields[name] for name in columns):
            fields[columns[0]] = ""
    return fields
