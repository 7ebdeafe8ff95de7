"""The reader on real outputs, on hand-made completions, and on generated ones."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from judge import Rating, Unscored, parse_rating
from tests.tables import each

DATA = Path(__file__).parents[1] / "data"


def load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def outcome(completion: str, scale: tuple[int, int] = (0, 5)) -> tuple[int | None, str]:
    result = parse_rating(completion, scale)
    return (result.score, "") if isinstance(result, Rating) else (None, result.reason)


CASES = load("judge_completions.jsonl")
TRAPS = load("reading_traps.jsonl")
OUTPUTS = load("judge_outputs.jsonl")

FRAGMENTS = st.sampled_from(
    [
        *("score: 4", "Score: 4/5", "**Total score:** 3 points", "[[2]]", "Rating: [[9]]"),
        *("Score: 4.5", "Score: 3-4", "I'm sorry, but", "I rate it a 4."),
        *("It does not deserve a 5.", '{"score": 4, "reason": "ok"}', "if", "Score:", "<think>"),
        *(
            "</think>",
            "out of 5",
            '"',
            "`",
            "- Relevance: 1",
            "점수는 4점",
            "Total: 3",
            "\n",
            "\n\n",
        ),
        *(" ", ". ", ", ", ": ", "The response is clear.", "5", "0", "-1", "/", "> ", "- ", "1. "),
    ]
)
COMPLETIONS = st.lists(FRAGMENTS, max_size=14).map("".join) | st.text(max_size=200)
# What judges write about a response, with numbers, without scoring it as a whole.
PROSE = st.sampled_from(
    [
        *("It has 3 parts.", "2 of 5 steps are missing.", "Points 1 to 3 are met."),
        *("Python 3.12 is named.", "The response gives 2 of 5 steps and misses 3."),
        *("It earns 1 point for relevance.", "Step 1: fine.", "It is not a 5, since it rambles."),
        *("To earn a score of 5, it must be shorter.", "The match ended 3-1."),
        *("It does not receive a perfect score of 5.", "This keeps it from a score of 5."),
        "Er nennt 2 Gründe.",
    ]
)


@each("case", CASES)
def test_hand_made_completion_is_read_as_a_careful_reader_would(case: dict[str, Any]) -> None:
    assert outcome(case["completion"]) == (case["score"], case.get("reason", ""))


def test_contrived_wordings_are_scored_wrong_as_often_as_the_docs_say() -> None:
    counts = Counter(trap_outcome(trap) for trap in TRAPS)
    # docs/measurements.md, "Reading answers", quotes these figures.
    assert counts == {"right": 608, "asked again": 152, "wrong": 157}


def trap_outcome(trap: dict[str, Any]) -> str:
    score, _ = outcome(trap["completion"])
    return "right" if score == trap["score"] else "asked again" if score is None else "wrong"


def test_real_outputs_are_never_scored_wrong_and_only_one_is_unread() -> None:
    results = [(row, outcome(row["raw"], tuple(row["scale"]))[0]) for row in OUTPUTS]
    unread = [
        row["id"]
        for row, score in results
        if score is None and float(row["true_score"] or 0.5).is_integer()
    ]
    assert [row["id"] for row, score in results if score not in (None, row["true_score"])] == []
    assert unread == ["7901d4998356"]  # it rates twice, 5 and then 10
    assert all("Apache-2.0" in row["source"] for row in OUTPUTS)


@given(COMPLETIONS, st.tuples(st.integers(-3, 3), st.integers(4, 12)), COMPLETIONS)
def test_any_text_gives_a_score_on_the_scale_or_a_reason(
    completion: str, scale: tuple[int, int], response: str
) -> None:
    result = parse_rating(completion, scale, response=response)
    assert result.raw == completion
    if isinstance(result, Rating):
        assert scale[0] <= result.score <= scale[1]
        assert len(result.justification.split()) <= 100
    else:
        assert isinstance(result, Unscored)
        assert result.detail.endswith(".")


@settings(max_examples=50)
@given(
    st.integers(-200, 20_000),
    st.sampled_from([(0, 5), (1, 5), (1, 10), (0, 10), (0, 100), (-3, 3)]),
)
def test_number_is_read_whole_or_not_at_all(number: int, scale: tuple[int, int]) -> None:
    expected = (number, "") if scale[0] <= number <= scale[1] else (None, "off_scale")
    assert outcome(f"score: {number}", scale) == expected
    assert outcome(f"Score: {number}/{scale[1]}\nIt has 2 of 3 parts.", scale) == expected


@settings(max_examples=50)
@given(
    st.integers(0, 5),
    st.lists(PROSE, max_size=6).map(" ".join),
    st.sampled_from(["\n", "\n\n", ".\n"]),
)
def test_score_line_counts_whatever_prose_follows(score: int, prose: str, gap: str) -> None:
    assert outcome(f"score: {score}{gap}{prose}") == (score, "")


@settings(max_examples=50)
@given(
    st.lists(PROSE, max_size=6).map(" ".join),
    st.sampled_from(["score: 3", "[[3]]", "Total: 3", "A score of 3."]),
)
def test_score_line_followed_by_another_score_is_conflicting(prose: str, verdict: str) -> None:
    assert outcome(f"score: 4\n{prose}\n{verdict}") == (None, "conflicting")


@each("unit", ["1 ", "score: 4\n"])
def test_text_with_thousands_of_numbers_is_left_unscored(unit: str) -> None:
    assert outcome("score: 4\n" + unit * 2_500) == (None, "unclear")
