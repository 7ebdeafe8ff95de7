import asyncio
import csv
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from judge import load_rubric
from judge.rows.exports import export
from judge.rows.files import Format
from judge.rows.row_file import ADDED, Row, parse_item
from judge.scoring.ways import USUAL
from tests.judge_command import Done, run
from tests.model_server import Answer, Decided, Failure, ModelServer
from tests.row_files import read, write
from tests.tables import each

SETUP = Path(__file__).parents[3] / "tools" / "setup"
EGGS = "How do I boil an egg?"


def offline(source: Path, output: Path, *options: object) -> Done:
    return run("batch", source, "-o", output, "--model", "offline", *options)


async def ask(server: ModelServer, source: Path, output: Path, *options: object) -> Done:
    return await asyncio.to_thread(
        run,
        "batch",
        source,
        "-o",
        output,
        "--samples",
        1,
        *options,
        OPENAI_BASE_URL=server.base_url,
    )


def row(answer: str = "Six minutes.", **fields: object) -> dict[str, Any]:
    return {"prompt": EGGS, "completion": answer, **fields}


def is_there(path: Path) -> bool:
    return path.exists()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", *(row(f"Answer {n}.") for n in range(1, 6)))


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


# Rows


def why(line: str | bytes) -> str:
    item = parse_item(1, line if isinstance(line, bytes) else line.encode())
    return (
        item.removeprefix("line 1: ").removesuffix("; skipped.")
        if isinstance(item, str)
        else "fine"
    )


@each(
    ("line", "expected"),
    [
        ('{"prompt": "a"', "not JSON (expecting ',' delimiter at character 15)"),
        ('{"prompt": ' + "[" * 100_000, "nested too deeply"),
        (b'{"prompt": "\xff"}', "not UTF-8 at byte 13"),
        ("[1]", "a list where an object belongs"),
        ('{"prompt": 7, "completion": "b"}', "prompt is a number where a string belongs"),
        ("{}", "no prompt (nor question), nor anything else"),
        ('{"case": 1, "prompt": null, "completion": null}', "its text is no longer stored"),
        (
            json.dumps({"prompt": "a", **{f"f{n}": n for n in range(14)}}),
            "no completion (nor response), only prompt, f0, f1, f2, f3, f4, f5, f6, f7, f8 "
            "and 5 more",
        ),
        (
            '{"prompt": "a", "question": "c", "completion": "b"}',
            "prompt and question differ; leave one out",
        ),
        (
            '{"messages": [{"role": "assistant", "content": "b"}], "response": "b"}',
            "messages end with an answer, and response is another; leave one out",
        ),
        (
            '{"prompt": "a", "completion": "b", "conversation": "user: hi"}',
            "conversation is a string where a list belongs; rename it if it is something else",
        ),
        (
            '{"messages": [], "conversation": []}',
            "messages and conversation, where one of them belongs; leave the other out",
        ),
    ],
)
def test_malformed_line_says_what_is_wrong(line: str | bytes, expected: str) -> None:
    assert why(line) == expected


@each(
    "line",
    [
        '{"question": "a", "response": "b"}',
        '{"prompt": "a", "question": "a", "completion": "b", "response": null}',
        '\ufeff{"prompt": "a", "completion": "b"}\r',
    ],
)
def test_row_is_read_with_either_field_names_a_bom_and_windows_line_ends(line: str) -> None:
    item = parse_item(3, line.encode())
    assert isinstance(item, Row)
    assert (item.line, item.dialogue) == (3, ("a", "b", ()))


def talk(*texts: str) -> list[dict[str, str]]:
    return [
        {"role": role, "content": text}
        for role, text in zip(("user", "assistant") * len(texts), texts, strict=False)
    ]


@each(
    ("fields", "texts"),
    [
        ({"messages": talk("a", "b", "c", "d")}, "c d, after user: a, assistant: b"),
        (
            {"prompt": "c", "completion": "d", "conversation": [{"role": "Ann", "content": "a"}]},
            "c d, after Ann: a",
        ),
        (
            {"prompt": "c", "completion": "d", "conversation": json.dumps(talk("a", "b"))},
            "c d, after user: a, assistant: b",
        ),
        ({"messages": talk("a", "b", "c"), "response": "d"}, "c d, after user: a, assistant: b"),
        (
            {"messages": talk("c"), "completion": "d", "system": [{"text": "a"}]},
            "c d, after system: a",
        ),
    ],
)
def test_row_can_be_a_conversation(fields: Mapping[str, Any], texts: str) -> None:
    item = parse_item(1, json.dumps(fields).encode())
    assert isinstance(item, Row)
    before = ", ".join(f"{turn.role}: {turn.text}" for turn in item.dialogue.conversation)
    assert f"{item.dialogue.question} {item.dialogue.response}, after {before}" == texts
    assert json.loads(item.carried) == fields


# The output


def test_row_carries_its_fields_and_gets_those_of_the_verdict(tmp_path: Path, output: Path) -> None:
    carried = {
        "prompt_id": "p1",
        "label": 4,
        "nested": {"a": [1, None]},
        "text": "é\u2028\ud800",
        "score": 5,
        "input_score": "human",
        "not": float("inf"),
    }
    source = write(tmp_path / "in.jsonl", row(**carried))
    done = offline(source, output)
    assert done.returncode == 0, done.stderr
    (scored,) = read(output)
    kept = {"input_score": carried.pop("score"), "input_input_score": carried.pop("input_score")}
    assert {name: scored[name] for name in carried | kept} == carried | kept
    assert set(ADDED) < set(scored)
    assert (scored["line"], scored["status"], scored["model"]) == (1, "scored", "offline")


def test_malformed_lines_are_reported_skipped_and_give_exit_code_1(
    tmp_path: Path, output: Path
) -> None:
    lines = (
        row("One."),
        "nonsense",
        "",
        "  ",
        row("Five."),
        '{"prompt": "a"}',
        row("Seven."),
    )
    source = write(tmp_path / "in.jsonl", *lines)
    done = offline(source, output)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "line 2: not JSON (expecting value at character 1); skipped.",
        "line 6: no completion (nor response), only prompt; skipped.",
    ]
    assert [each["line"] for each in read(output)] == [1, 5, 7]
    assert done.stdout.startswith("3 of 3 rows scored, 0 unscored, 0 failed, 2 skipped.")


def test_one_prompt_id_for_two_prompts_is_refused_before_any_row_is_judged(
    tmp_path: Path, output: Path
) -> None:
    eggs = [row(prompt_id="egg"), row(prompt_id="tea"), "", row(prompt_id="egg")]
    source = write(tmp_path / "in.jsonl", *eggs, row(prompt_id="egg", prompt="Why?"))
    done = offline(source, output)
    assert 'prompt_id "egg" has one prompt in line 1 and another in line 5;' in done.stderr
    assert not output.exists()


async def test_rows_are_sorted_in_the_order_of_the_input_at_the_end(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    # The first row gets its verdict last: its first request fails, and is repeated half a second
    # later.
    model_server.script(Failure(500), "score: 4\nGood.")
    done = await ask(model_server, source, output, "--concurrency", 2)
    assert done.returncode == 0, done.stderr
    assert [each["line"] for each in read(output)] == [1, 2, 3, 4, 5]
    assert not list(output.parent.glob("*.sorting"))


# The next run


def test_limit_counts_rows_and_not_malformed_lines(tmp_path: Path, output: Path) -> None:
    source = write(
        tmp_path / "in.jsonl", "nonsense", row("One."), "{}", row("Two."), "nonsense", row("Three.")
    )
    for _ in range(2):
        done = offline(source, output, "--limit", 2)
        assert [each["line"] for each in read(output)] == [2, 4]
        assert "2 of 2 rows scored, 0 unscored, 0 failed, 2 skipped." in done.stdout


def test_an_empty_file_is_an_error_and_leaves_no_output(tmp_path: Path, output: Path) -> None:
    done = offline(write(tmp_path / "in.jsonl"), output)
    assert (done.returncode, output.exists()) == (2, False)
    assert "in.jsonl is empty: it has no rows.\n" in done.stderr


@each(
    ("lines", "hint"),
    [(["[", '{"prompt": "a"}', "]"], ".[]"), (['[{"prompt": "a"}]'], ".[]"), (["{", "}"], ".")],
)
def test_json_over_several_lines_is_refused_with_a_command_for_it(
    tmp_path: Path, output: Path, lines: list[str], hint: str
) -> None:
    source = write(tmp_path / "a b.jsonl", *lines)
    done = offline(source, output)
    assert (done.returncode, output.exists()) == (2, False)
    assert f"one object a line: jq -c '{hint}' '{source}'" in done.stderr


@each(
    "change",
    [
        lambda lines: [lines[0].replace('"completion"', '"human": 3, "completion"'), *lines[1:]],
        lambda lines: lines[:2],
        lambda lines: ['{"', *lines[1:]],
    ],
)
def test_changed_input_is_refused(
    source: Path, output: Path, change: Callable[[list[str]], list[str]]
) -> None:
    write(source, *(row(f"Answer {n}.") for n in range(1, 6)))
    output.unlink(missing_ok=True)
    offline(source, output, "--limit", 3)
    changed = write(source, *change(source.read_text().splitlines())).read_text()
    done = offline(source, output)
    assert f"has changed since its verdicts in {output}" in done.stderr
    assert (" (fields: human); restore it" in done.stderr) == ("human" in changed)


@each(
    ("content", "expected"),
    [
        (
            '{"prompt": "a", "completion": "b", "score": 3}\n',
            "line 1: not a row with a verdict (it lacks fields of one); choose another output",
        ),
        ("precious notes without an end", "line 1: not a row with a verdict (not JSON"),
    ],
)
def test_file_that_is_not_an_output_is_refused_and_kept(
    source: Path, output: Path, content: str, expected: str
) -> None:
    output.write_text(content)
    done = offline(source, output)
    assert done.returncode == 2
    assert expected in done.stderr
    assert output.read_text() == content


def test_damage_inside_the_output_is_refused_with_its_line(source: Path, output: Path) -> None:
    offline(source, output)
    lines = output.read_text().splitlines()
    write(output, *lines[:2], lines[2][:50], *lines[3:])
    assert f"{output}, line 3: not a row with a verdict (not JSON" in offline(source, output).stderr
    write(output, *lines, lines[1])
    assert "line 6: a second verdict on line 2 of the input" in offline(source, output).stderr
    write(output, json.dumps(json.loads(lines[0]) | {"line": 6}))
    assert "has changed since its verdicts" in offline(source, output).stderr


# When calls fail


async def test_failed_row_is_left_out_and_judged_in_the_next_run(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    model_server.script(Failure(400, message="No."), "score: 4\nGood.")
    done = await ask(model_server, source, output, "--concurrency", 1, "--fail-under", 0)
    assert done.returncode == 1
    assert "Check failed: rows without a verdict" in done.stdout
    assert "4 of 5 rows scored, 0 unscored, 1 failed" in done.stdout
    again = await ask(model_server, source, output)
    assert again.returncode == 0
    assert [each["line"] for each in read(output)] == [1, 2, 3, 4, 5]
    assert len(model_server.requests) == 5 + 1


async def test_wrong_key_stops_the_run_at_once(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    model_server.script(Failure(401))
    done = await ask(model_server, source, output, "--concurrency", 1)
    assert done.returncode == 2
    assert "check OPENAI_API_KEY. Stopped with 0 of 5 rows" in done.stderr
    assert (len(model_server.requests), is_there(output)) == (1, False)


async def test_server_that_was_never_there_is_told_in_one_line(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    model_server.script(Failure(503, headers={"Retry-After": "999"}))
    done = await ask(model_server, source, output, "--concurrency", 1)
    assert (done.returncode, len(model_server.requests), is_there(output)) == (2, 3, False)
    assert len(done.stderr.splitlines()) == 2  # the first failure, and the end


async def test_rows_that_the_server_rejects_do_not_stop_the_run_once_one_has_a_verdict(
    model_server: ModelServer, tmp_path: Path, output: Path
) -> None:
    source = write(tmp_path / "in.jsonl", *(row(f"Answer {n}.") for n in range(1, 10)))
    model_server.script("score: 4\nGood.", *[Failure(400)] * 7, "score: 4\nGood.")
    done = await ask(model_server, source, output, "--concurrency", 1)
    assert done.returncode == 1
    assert [each["line"] for each in read(output)] == [1, 9]


async def test_row_that_is_too_long_for_the_model_is_unscored_and_not_asked_again(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    model_server.script(*[Failure(413, message="Only 512 tokens.")] * 4, "score: 4\nGood.")
    done = await ask(model_server, source, output, "--concurrency", 1)
    again = await ask(model_server, source, output, "--limit", 4)
    first, *_, last = read(output)
    assert (first["status"], first["cost_usd"], last["score"]) == ("unscored", 0.0, 4)
    assert "Only 512 tokens." in first["unscored_detail"]
    assert "1 of 5 rows scored, 4 unscored (4 too long), 0 failed" in done.stdout
    assert "Mean 4.00, of the 1 scored." in done.stdout
    assert (again.returncode, len(model_server.requests)) == (1, 5)


# What it says at the end


def test_hint_names_a_rubric_that_is_a_file(source: Path, output: Path) -> None:
    rubric = source.with_name("my own.txt")
    rubric.write_text(load_rubric("additive-5").prompt)
    assert f"\nNext: judge view {output}\n" in offline(source, output).stdout
    output.unlink()
    hint = f"\nNext: judge view {output} --rubric '{rubric}'\n"
    assert hint in offline(source, output, "--rubric", rubric).stdout


# Cost


async def test_unknown_price_stops_the_run_at_the_first_verdict(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    model_server.script("score: 4\nGood.")
    done = await ask(model_server, source, output, "--max-cost", 1)
    assert done.returncode == 2
    assert "the same command" not in done.stderr
    assert "so --max-cost cannot be kept; leave it out, and judge fewer lines." in done.stderr
    assert len(read(output)) == 1
    assert (await ask(model_server, source, output, "--max-cost", 1)).returncode == 2
    assert len(model_server.requests) == 1


def test_cost_of_earlier_runs_counts_towards_the_limit(source: Path, output: Path) -> None:
    offline(source, output, "--limit", 2)
    priced = [each | {"cost_usd": 0.25} for each in read(output)]
    write(output, *priced)
    assert "Stopped at --max-cost" in offline(source, output, "--max-cost", 0.5).stdout
    assert len(read(output)) == 2
    assert offline(source, output, "--max-cost", 0.51).returncode == 0
    assert len(read(output)) == 5


# Mistakes


@each(
    ("arguments", "expected"),
    [
        (("none.jsonl", "-o", "out.jsonl"), "none.jsonl: no such file."),
        (("-", "-o", "out.jsonl"), "-: not a plain file; save what comes through a pipe as one"),
        (
            ("raw.XLSX", "-o", "out.jsonl"),
            "raw.XLSX: .xlsx is not read; save it as .csv or .jsonl.",
        ),
        (("in.jsonl", "-o", "in.jsonl"), "in.jsonl: the rows would be written over the input"),
        (
            ("in.jsonl", "-o", "in.csv"),
            "in.jsonl: the rows for in.csv would be written over the input",
        ),
        (("in.jsonl", "-o", "."), ".: not a plain file; choose another output."),
        (
            ("in.jsonl", "-o", "out.xlsx"),
            "out.xlsx: .xlsx is not written; end the name in .jsonl, .csv or .parquet.",
        ),
    ],
)
def test_mistake_gives_one_sentence_and_exit_code_2(
    source: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], expected: str
) -> None:
    monkeypatch.chdir(source.parent)
    done = run("batch", *arguments, "--model", "offline")
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr


# Tables


MIXED = [
    '{"line": 1, "score": null, "cost_usd": null, "late": null, "whole": 1, "mixed": 1}',
    '{"line": 2, "score": null, "late": "x", "whole": null, "number": 0.5, "mixed": "a", '
    '"nested": {"a": ["é"]}}',
    '{"line": 3, "whole": 3, "mixed": true, "flag": true, "half": "\\ud800", '
    f'"text": "two\\nlines, \\"quoted\\"", "huge": {2**70}, "number": {2**60}}}',
]


def test_csv_has_nested_values_as_json_and_nulls_as_empty_cells(tmp_path: Path) -> None:
    export(write(tmp_path / "in.jsonl", *MIXED), tmp_path / "out.csv", Format.CSV)
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [each["nested"] for each in rows] == ["", '{"a": ["é"]}', ""]
    assert [each["mixed"] for each in rows] == ["1", "a", "true"]
    assert (rows[2]["text"], rows[2]["half"]) == ('two\nlines, "quoted"', "\\ud800")


def test_no_text_in_csv_is_a_formula_and_numbers_stay_numbers(tmp_path: Path) -> None:
    texts = [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "＝1",
        "＋1",
        "－1",
        "＠SUM(A1)",
        "1=1",
    ]
    row = {"line": 1, "=name": -1} | {f"c{n}": text for n, text in enumerate(texts)}
    export(write(tmp_path / "in.jsonl", row), tmp_path / "out.csv", Format.CSV)
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        names, cells = csv.reader(file)
    assert names[1] == "'=name"
    assert cells == ["1", "-1", *(f"'{text}" for text in texts[:-1]), "1=1"]


def test_parquet_has_one_type_per_column_even_if_later_rows_differ(tmp_path: Path) -> None:
    from pyarrow import parquet

    export(write(tmp_path / "in.jsonl", *MIXED), tmp_path / "out.parquet", Format.PARQUET)
    table = parquet.read_table(tmp_path / "out.parquet")
    assert {field.name: str(field.type) for field in table.schema} == {
        "line": "int64",
        "score": "int64",
        "cost_usd": "double",
        "late": "string",
        "whole": "int64",
        "number": "double",
        "mixed": "string",
        "nested": "string",
        "flag": "bool",
        "text": "string",
        "huge": "string",
        "half": "string",
    }
    assert table.to_pydict()["number"] == [None, 0.5, 2.0**60]


def test_missing_pyarrow_is_reported_before_any_row_is_judged(
    source: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    done = offline(source, output.with_suffix(".parquet"))
    assert done.returncode == 2
    assert f"Parquet needs pyarrow: sh '{SETUP}' " in done.stderr
    assert not output.exists()


async def test_a_name_that_stands_for_two_models_is_told(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    answers = iter(["old", "new", "new", "new", "new"])
    model_server.script(lambda _: Answer("score: 4\nGood.", model=next(answers)))
    done = await ask(model_server, source, output, "--samples", "1", "--concurrency", "1")
    told = "answered as 'new' (4 ratings) and 'old' (1 ratings): compare only rows of one of them"
    assert told in " ".join(done.stdout.split())


async def test_misspelt_model_of_a_panel_is_reported_once_and_its_rows_are_counted(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    gone = Failure(404, code="model_not_found")
    model_server.script(lambda request: gone if request["model"] == "b" else "score: 4\nGood.")
    done = await ask(model_server, source, output, "--model", "a,b,c")
    assert done.stderr.count("without 'b'") == 1
    rating = read(output)[0]["ratings"][1]
    assert rating == {"model": "b", "score": None, "unscored_reason": "call_failed"}


@each("ending", [".csv", ".parquet"])
def test_own_table_is_replaced_and_named_and_that_of_another_program_kept(
    source: Path, output: Path, ending: str
) -> None:
    table = output.with_suffix(ending)
    for _ in range(2):
        done = offline(source, table)
        assert done.returncode == 0, done.stderr
        assert f"Rows in {output}, as a table in {table}." in done.stdout
    table.write_text("name,age\nAda,36\n")
    done = offline(source, table)
    assert done.returncode == 2
    assert "not a table of 'judge batch', and would be overwritten" in done.stderr
    assert table.read_text() == "name,age\nAda,36\n"


async def test_decisions_are_written_with_their_probabilities_and_never_mixed_with_text(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    levels = {str(score): chance for score, chance in enumerate((0.0, 0.0, 0.0, 0.3, 0.5, 0.2))}
    model_server.script(Decided(levels, {"relevant": 0.9}))
    done = await ask(model_server, source, output, "--ask", "decision", "--limit", 2)
    assert done.returncode == 0
    first, _ = read(output)
    assert (first["points"]["relevant"], first["ask"][:9]) == (0.9, "decision ")
    assert first["probabilities"]["5"] == pytest.approx(0.2)
    again = await ask(model_server, source, output)
    assert (again.returncode, len(model_server.requests)) == (2, 2)
    assert "judged with ask 'decision" in again.stderr


LIKELY = Answer(
    "score: 4",
    logprobs={
        "content": [
            {"token": token, "logprob": 0.0, "top_logprobs": [{"token": token, "logprob": 0.0}]}
            for token in ("score", ":", " 4")
        ]
    },
)


async def test_a_way_that_takes_less_is_suggested_where_it_works(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script("score: 4\nGood.")
    for rows, trial, is_suggested in (
        (100, LIKELY, True),
        (100, "score: 4\nGood.", False),
        (100, Failure(401), False),
        (99, LIKELY, False),
    ):
        model_server.requests.clear()
        model_server.apart[USUAL[0]] = trial
        empty = [row("") for _ in range(rows - 1)]  # which the model is not asked about
        source = write(tmp_path / "many.jsonl", row(), *empty)
        output = tmp_path / "out.jsonl"
        output.unlink(missing_ok=True)
        done = await ask(model_server, source, output)
        assert ("--ask distribution works, too" in done.stdout) == is_suggested, (rows, trial)
        assert len(model_server.requests) == 1
