"""A conversation: what was said before the question, turn by turn, within bounds."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

_MOST_MESSAGES, _MOST_CHARACTERS = 20, 8_000
_LONGEST_TEXT = _MOST_CHARACTERS // 4
_HALF = (_LONGEST_TEXT - 50) // 2  # what stays of a longer text at each end; the mark between takes less than 50

_CUT = re.compile(r"\n\[[\d,]+ characters left out\]\n")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation.

    Attributes:
        role: Who wrote it, in a word or two: "user", "assistant", "Person 1". "" for a note about the conversation.
        text: What it says.
    """

    role: str
    text: str


class Bounded(NamedTuple):
    """The turns that are left of a conversation, with a note where some are left out, and what was cut."""

    turns: tuple[Turn, ...]
    left_out: int = 0
    is_cut: bool = False  # whether a text lost its middle


def bounded(turns: Sequence[Turn]) -> Bounded:
    """The first turn and the newest ones: at most 20, with at most 8,000 characters of text.

    A text of more than 2,000 characters loses its middle, so that the first turn and three more always fit.
    """
    if not turns:
        return Bounded(())
    left = _MOST_CHARACTERS - min(len(turns[0].text), _LONGEST_TEXT)
    newest: list[Turn] = []  # the newest of them comes first
    for turn in reversed(turns[1:][1 - _MOST_MESSAGES :]):
        left -= min(len(turn.text), _LONGEST_TEXT)
        if left < 0:
            break
        newest.append(turn)
    left_out = len(turns) - 1 - len(newest)
    note = [left_out_note(left_out)] if left_out else []
    kept = [turns[0], *note, *reversed(newest)]
    is_cut = any(len(turn.text) > _LONGEST_TEXT for turn in kept)
    return Bounded(tuple(map(_shortened, kept)), left_out, is_cut)


def left_out_note(number: int) -> Turn:
    """Says where a number of turns are left out."""
    return Turn("", f"[{number:,} message{'' if number == 1 else 's'} left out]")


def is_shortened(text: str) -> bool:
    """Whether a turn's text, as `bounded` returns it, has lost its middle."""
    return bool(_CUT.match(text, _HALF)) and len(text) > 2 * _HALF


def _shortened(turn: Turn) -> Turn:
    text = turn.text
    if len(text) <= _LONGEST_TEXT:
        return turn
    cut = f"\n[{len(text) - 2 * _HALF:,} characters left out]\n"  # as in _CUT
    return replace(turn, text=f"{text[:_HALF]}{cut}{text[-_HALF:]}")
