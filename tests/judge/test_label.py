"""Labels that people give in the page of `judge label`: what is drawn, written, and read again."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from judge.errors import SetupError
from judge.evaluation.label import Labelling
from judge.evaluation.label.server import _Server as Server
from tests import row_files
from tests.tables import each

ROWS = [
    {"prompt": f"p{n}", "completion": f"c{n}", "score": n % 6, "justification": "secret"}
    for n in range(60)
]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return row_files.write(tmp_path / "rows.jsonl", *ROWS)


@pytest.fixture
def labelling(rows: Path) -> Iterator[Labelling]:
    with closing(Labelling(rows, rows.with_name("labels.jsonl"))) as made:
        yield made


def given(labelling: Labelling, person: str, number: int) -> list[str]:
    """The replies that a person is shown and labels, one after the other."""
    keys = []
    while len(keys) < number and (key := labelling.next(person).get("key")):
        assert labelling.give(person, key, 3, "") == ""
        keys.append(key)
    return keys


def test_a_fifth_of_the_replies_goes_to_a_second_person_and_none_to_a_third(
    labelling: Labelling,
) -> None:
    ann = given(labelling, "Ann", 40)
    ben = given(labelling, "Ben", 100)
    shared = {*ann} & {*ben}
    # Of 40, a fifth is 8, with a standard deviation of 2.5.
    assert 3 <= len(shared) <= 14
    assert {*ben[: len(shared)]} == shared
    assert len({*ann} | {*ben}) == 60
    # What Ben labelled alone and is for two is left for Cara.
    assert not {*given(labelling, "Cara", 100)} & shared


def test_what_is_shown_has_nothing_that_the_judge_said(labelling: Labelling) -> None:
    shown = labelling.next("Ann")
    assert set(shown) == {
        *("key", "given", "others"),
        *("question", "response", "reference", "before", "scale"),
    }
    assert "secret" not in str(shown)


def test_a_name_with_other_capitals_is_the_same_person(rows: Path) -> None:
    labels = rows.with_name("labels.jsonl")
    for number, name in enumerate(("Ann", "ann ", " ANN")):
        with closing(Labelling(rows, labels)) as labelling:
            assert labelling.next(name)["given"] == 20 * number
            assert len(given(labelling, name, 20)) == 20
    written = row_files.read(labels)
    assert {row["label_by"] for row in written} == {"Ann"}
    assert len({row["prompt"] for row in written}) == 60


def test_a_second_run_goes_on_where_the_first_was_killed(rows: Path) -> None:
    labels = rows.with_name("labels.jsonl")
    with closing(Labelling(rows, labels)) as first:
        given(first, "Ann", 3)
        passed = first.next("Ann")["key"]
        first.give("Ann", passed, None, "")
        assert first.next("Ann")["key"] != passed
    with labels.open("ab") as file:
        file.write(b'{"prompt": "p')  # killed in the midst of a line
    with closing(Labelling(rows, labels)) as second:
        # What was skipped comes again.
        shown = second.next("Ann")
        assert (second.labels, shown["key"], shown["given"]) == (3, passed, 3)
        given(second, "Ann", 1)
    assert [row["label_by"] for row in row_files.read(labels)] == ["Ann"] * 4


def test_a_repeated_click_or_a_score_off_the_scale_writes_nothing(
    labelling: Labelling, rows: Path
) -> None:
    key = labelling.next("Ann")["key"]
    assert labelling.give("Ann", key, 6, "") == "The scale goes from 0 to 5."
    assert labelling.give(" ", key, 3, "") != ""
    for _ in range(2):
        assert labelling.give("Ann", key, 3, "Short.") == ""
    (label,) = row_files.read(rows.with_name("labels.jsonl"))
    assert (label["human"], label["blind"], label["reason"]) == (3, True, "Short.")


@each("line", ["nonsense", '{"human": 3}', '{"human": 3, "blind": true}'])
def test_a_file_that_has_no_labels_of_ours_is_left_alone(rows: Path, line: str) -> None:
    other = row_files.write(rows.with_name("other.jsonl"), line)
    with pytest.raises(SetupError, match="line 1 of the labels is none of `judge label`"):
        Labelling(rows, other)
    assert other.read_text() == f"{line}\n"


def post(address: str, asked: Any) -> Any:
    """The answer, or the number of the refusal."""
    request = Request(address, json.dumps(asked).encode())  # noqa: S310 - our own
    try:
        with urlopen(request) as answer:  # noqa: S310
            return json.load(answer)
    except HTTPError as refused:
        with refused:
            return refused.code


def test_the_page_is_served_only_under_its_secret_address(labelling: Labelling) -> None:
    server = Server(labelling, 0)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        root = f"http://127.0.0.1:{server.server_port}"
        with urlopen(root + server.path) as page:  # noqa: S310
            assert b"What would you give?" in page.read()
        ours = f"{root}{server.path}label"
        key = post(ours, {"person": "Ann"})["key"]
        label = {"person": "Ann", "key": key, "score": 2, "reason": ""}
        assert post(ours, label)["given"] == 1
        assert post(f"{root}/guess/label", label) == post(f"{root}{server.path}other", label) == 404
        assert post(ours, {}) == post(ours, label | {"score": "3"}) == 400
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
