"""A conversation: what was said before the question, turn by turn, within bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from judge.scoring.numbers import number_of

_MOST_MESSAGES = 20
_MOST_CHARACTERS = 8_000
_LONGEST_TEXT = _MOST_CHARACTERS // 4
_HALF = (
    _LONGEST_TEXT - 50
) // 2  # what stays of a longer text at each end; the mark between takes less than 50


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation.

    Attributes:
        role: Who wrote it, in a word or two: "user", "assistant", "Person 1". "" for a note about
            the conversation.
        text: What it says.
        is_step: Whether it is a tool's call or result, which gives way to what somebody said.
    """

    role: str
    text: str
    is_step: bool = field(default=False, compare=False, repr=False)


def bounded(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The first turn and the newest ones: at most 20, with at most 8,000 characters of text. Steps
    give way first.

    A note stands where some are left out. A text of more than 2,000 characters loses its middle, so
    that the first turn and three more always fit.
    """
    left = _MOST_CHARACTERS
    kept = [-1]
    by_weight = sorted(range(len(turns)), key=lambda at: (turns[at].is_step, at > 0, -at))
    for at in by_weight[:_MOST_MESSAGES]:
        left -= min(len(turns[at].text), _LONGEST_TEXT)
        if left < 0:
            break
        kept.append(at)
    shown: list[Turn] = []
    for before, at in pairwise([*sorted(kept), len(turns)]):
        if gap := at - before - 1:
            shown.append(left_out_note(gap))
        shown += map(_shortened, turns[at : at + 1])
    return tuple(shown)


def left_out_note(number: int) -> Turn:
    return Turn("", f"[{number_of(number, 'message')} left out]")


def _shortened(turn: Turn) -> Turn:
    text = turn.text
    if len(text) <= _LONGEST_TEXT:
        return turn
    cut = f"\n[{len(text) - 2 * _HALF:,} characters left out]\n"
    return replace(turn, text=f"{text[:_HALF]}{cut}{text[-_HALF:]}")
