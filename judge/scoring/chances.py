"""What the log probabilities of a score's tokens say about each number of the scale."""

import math
import re
from collections.abc import Sequence

from judge.scoring.model.completion import Token
from judge.scoring.ratings import Rating
from judge.scoring.reading import parse_rating
from judge.scoring.rubric import Scale

# Each occurrence of the score's number costs one reading of the answer; no real judgement exceeds these limits.
_MOST_PLACES, _MOST_CHARS = 50, 50_000
_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,3}(?![0-9])")


def find_chances(tokens: Sequence[Token], score: int, scale: Scale) -> dict[int, float]:
    """The probability of each number of the scale at `score`, as far as known; "10" may be two tokens."""
    found = _place_of(tokens, score, scale)
    chances: dict[int, float] = {}
    if found is not None:
        _add(tokens, found, "", 1.0, scale, chances)
    return chances


def _add(tokens: Sequence[Token], at: int, before: str, chance: float, scale: Scale, chances: dict[int, float]) -> None:
    """Adds the numbers that go on at a token after the digits `before`."""
    numbers = range(scale.low, scale.high + 1)
    candidates = [(text, chance * math.exp(min(logprob, 0.0))) for text, logprob in tokens[at].candidates.items()]
    # The token after "1" tells whether the number is 1; and it is, where other numbers of two digits are one token.
    is_whole = not before and any(len(text.strip()) > 1 and _is_number(text.strip()) for text, _ in candidates)
    for text, share in candidates:
        digits = before + (text if before else text.strip())
        has_ended = not _is_number(digits)
        if has_ended and not before:
            continue  # no number at all
        value = int(before if has_ended else digits)
        goes_on = not (has_ended or is_whole) and any(str(n).startswith(digits) and n != value for n in numbers)
        if goes_on and text != tokens[at].text:
            continue  # not known
        if goes_on and at + 1 < len(tokens):
            _add(tokens, at + 1, digits, share, scale, chances)
        elif value in numbers:
            chances[value] = chances.get(value, 0.0) + share


def _place_of(tokens: Sequence[Token], score: int, scale: Scale) -> int | None:
    """The token that begins the number that decides the score: if it were another, the answer would be read as that."""
    other = score - 1 if score > scale.low else score + 1
    text, starts = "", {}
    for at, token in enumerate(tokens):
        starts[len(text) + len(token.text) - len(token.text.lstrip())] = at
        text += token.text
    places = [found for found in _NUMBER.finditer(text) if int(found[0]) == score and found.start() in starts]
    if len(places) > _MOST_PLACES or len(text) > _MOST_CHARS:
        return None
    for found in places:
        changed = parse_rating(f"{text[: found.start()]}{other}{text[found.end() :]}", scale)
        if isinstance(changed, Rating) and changed.score == other:
            return starts[found.start()]
    return None


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) < 4
