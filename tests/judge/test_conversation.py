"""Bounds of a conversation: the first turn and the newest ones stay, and what is cut is said."""

from collections.abc import Sequence

from judge import Turn
from judge.scoring.conversation import bounded
from tests.tables import each


def turns(*texts: str) -> list[Turn]:
    return [Turn("user", text) for text in texts]


def test_first_turn_and_newest_ones_are_kept() -> None:
    found = bounded(turns(*map(str, range(5_000))))
    assert [turn.text for turn in found] == [
        "0",
        "[4,980 messages left out]",
        *map(str, range(4_981, 5_000)),
    ]


def test_turns_that_do_not_fit_are_left_out_up_to_the_oldest_of_them() -> None:
    found = bounded(turns("a" * 2000, "b", "c" * 2000, "d" * 2000, "e" * 2000, "f"))
    assert [turn.text[:2] for turn in found] == ["aa", "[2", "dd", "ee", "f"]


def test_long_texts_lose_their_middle() -> None:
    found = bounded(turns(*(f"{n:02}{'x' * 39_996}{n:02}" for n in range(20))))
    assert [turn.text[:2] + turn.text[-2:] for turn in found] == [
        *("0000", "[1t]", "1717", "1818", "1919")
    ]
    assert sum(len(turn.text) for turn in found if turn.role) <= 8_000
    assert "x\n[38,050 characters left out]\nx" in found[0].text


@each(
    ("words", "steps", "kept"),
    [
        (
            "abcde",
            "0123456789" * 3,
            ["a", "b", "c", "d", "e", "[15 messages left out]", *"567890123456789"],
        ),
        ("a" * 30, "01", ["a", "[10 messages left out]", *"a" * 19, "[2 messages left out]"]),
    ],
)
def test_steps_give_way_to_what_is_said(
    words: str, steps: Sequence[str], kept: Sequence[str]
) -> None:
    found = bounded([*turns(*words), *(Turn("tool", text, is_step=True) for text in steps)])
    assert [turn.text if len(turn.text) < 99 else turn.text[:3] for turn in found] == kept
