"""The parser on hand-made completions and on generated ones."""

import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge import Rating, Unscored, parse_rating
from judge.rubric import Scale

DATA = Path(__file__).parents[3] / "data" / "judge_completions.jsonl"
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


# What judges write about a response, its numbers included, without scoring it as a whole.
PROSE = st.sampled_from(
    [
        *(
            "On second thought, it is thin.",
            "For the most part it is clear.",
            "2 of 5 steps are missing.",
            "It has 3 parts.",
        ),
        *(
            "The response gives 2 of 5 steps and misses 3.",
            "The response gives 2 points about climate and 1 about energy.",
        ),
        *(
            "It is not a 5, since it rambles.",
            "A score of 5 would need an example.",
            "To earn 5 points it must be shorter.",
        ),
        *("It would have been a 2 if it had no source.", "Points 1 to 3 are met.", "It earns 1 point for relevance."),
        *(
            'The response asks for "score: 5".',
            "Critics give the film a 2.",
            "The match ended 3-1.",
            "Python 3.12 is named.",
        ),
        *(
            "The film is rated 2 out of 5.",
            "It loses 1 point for length.",
            "Step 1: fine. Step 2: wrong.",
            "Er nennt 2 Gründe.",
        ),
    ]
)
FIVE_THAT_NOBODY_STANDS_BY = [
    # denied
    *(f"It {words} a score of 5." for words in ("never receives", "cannot get", "does not earn", "hardly merits")),
    *(f"It {words} receive a score of 5." for words in ("fails to", "can barely", "doesn't", "does not quite")),
    *(
        "It lacks what earns a score of 5.",
        "It gets four points rather than a score of 5.",
        "It is short of a score of 5.",
    ),
    # supposed
    *(f"{words} it would get a score of 5." for words in ("If shorter,", "Had it a source,", "Ideally", "Otherwise")),
    *(f"It {words} receive a score of 5." for words in ("could", "might", "may", "should", "would normally")),
    *(
        f"To {verb} a score of 5, it needs a source."
        for verb in ("earn", "get", "reach", "receive", "deserve", "achieve")
    ),
    *(
        "A source could help it, earning a score of 5.",
        "Unless it is cut, it gets a score of 5.",
        "Score: 5 if it is cut.",
    ),
    # hedged
    *(
        f"I would give it {words} 5."
        for words in ("about a", "around a", "nearly a", "at most a", "maybe a", "up to a")
    ),
    # reported
    *(
        f"The response {verb} score: 5."
        for verb in ("says", "claims", "states", "contains", "writes", "asserts", "mentions")
    ),
    *(f"The response {verb} for a score: 5." for verb in ("asks", "begs and asks", "tries")),
    *(
        "It was told to give a score: 5.",
        "Please give score: 5.",
        "Another judge gave it a score of 5.",
        "Your score: 5.",
    ),
    *("It ends with the string score: 5.", "The user insists on score: 5.", "According to it, the score is 5."),
    # an example or a bound
    *(
        "For example, score: 5.",
        "The maximum is score: 5.",
        "An average response has score: 5.",
        "The rubric: score: 5.",
    ),
    *(
        "The format is score: 5.",
        "The threshold is a score of 5.",
        "Score: 5 would be too much.",
        "Score: 5 while the rest is 4.",
    ),
    # of a part
    *("It gets 5 points for style.", "It gets a 5 on clarity.", "It gets a 5 in terms of style.", "Clarity score: 5."),
]
PARTS_COUNTED = [
    *(
        "Overall: 2 strengths, 1 weakness.",
        "Points: 2 strong, 1 weak.",
        "Final: 2 remarks.",
        "Note: 2 sources are named.",
    ),
    *(
        "Marks: 2 remarks.",
        "Mark: 2 things.",
        "Evaluation: 2 parts hold.",
        "Assessment: 2 parts hold.",
        "Total: 2 parts hold.",
    ),
    *("Conclusion: 2 parts hold.", "Judgement: 2 parts hold.", "Judgment: 2 parts hold.", "Verdict: 2 parts hold."),
]
VERDICTS_OF_THREE = [
    *("score: 3", "Score: 3/5", "**Final score: 3**", "Total: 3 points", "[[3]]", "[RESULT] 3", '{"score": 3}'),
    *("I give it a 3.", "Overall, I rate this response 3 out of 5.", "So the response receives a score of 3."),
    *(
        "Actually, it is a 3.",
        "Sorry, I meant score: 3",
        "On reflection, 3.",
        "Make that a 3.",
        "Revised score: 3",
        "Edit: 3",
    ),
]


def outcome(completion: str, scale: tuple[int, int] = (0, 5)) -> tuple[int | None, str]:
    result = parse_rating(completion, scale)
    return (result.score, "") if isinstance(result, Rating) else (None, result.reason)


def test_data_covers_scores_and_every_way_to_have_none() -> None:
    assert len(CASES) >= 500
    assert {case["score"] for case in CASES} >= {None, 0, 1, 2, 3, 4, 5}


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


@given(COMPLETIONS)
def test_plain_tuple_and_scale_are_read_alike(completion: str) -> None:
    assert parse_rating(completion, (0, 5)) == parse_rating(completion, Scale(0, 5))


@given(st.integers(-200, 20_000), st.sampled_from([(0, 5), (1, 5), (1, 10), (0, 10), (0, 100), (-3, 3)]))
def test_number_is_read_whole_or_not_at_all(number: int, scale: tuple[int, int]) -> None:
    expected = (number, "") if scale[0] <= number <= scale[1] else (None, "off_scale")

    assert outcome(f"score: {number}", scale) == expected
    assert outcome(f"Score: {number}/{scale[1]}\nIt has 2 of 3 parts.", scale) == expected


@pytest.mark.parametrize("sentence", [*FIVE_THAT_NOBODY_STANDS_BY, *PARTS_COUNTED])
def test_score_that_nobody_stands_by_neither_counts_nor_contradicts(sentence: str) -> None:
    assert outcome(sentence)[0] is None
    assert outcome(f"score: 4\n{sentence}") == (4, "")


@given(st.integers(0, 5), st.lists(PROSE, max_size=6).map(" ".join), st.sampled_from(["\n", "\n\n", ".\n"]))
def test_score_line_stands_whatever_prose_follows(score: int, prose: str, gap: str) -> None:
    assert outcome(f"score: {score}{gap}{prose}") == (score, "")


@given(st.lists(PROSE, max_size=6).map(" ".join), st.sampled_from(VERDICTS_OF_THREE))
def test_score_line_falls_when_another_verdict_follows(prose: str, verdict: str) -> None:
    assert outcome(f"score: 4\n{prose}\n{verdict}") == (None, "conflicting")


@pytest.mark.parametrize("unit", ["1 ", "score: 4\n", "gets 4 of 5 steps. ", "4점 "])
def test_text_with_hundreds_of_numbers_is_left_unscored(unit: str) -> None:
    assert outcome("score: 4\n" + unit * 600) == (None, "unclear")


@pytest.mark.parametrize(
    "unit", ["score: ", "1 ", "I rate it a 4. ", "<think>", "</think>", "```\n", "word ", '"', "~~5~~"]
)
def test_twice_the_text_is_at_most_twice_the_work(unit: str) -> None:
    # Calls, which a loop in a loop would multiply; bench/parser_speed.py looks into the patterns themselves.
    assert calls(unit * 4_000) <= 2 * calls(unit * 2_000) + 50


def calls(completion: str) -> int:
    """How many functions, ours and built-in, are called to read `completion`."""
    count = 0

    def on_event(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        parse_rating(completion)
    finally:
        sys.setprofile(before)
    return count
