"""The score weighted by the model's own probabilities, from the log probabilities of the score's token."""

import math
from collections.abc import Sequence

from judge.model import Token
from judge.ratings import Rating
from judge.reading import parse_rating
from judge.rubric import Scale

# Each place where the score's number stands costs a reading of the answer; no judgement has as many, or is as long.
_MOST_PLACES, _MOST_CHARS = 50, 50_000


def weigh_score(tokens: Sequence[Token], rating: Rating, scale: Scale) -> float | None:
    """The mean of the scale's scores, each weighted by the probability that the model gave to it.

    Probabilities of tokens that are no score are left out, and the rest scaled to 1. None where no single token
    decides the score: without log probabilities (its own among them), or where the score is stated twice or split into
    several tokens, or in an answer of more than 50,000 characters.

    Source: G-Eval, arXiv 2303.16634, section 3.1 (there estimated from 20 samples, here read directly).
    """
    token = _deciding_token(tokens, rating.score, scale)
    if token is None:
        return None
    chances: dict[int, float] = {}
    for text, logprob in token.candidates.items():
        value = _whole_number(text)
        if value is not None and scale.low <= value <= scale.high:
            chances[value] = chances.get(value, 0.0) + math.exp(min(logprob, 0.0))
    # Where the model spells numbers digit by digit, its "1" may be the beginning of "10".
    is_by_digits = scale.high > 9 and all(value < 10 for value in chances)
    total = math.fsum(chances.values())
    if is_by_digits or not total or rating.score not in chances:
        return None
    return math.fsum(value * chance for value, chance in chances.items()) / total


def _deciding_token(tokens: Sequence[Token], score: int, scale: Scale) -> Token | None:
    """The one token that states the score: with another number in its place, the text gets that other score."""
    other = score - 1 if score > scale.low else score + 1
    texts = [token.text for token in tokens]
    places = [at for at, text in enumerate(texts) if _whole_number(text) == score]
    if len(places) > _MOST_PLACES or sum(map(len, texts)) > _MOST_CHARS:
        return None
    for at in places:
        text = texts[at]
        changed = parse_rating("".join((*texts[:at], text.replace(str(score), str(other)), *texts[at + 1 :])), scale)
        if isinstance(changed, Rating) and changed.score == other:
            return tokens[at]
    return None


def _whole_number(text: str) -> int | None:
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 4 else None
