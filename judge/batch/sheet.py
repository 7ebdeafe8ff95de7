"""CSV, as spreadsheets and scripts write it: each row as the JSON object that it stands for."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from judge.errors import SetupError
from judge.jsonl import COMPLETION, PROMPT, check_is_file, encode, os_reason

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
                    yield line, encode(_to_fields(f"{path}, line {line}", names, cells)).encode()
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
    """The one that parts a line into the most known names, and the most cells."""

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


def _to_fields(where: str, names: Sequence[str], cells: Sequence[str]) -> Mapping[str, str | None]:
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
