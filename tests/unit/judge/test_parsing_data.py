"""The parser on hand-made completions and on generated ones."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge import Rating, Unscored, parse_rating

DATA = Path(__file__).parents[2] / "data" / "judge_completions.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]

FRAGMENTS = st.sampled_from(
    [
        *("score: 4", "Score: 4/5", "**Total score:** 3 points", "[[2]]", "Rating: [[9]]", "Score: 4.5", "Score: 3-4"),
        *(
            "I rate it a 4.",
            "It does not deserve a 5.",
            '{"score": 4, "reason": "ok"}',
            "The response says",
            "if",
            "not",
        ),
        *("Score:", "<think>", "</think>", "out of 5", '"', "`", "~~5~~", "- Relevance: 1", "점수는 4점", "1 + 1 = 2"),
        *("\n", "\n\n", " ", ". ", ", ", ": ", "The response is clear.", "four", "5", "0", "-1", "/"),
    ]
)
COMPLETIONS = st.lists(FRAGMENTS, max_size=14).map("".join) | st.text(max_size=200)


def outcome(completion: str) -> tuple[int | None, str]:
    result = parse_rating(completion)
    return (result.score, "") if isinstance(result, Rating) else (None, result.reason)


def test_data_covers_scores_and_every_way_to_have_none() -> None:
    assert len(CASES) >= 250
    assert {case["score"] for case in CASES} >= {None, 0, 3, 4, 5}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['score']}-{case['completion'][:30]!r}")
def test_hand_made_completion_is_read_as_a_careful_reader_would(case: dict[str, Any]) -> None:
    assert outcome(case["completion"]) == (case["score"], case.get("reason", ""))


@given(COMPLETIONS, st.tuples(st.integers(-3, 3), st.integers(4, 12)))
def test_any_text_gives_a_score_on_the_scale_or_a_reason(completion: str, scale: tuple[int, int]) -> None:
    result = parse_rating(completion, scale)

    assert result.raw == completion
    if isinstance(result, Rating):
        assert scale[0] <= result.score <= scale[1]
        assert len(result.justification.split()) <= 100
    else:
        assert isinstance(result, Unscored)
        assert result.detail.endswith(".")


@given(COMPLETIONS)
def test_line_ends_and_trailing_blanks_change_nothing(completion: str) -> None:
    assert outcome(completion.replace("\n", "\r\n")) == outcome(completion)
    assert outcome(f"{completion} \n\t\n") == outcome(completion)


@given(COMPLETIONS.filter(lambda text: text.strip() and "think" not in text and "```" not in text))
def test_fence_round_it_changes_nothing(completion: str) -> None:
    assert outcome(f"```text\n{completion}\n```") == outcome(completion)


@pytest.mark.parametrize(
    "unit",
    [
        *("score: 5 ", "score ", "score (", "total of the ", "score for the ", "score: four ", "final total overall "),
        *("give ", "gets gets ", "rate it ", "I rate it a 4. ", "[[", "[[1]] ", "1 ", "1+", "4/5 ", "a", " \n", "\n"),
        *("<", "</", "<b ", "<think>", "</think>", "```\n", "~~", '"', "'", "“", "{", '{"score": ', "점수는 8 "),
    ],
)
@pytest.mark.parametrize("wrap", ["{}", "score: 4\n{}", "{}\nscore: 4"])
def test_hundred_kilobytes_of_anything_are_read_at_once(unit: str, wrap: str) -> None:
    completion = wrap.replace("{}", (unit * 100_000)[:100_000])

    def took_s() -> float:
        began = time.perf_counter()
        parse_rating(completion)
        return time.perf_counter() - began

    # Under 50 ms on a quiet machine; quadratic time would be tens of seconds.
    assert min(took_s() for _ in range(2)) < 0.15
