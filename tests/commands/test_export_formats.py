"""`judge-bot export --format`: tables, and what Langfuse loads, asked of the real packages."""

import csv
import inspect
import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from sqlalchemy import insert, update

from bot.domain.case import CaseTurn, Part
from bot.domain.label import Label
from bot.store import Store
from bot.store.export import Exports, Selection
from bot.store.schema import cases, causes
from judge import Turn
from judge.rows.files import encode
from judge.rows.row_file import Row
from tests.cases import add, judged
from tests.gestures import export

pytestmark = pytest.mark.usefixtures("log_file")

HOSTILE = '=HYPERLINK("http://x") {{ env.OPENAI_API_KEY }} is {% raw %}'
_CARRIED = {"case": 1, "score": 4, "human": 2, "blind": True, "probability": 0.5, "model": "m"}


@pytest.fixture
async def log(log: Store) -> Store:
    """Two cases: one with two labels, of which one is blind, and one without."""
    said = CaseTurn(
        part=Part.CONVERSATION, ts="1.1", author_id="U2", role="Person 1", text="Hm.", text_hash=""
    )
    case = await judged(log, "a", response=HOSTILE, turns=(said,), messages_before=1, messages=2)
    for person in ("U1", "U2"):
        await log.labels.put(case, person, Label(2, "Short."))
    await judged(log, "b", score=3)
    return log


async def exported(folder: Path, form: str) -> list[dict[str, Any]]:
    """The lines of the file, which stays beside; one label is blind, as /judge label makes it."""
    with closing(sqlite3.connect(folder / "log.db")) as other:
        other.execute("UPDATE labels SET is_blind = 1, probability = 0.5 WHERE user_id = 'U1'")
        other.execute(
            "INSERT INTO ratings (team_id, case_id, position, score, justification, raw, model, "
            "served, latency_ms) SELECT team_id, id, 1, 4, '', '', model, 'm-2', 1 FROM cases"
        )
        other.commit()
    code, _, err = await export(folder, "--all", "--texts", "--format", form, "-o", "out.jsonl")
    assert (code, err) == (0, "3 rows written\n")
    return [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]


def blind_label_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = [row["metadata"] for row in rows if row["metadata"]["blind"]]
    return {name: found[name] for name in _CARRIED}


async def test_a_row_has_what_was_said_before_and_can_be_judged_with_it(
    log: Store, tmp_path: Path
) -> None:
    first, *_, last = await exported(tmp_path, "jsonl")
    assert (first["messages_before"], first["messages_of_reply"]) == (1, 2)
    assert set(Row(1, first).served) == {(first["model"], "m-2")}
    assert Row(1, first).dialogue.turns == (Turn("Person 1", "Hm."),)
    assert "conversation" not in last


async def test_low_replies_come_with_the_judges_reason_points_and_cause(
    log: Store, tmp_path: Path
) -> None:
    low = await judged(log, "c", score=1)
    verdict = await log.cases.verdict(low.id)
    await log.cases.note_more(low, replace(verdict, points={"useful": 0.0, "concise": None}))
    week = {"team_id": low.team_id, "channel_id": low.channel_id, "week": "2026-W01"}
    await log.database.execute(
        insert(causes).values(week | {"case_id": low.id, "name": "no source"})
    )
    code, out, err = await export(tmp_path, "--low", "--texts", "--format", "langfuse")
    assert (code, err) == (0, "1 row written\n")
    why = json.loads(out)["metadata"]
    assert (why["case"], why["justification"], why["cause"]) == (low.id, "Good.", "no source")
    assert why["points"] == {"useful": 0.0, "concise": None}


async def test_langfuse_takes_each_line_as_a_dataset_item(log: Store, tmp_path: Path) -> None:
    from langfuse import Langfuse

    rows = await exported(tmp_path, "langfuse")
    for row in rows:
        inspect.signature(Langfuse.create_dataset_item).bind(None, **row)
    assert blind_label_of(rows) == _CARRIED
    assert len({row["id"] for row in rows}) == 3
    assert rows[0]["input"] == {"question": "Why?", "response": HOSTILE}
    assert [row["expected_output"] for row in rows] == [{"score": 2}, {"score": 2}, None]


async def test_tables_have_the_rows_of_the_lines_and_no_formulas(
    log: Store, tmp_path: Path
) -> None:
    lines = await exported(tmp_path, "jsonl")
    for name in ("out.csv", "out.parquet"):
        code, out, err = await export(tmp_path, "--all", "--texts", "-o", name)
        assert (code, out, err) == (0, "", "3 rows written\n")

    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        sheet = list(csv.DictReader(file))
    assert sheet[0]["completion"] == f"'{HOSTILE}"
    assert [row["case"] for row in sheet] == ["1", "1", "2"]
    table = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    for line in lines:
        line.update(
            {name: encode(value) for name, value in line.items() if isinstance(value, list)}
        )
    assert table == [dict.fromkeys(table[0]) | line for line in lines]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


async def test_a_table_without_rows_has_the_columns_of_one_with_rows(
    log: Store, tmp_path: Path
) -> None:
    columns = []
    for options in ((), ("--since", "2100-01-01")):
        assert (await export(tmp_path, "--texts", "-o", "out.csv", *options))[0] == 0
        with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
            columns.append(next(csv.reader(file)))
    # What a first row may lack is not among them.
    assert [name for name in columns[0] if name not in {"ratings", "conversation"}] == columns[1]


async def test_one_workspace_or_channel_can_be_exported_and_is_a_stratum_of_its_own(
    log: Store, tmp_path: Path
) -> None:
    first = await log.cases.get(1)
    await add(log, key="other", team_id="T9", channel_id=first.channel_id)
    everything = [json.loads(line) for line in (await export(tmp_path, "--all"))[1].splitlines()]
    assert len({(row["workspace"], row["stratum"]) for row in everything}) == 2
    assert len({row["stratum"] for row in everything}) == 2
    for options, workspaces in (
        (("--team", "T9"), {"T9"}),
        (("--channel", first.channel_id), {"T9", first.team_id}),
        (("--channel", "C-none"), set()),
    ):
        _, out, _ = await export(tmp_path, "--all", *options)
        assert {json.loads(line)["workspace"] for line in out.splitlines()} == workspaces


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            "--format langfuse",
            "--format langfuse needs texts; add --texts if the file may hold them",
        ),
        ("--format csv", "--format csv is a file; name it with --output"),
        (
            "--format langfuse --texts -o a.csv",
            "--output a.csv: is written as jsonl; end its name in .jsonl, or leave out --format",
        ),
        (
            "-o no/a.csv",
            "--output no/a.csv: cannot be written (No such file or directory); name another file",
        ),
    ],
)
async def test_a_format_that_cannot_be_written_is_a_sentence(
    log: Store, tmp_path: Path, options: str, sentence: str
) -> None:
    assert await export(tmp_path, *options.split()) == (2, "", f"judge-bot: {sentence}\n")


async def test_the_database_is_not_overwritten_and_an_earlier_export_is(
    log: Store, tmp_path: Path
) -> None:
    code, _, err = await export(tmp_path, "-o", "log.db")
    assert (code, err) == (
        2,
        "judge-bot: --output log.db: not an export, and would be overwritten; name another file\n",
    )
    for name in ("labels.jsonl", "labels.csv", "labels.parquet") * 2:
        assert (await export(tmp_path, "-o", name))[0] == 0


async def test_rows_without_texts_are_left_out_of_what_needs_them(
    log: Store, tmp_path: Path
) -> None:
    gone = update(cases).values(question=None, response=None)
    await log.database.execute(gone.where(cases.c.id == 1))
    _, out, err = await export(tmp_path, "--all", "--texts")
    first, *_, last = map(json.loads, out.splitlines())
    assert (first["prompt"], first["completion"], last["prompt"]) == (None, None, "Why?")
    _, out, err = await export(tmp_path, "--all", "--texts", "--format", "langfuse")
    assert len(out.splitlines()) == 1
    assert err == "1 row written\n2 left out, because their texts are not in the database\n"


async def test_all_pages_of_an_export_are_there_also_if_a_case_is_deleted_meanwhile(
    log: Store, tmp_path: Path
) -> None:
    numbers = await add(log, 500)
    seen: list[int] = []
    async for row, *_ in Exports(log.database).rows(Selection(has_unlabelled=True)):
        if row.id == 499:
            with closing(sqlite3.connect(tmp_path / "log.db")) as other:
                other.execute("DELETE FROM cases WHERE id = 502")
                other.commit()
        seen.append(row.id)
    assert seen == [1, 1, 2, *numbers[:-1]]
