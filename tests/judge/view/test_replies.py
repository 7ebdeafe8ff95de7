"""How rows become replies, and replies become figures."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from judge.errors import SetupError
from judge.evaluation.view import to_figures, to_trend
from judge.evaluation.view.replies import MOST_REPLIES, Replies, read_replies
from judge.rows.row_file import ADDED
from tests.tables import each

Row = Mapping[str, Any]
Read = Callable[..., Replies]
NAMED = {"model": "m", "rubric": "additive-5", "rubric_version": "f846c469"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scored.jsonl"


@pytest.fixture
def read(path: Path) -> Read:
    def read_here(rows: Sequence[Row] | str, **options: Any) -> Replies:
        path.write_text(
            rows if isinstance(rows, str) else "\n".join(map(json.dumps, rows)), encoding="utf-8"
        )
        return read_replies(path, **options)

    return read_here


def test_row_of_a_batch_becomes_a_reply_with_all_its_details(read: Read) -> None:
    row = {
        **dict.fromkeys(ADDED),
        **NAMED,
        "line": 7,
        "prompt_id": "egg",
        "prompt": "How long?",
        "completion": "Six minutes.",
        "score": 4,
        "mean": 3.6667,
        "justification": "Right.",
        "basis": "2 of 3",
        "ratings": [{"model": "m", "score": None, "unscored_reason": "no_score"}],
        "flags": ["asks_for_score", "question_gives_orders", "of_a_later_version"],
        "input_tokens": 1468,
        "cost_usd": 0.00024,
        "judged_at": "2026-11-02T23:30:00-01:00",
    }
    (reply,) = read([row]).replies
    shown = reply.shown
    assert (shown["name"], reply.question, shown["response"]) == (
        *("Line 1", "How long?", "Six minutes."),
    )
    assert (reply.score, shown["justification"], shown["unscored"]) == (4, "Right.", "")
    assert [*shown["ratings"][0].values()] == ["m", None, "no score"]
    assert shown["flags"] == [
        "response asks for a score",
        "question gives the judge orders",
        "of_a_later_version",
    ]
    assert dict(shown["facts"]) == {
        "Usable ratings": "2 of 3",
        "Mean of the ratings": "3.67",
        "Tokens in": "1,468",
        "Cost": "$0.000240",
        "Prompt": "egg",
        "Judged": "2026-11-03 00:30 UTC",
    }
    assert reply.version.name == "m · additive-5 (f846c469)"


def test_unscored_row_says_why(read: Read) -> None:
    rows = [
        {"score": None, "unscored_reason": "no_majority", "unscored_detail": "Only 1 of 3."},
        {"score": None, "unscored_reason": "no_majority"},
        {"score": None},
    ]
    assert [reply.shown["unscored"] for reply in read(rows).replies] == [
        "Only 1 of 3.",
        "no majority",
        "No score.",
    ]


def test_rows_of_one_case_become_one_reply_with_several_labels(read: Read) -> None:
    case = {**NAMED, "case": 12, "score": 5, "question": "Why?", "response": "So."}
    rows = [
        {**case, "human": 2, "reason": "Wrong.", "blind": False},
        {**case, "human": [None, 3], "blind": True, "probability": 0.5, "label_by": ["ben", "ann"]},
        {**case, "model": "other", "human": 3},
        {**case, "case": 13},
    ]
    first, of_another_judge, alone = read(rows).replies
    assert (first.shown["name"], first.shown["response"]) == ("Case 12", "So.")
    assert [tuple(label.values()) for label in first.labels] == [
        (2, False, "Wrong."),
        (3, True, ""),
    ]
    assert (first.miss, first.differs) == (2.5, True)
    assert of_another_judge.shown["name"] == "Case 12"
    assert (alone.labels, alone.miss, alone.differs) == ([], None, False)


def test_fields_that_are_not_text_are_shown_as_json_or_missing(read: Read) -> None:
    (reply,) = read([{"score": 1, "prompt": [{"role": "user"}], "completion": None}]).replies
    assert (reply.question, reply.shown["response"]) == ('[{"role": "user"}]', None)


def test_unusable_value_is_reported_with_its_line(read: Read) -> None:
    found = read('{"score": 4, "human": "good"}\n{"score": 3, "judged_at": "today"}\nno JSON')
    assert len(found.replies) == 2
    assert [problem.partition(":")[0] for problem in found.problems] == [
        "line 3",
        "line 1",
        "line 2",
    ]


@each(
    ("rows", "options", "message"),
    [
        ("\na,b", {}, "scored.jsonl: no line is a JSON object (line 2: not JSON"),
        ([{"text": "a"}], {}, "no line has a score; 'judge batch' adds them."),
        (
            [{"score": 1}],
            {"label": "human"},
            "--label human: no line has this field; the fields are score.",
        ),
        ([{"score": 1, "rubric": "mine"}], {}, "The scores were given by rubric 'mine'"),
    ],
)
def test_file_without_usable_rows_is_refused(
    read: Read, rows: Any, options: Any, message: str
) -> None:
    with pytest.raises(SetupError) as caught:
        read(rows, **options)
    assert message in str(caught.value)


def test_more_rows_than_a_page_holds_are_refused_unless_limited(read: Read, path: Path) -> None:
    rows = [{"score": number % 6} for number in range(MOST_REPLIES + 1)]
    with pytest.raises(SetupError) as caught:
        read(rows)
    last = read_replies(path, limit=2)
    assert "20,001 rows are more than the 20,000 that a page can hold" in str(caught.value)
    assert [reply.shown["name"] for reply in last.replies] == ["Line 20000", "Line 20001"]


def test_figures_are_the_judges_own_and_unscored_replies_count_in_none(read: Read) -> None:
    figures = to_figures(read([{"score": 0, "human": 1}, {"score": 4.5}, {"score": None}]).replies)
    counts = {bar["name"]: bar["count"] for bar in figures["bars"]}
    assert counts == {"5": 1, "4": 0, "3": 0, "2": 0, "1": 0, "0": 1, "unscored": 1}
    assert next(iter(counts)) == "5"
    assert figures["notes"] == [
        "Mean 2.25 of 2 scores, by the judge alone: `judge agreement` compares it with people's "
        "labels.",
        "In no figure: 1 reply without a score.",
    ]


def test_trend_has_the_judges_mean_for_each_week(read: Read) -> None:
    times = ["2026-09-30T23:30:00-02:00", "2026-10-04T23:59:59+00:00", "2026-11-02", None]
    rows = [{"score": score, "judged_at": time} for score, time in enumerate(times, start=2)]
    replies = read([*rows, {"score": None, "judged_at": times[0]}]).replies
    points = to_trend(replies)
    assert [(point["start"], point["mean"], point["n"]) for point in points] == [
        ("2026-09-28", 2.5, 2),
        ("2026-11-02", 4, 1),
    ]
