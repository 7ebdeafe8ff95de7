"""The spread at which a stronger model pays: figures worked by hand, and the command's report of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from judge import SetupError
from judge.escalation_analysis import Analysis, measure
from tests.judge_command import Done
from tests.judge_command import run as judge
from tests.tables import each


def row(
    number: int, scores: Sequence[int | None], score: int | None, human: Any, model: str = "small", **more: Any
) -> dict[str, Any]:
    ratings = [{"model": model, "score": each, "unscored_reason": None} for each in scores]
    fields = {"prompt": f"Question {number}", "completion": "An answer.", "human": human, "score": score}
    return fields | {"model": model, "rubric": "additive-5", "ratings": ratings, "escalation": None} | more


def big(number: int, score: int | None, human: Any = None, **more: Any) -> dict[str, Any]:
    return row(number, (score, score), score, human, "big", **more)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scored.jsonl"


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(each if isinstance(each, str) else f"{json.dumps(each)}\n" for each in rows))
    return path


def found(path: Path, *rows: Any, **options: Any) -> Analysis:
    return measure(write(path, *rows), "human", **options)


def pairs(scores: Sequence[int], score: int, human: int, stronger: Sequence[int], begin: int = 0) -> list[Any]:
    """Rows of both models: one pair for each score in `stronger`."""
    numbered = list(enumerate(stronger, start=begin))
    return [row(n, scores, score, human) for n, _ in numbered] + [big(n, each) for n, each in numbered]


def test_levels_are_rows_by_spread_with_their_mean_errors(path: Path) -> None:
    gain = found(
        path,
        row(1, (4, 4), 4, 4),
        row(2, (4, 4), 4, 2),
        row(3, (3, 4, 4), 4, [3, 5]),  # the mean of people's labels is 4
        row(4, (2, 4, 4), 4, 1),
        row(5, (0, 4, 5), 4, 0),
        row(6, (1, 3, 5), None, 3),
        row(7, (None, None), None, 3),
    )
    assert [(each.spread, each.rows, each.error) for each in gain.levels] == [
        (0, 2, 1.0),  # errors of 0 and 2
        (1, 1, 0.0),
        (2, 1, 3.0),
        (3, 1, 4.0),  # its spread is 5
        (None, 2, None),
    ]
    assert sum(each.share for each in gain.levels) == pytest.approx(1)
    assert (gain.judge, gain.stronger, gain.pays_from) == ("small", None, None)


def test_the_stronger_model_is_compared_on_the_same_responses(path: Path) -> None:
    # Ten responses with label 1. The judge says 4 and the stronger model 1 or 2, so the gains are 3 and 2: mean 2.5,
    # standard deviation .527. The interval is 2.5 -+ 2.262 * .527 / sqrt(10) = 2.5 -+ .377, with t(9) = 2.262.
    gain = found(path, *pairs((2, 4, 4), 4, 1, [1, 2] * 5), row(99, (2, 4, 4), 4, 4))
    level = gain.levels[2]
    assert (gain.judge, gain.stronger) == ("small", "big")
    assert (level.rows, level.compared, level.stronger_error, level.gain) == (11, 10, 0.5, 2.5)
    assert (level.low, level.high) == (pytest.approx(2.123, abs=0.001), pytest.approx(2.877, abs=0.001))
    assert level.error == pytest.approx(30 / 11)
    assert gain.pays_from == 2


def test_escalation_pays_from_the_lowest_spread_with_a_clear_gain(path: Path) -> None:
    equal = pairs((4, 4), 4, 4, [4] * 10)
    one = pairs((3, 4, 4), 4, 2, [2] * 10, begin=100)
    three = pairs((0, 4, 4), 4, 2, [2] * 10, begin=200)
    assert found(path, *equal, *one, *three).pays_from == 1


def test_a_wider_spread_that_does_not_pay_ends_the_search(path: Path) -> None:
    one = pairs((3, 4, 4), 4, 2, [2] * 10)
    two = pairs((2, 4, 4), 4, 4, [4] * 10, begin=100)
    three = pairs((0, 4, 4), 4, 2, [2] * 10, begin=200)
    assert found(path, *one, *two, *three).pays_from == 3
    assert found(path, *one, *two).pays_from is None


def test_nine_rows_are_too_few_for_a_clear_gain(path: Path) -> None:
    gain = found(path, *pairs((2, 4, 4), 4, 1, [1] * 9))
    assert (gain.levels[2].gain, gain.levels[2].low, gain.pays_from) == (3.0, None, None)


def test_both_models_of_an_escalated_row_are_told_apart(path: Path) -> None:
    ratings = [{"model": "small", "score": score} for score in (1, 4, 4)] + [{"model": "big", "score": 2}] * 2
    asked = row(1, (), 2, 2, "big", ratings=ratings, escalation="small > big", cost_usd=0.5)
    in_vain = row(2, (), 4, 4, ratings=[*ratings[:3], {"model": "big", "score": None}], escalation="small > big")
    plain = row(3, (4, 4), 4, 4, escalation="small > big", cost_usd=0.1)
    gain = found(path, asked, in_vain, plain)
    level = gain.levels[3]
    assert (gain.judge, gain.stronger) == ("small", "big")
    assert (level.rows, level.error, level.compared, level.stronger_error) == (2, 1.0, 1, 0.0)
    assert (level.cost_usd, gain.levels[0].rows) == (None, 1)  # the row's cost covers both models


def test_the_more_expensive_model_is_taken_as_the_stronger_one(path: Path) -> None:
    rows = [big(1, 2, 2, cost_usd=0.01), row(1, (4, 4), 4, 2, cost_usd=0.001)]
    gain = found(path, *rows)
    assert (gain.judge, gain.stronger, gain.levels[0].cost_usd) == ("small", "big", 0.01)
    assert found(path, *rows, judge="big").stronger == "small"
    assert found(path, *rows, stronger="small").judge == "big"


def test_a_cost_that_is_known_only_for_some_rows_is_unknown(path: Path) -> None:
    rows = [row(1, (4, 4), 4, 2), row(2, (4, 4), 4, 2), big(1, 2, cost_usd=0.01), big(2, 2)]
    assert found(path, *rows, stronger="big").levels[0].cost_usd is None


def test_without_costs_the_later_model_is_taken_as_the_stronger_one(path: Path) -> None:
    assert found(path, row(1, (4, 4), 4, 2), big(1, 2)).stronger == "big"


def test_rows_that_cannot_be_compared_are_counted(path: Path) -> None:
    gain = found(path, row(1, (4, 4), 4, 4), row(2, (4, 4), 4, None), row(3, (4,), 4, 4), "{\n", row(4, (4, 4), 4, 9))
    assert (gain.unlabelled, gain.single) == (2, 1)
    assert [problem.split(":")[0] for problem in gain.problems] == ["line 4", "line 5"]


@each(
    ("rating", "complaint"),
    [
        (99, "rating 99 is off the scale 0 to 5"),
        (3.5, "rating 3.5 is not a whole number"),
        (True, "rating true is not a number"),
    ],
)
def test_unusable_rating_is_reported_and_counts_in_no_spread(path: Path, rating: Any, complaint: str) -> None:
    gain = found(path, row(1, (4, 4, rating), 4, 4), row(2, ("4", 4.0, None), 4, 4))
    assert gain.problems == (f"line 1: {complaint}",)
    assert [each.rows for each in gain.levels] == [2, 0, 0, 0]


@each(
    ("rows", "options", "complaint"),
    [
        ([row(1, (4,), 4, 4)], {}, "No row of small has a label and several ratings"),
        ([{"score": 4}], {}, "--label human: no line has this field"),
        ([row(1, (4, 4), 4, 4)], {"stronger": "big"}, "--escalate-to big: no row has this model; there are small"),
        ([row(1, (4, 4), 4, 4)], {"judge": "big"}, "--judge big: no row has this model"),
        ([row(1, (4, 4), 4, 4)], {"stronger": "small"}, "--escalate-to small: the file has no other judge"),
        ([row(1, (4, 4), 4, 4, model) for model in "abc"], {}, "several judges .a, b, c."),
        ([row(1, (4, 4), 4, 4)], {"judge": "small", "stronger": "small"}, "--judge and --escalate-to both name small"),
        ([row(1, (4, 4), 4, 4, escalation="big")], {}, "No row has a rating of the models that its escalation names"),
        ([row(1, (40, 40, 50), 4, 4)], {}, "3 of 3 ratings are off the scale 0 to 5: they go from 40 to 50"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(
    path: Path, rows: list[Any], options: dict[str, str], complaint: str
) -> None:
    with pytest.raises(SetupError, match=complaint):
        found(path, *rows, **options)


def run(*arguments: object) -> Done:
    return judge("escalation", *arguments, "--label", "human")


def test_the_command_prints_a_table_and_a_sentence(path: Path) -> None:
    write(path, *pairs((2, 4, 4), 4, 1, [1, 2] * 5))
    done = run(path)
    words = " ".join(done.stdout.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert "small against people, and big as the stronger one" in words
    assert "2 10 100% 3.00 10 0.50 2.50 (2.12 to 2.88) unknown" in words
    assert "Asking big pays from a spread of 2: there it is nearer to people by 2.50 (2.12 to 2.88, 10 rows)." in words
    assert "or give no score: for 10 rows (100%)." in words
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_without_a_stronger_model_the_command_says_how_to_add_one(path: Path) -> None:
    done = run(write(path, row(1, (4, 4), 4, 4), row(2, (2, 4, 4), 4, 1), row(3, (4, 4), 4, None), "{\n"))
    words = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert "2 1 50% 3.00" in words
    assert "Whether a stronger model does better is not in the file" in words
    assert "for 1 row (50%)" in words
    assert "Left out: 1 row without a label." in words
    assert "line 4:" in done.stderr


def test_json_has_every_figure(path: Path) -> None:
    done = run(write(path, row(1, (4, 4), 4, 4)), "--json")
    fields = json.loads(done.stdout)
    assert (fields["judge"], fields["stronger"], fields["pays_from"], fields["levels"][0]["rows"]) == (
        "small",
        None,
        None,
        1,
    )
    assert run(path.with_name("gone.jsonl")).returncode == 2
