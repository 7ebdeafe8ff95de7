"""CSV as spreadsheets, scripts and databases export it."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.rows.sheet import read_sheet
from tests.judge.cli.test_batch import offline
from tests.row_files import read
from tests.tables import each

EXCEL = (
    '\ufeffQuestion;Response;Human\r\n"How long?\r\nIn minutes.";"Six; or '
    '6,5.";4\r\nWhy?;;\r\n;;\r\n'
)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def sheet(folder: Path, content: str | bytes, name: str = "in.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows(folder: Path, content: str) -> list[tuple[int, dict[str, Any]]]:
    return [(line, json.loads(raw)) for line, raw in read_sheet(sheet(folder, content))]


def test_a_sheet_as_excel_writes_it_is_scored(tmp_path: Path, output: Path) -> None:
    done = offline(sheet(tmp_path, EXCEL), output)
    first, second = read(output)
    assert done.returncode == 1
    assert (first["line"], first["question"], first["response"]) == (
        2,
        "How long?\r\nIn minutes.",
        "Six; or 6,5.",
    )
    assert (first["Human"], first["status"]) == ("4", "scored")
    assert (second["line"], second["response"], second["Human"]) == (4, "", None)


def test_a_table_is_one_that_excel_opens_as_it_wrote_the_input(
    tmp_path: Path, output: Path
) -> None:
    table = output.with_suffix(".csv")
    assert offline(sheet(tmp_path, "prompt;response\na;Köln\n"), table).returncode == 0
    assert table.read_bytes().startswith("\ufeffline;prompt;response;".encode())


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(CELL, CELL, CELL), min_size=1),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_text_is_read_unchanged(
    tmp_path_factory: pytest.TempPathFactory,
    table: list[tuple[str, str, str]],
    delimiter: str,
    end: str,
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("prompt", "completion", "a, b; c"), *table])
    found = rows(tmp_path_factory.mktemp("sheet"), text.getvalue())
    assert [tuple(fields.values()) for _, fields in found] == table


@each(
    ("content", "expected"),
    [
        # Names are normalised, and columns without one numbered.
        (
            ",  PROMPT , Completion ,Prompt_ID\n7,a,b\n",
            [(2, {"column 1": "7", "prompt": "a", "completion": "b", "prompt_id": None})],
        ),
        # The delimiter is the one that separates the known names.
        (
            "prompt;response;good, bad, so so, or none\na;b;good\n",
            [(2, {"prompt": "a", "response": "b", "good, bad, so so, or none": "good"})],
        ),
        # Blank lines and empty cells after the last column are skipped.
        (
            "\n\nprompt,response\n\na,b,,\n,,,\nc\n",
            [(5, {"prompt": "a", "response": "b"}), (7, {"prompt": "c", "response": ""})],
        ),
        # An empty cell is null if the other column of the text is filled.
        (
            "prompt,question,response\n,Why?,b\n",
            [(2, {"prompt": None, "question": "Why?", "response": "b"})],
        ),
    ],
)
def test_cells_are_read_as_fields(
    tmp_path: Path, content: str, expected: list[tuple[int, dict[str, Any]]]
) -> None:
    assert rows(tmp_path, content) == expected


@each(
    ("content", "expected"),
    [
        (
            "Frage;Antwort\na;b\n",
            "looked for a column 'prompt' or 'question' and a column 'completion' or 'response', "
            "and found 'Frage', 'Antwort'; the first line names the columns.",
        ),
        (",".join(f"c{n}" for n in range(14)), "'c9' and 4 more; "),
        ("", "and found none; the first line names the columns."),
        ("prompt,response,Prompt\na,b,c\n", "two columns are named 'prompt'; rename one."),
        (
            "prompt,response\na,b\na,b,c\n",
            "line 3: 3 cells, and the first line names 2; put a text with",
        ),
        (
            'prompt,response\n\na,"b\nc,d\n',
            "line 3: not CSV (unexpected end of data); close",
        ),
        (
            "prompt,response\na,Köln\n".encode("cp1252"),
            "not UTF-8; save it as such (in a spreadsheet, 'CSV UTF-8').",
        ),
        (
            f"prompt,response\na,{'x' * 10_000_001}\n",
            "line 2: not CSV (field larger than field limit",
        ),
    ],
)
def test_sheet_that_cannot_be_read_is_refused_before_the_output_is_created(
    tmp_path: Path, output: Path, content: str | bytes, expected: str
) -> None:
    source = sheet(tmp_path, content)
    done = offline(source, output)
    assert (done.returncode, output.exists()) == (2, False)
    assert done.stderr.startswith(str(source))
    assert expected in done.stderr


def test_tsv_is_recognised_by_its_ending(tmp_path: Path, output: Path) -> None:
    assert offline(
        sheet(tmp_path, "prompt\tresponse\na\tb c\n", "in.TSV"), output
    ).stdout.startswith("1 of 1")
