"""Asks for a score as a distribution: one request of a few tokens with their log probabilities, and
no reason.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from judge.scoring.model.completion import Choice, Token
from judge.scoring.panel import Member, Outcome
from judge.scoring.prompt import Texts, render_prompt
from judge.scoring.ratings import (
    Rating,
    Result,
    Unscored,
    UnscoredReason,
    add_up,
    mean_of,
    unscored,
)
from judge.scoring.reading import parse_rating, parse_score_line
from judge.scoring.rubric import Scale

# The prompt asks for the score first; a heading, or "Total score", may stand before it.
_MOST_TOKENS = 16
# As many are enough for a model that puts the score on its first line, and nothing before it.
_FEW_TOKENS = 8
_FINAL = (UnscoredReason.FILTERED, UnscoredReason.REFUSED)  # asking for text would be no better
_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,3}(?![0-9])")


class DistributionMember(Member):
    """Asks one model for the distribution of its score; if there is none to rely on, for text in
    the usual way.
    """

    may_spare = False
    _is_on_first_line = True  # the score, until an answer has it further down
    _most_tokens = _MOST_TOKENS

    async def rate(
        self, texts: Texts, earlier: Sequence[Result], give_up_at: float
    ) -> list[Outcome]:
        first: Outcome | None = None
        if self.model.gives_logprobs and not earlier:  # which are ratings by text
            first = await self._first(texts, give_up_at)
            is_doubt = isinstance(first, Unscored) and first.reason not in _FINAL
            if not (is_doubt or (isinstance(first, Rating) and first.probabilities is None)):
                return [first]
        if not self.model.gives_logprobs:
            self._note_text("its server refuses log probabilities")
        outcomes = await super().rate(texts, earlier, give_up_at)
        if isinstance(first, Rating | Unscored) and isinstance(
            usual := outcomes[0], Rating | Unscored
        ):
            outcomes[0] = replace(usual, coverage=first.coverage, **add_up((first, usual)))
        return outcomes

    async def _first(self, texts: Texts, give_up_at: float) -> Outcome:
        """The outcome of asking for the distribution: of the first line, as long as the model's
        scores stand there.
        """
        outcome = await self._request_chances(texts, give_up_at)
        if not (isinstance(outcome, Unscored) and self._is_on_first_line):
            return outcome
        if outcome.reason is not UnscoredReason.NO_SCORE or _NUMBER.search(outcome.raw):
            return outcome
        self._is_on_first_line = False
        again = await self._request_chances(texts, give_up_at)
        if isinstance(again, Rating | Unscored):
            return replace(again, **add_up((outcome, again)))
        return again

    async def _request_chances(self, texts: Texts, give_up_at: float) -> Outcome:
        how: dict[str, Any] = {
            "temperature": 0.0,
            "logprobs": True,
            "most_tokens": self._most_tokens if self._is_on_first_line else _MOST_TOKENS,
            "stop": "\n" if self._is_on_first_line else None,
        }
        request = partial(self.model.complete, render_prompt(*texts), give_up_at=give_up_at, **how)
        [outcome] = await self._results(
            request, partial(self._distribution, response=texts.response)
        )
        return outcome

    def _distribution(self, choice: Choice, response: str) -> Result:
        """The rating; without `probabilities` if they do not speak for the model."""
        scale = self._scale
        text = choice.text
        if withheld := self._withheld(choice):
            return withheld
        if not choice.tokens:
            self._note_no_tokens(choice)
            return unscored(UnscoredReason.EMPTY, scale, text)
        read = _read(text, scale, response)
        is_cut = choice.finish_reason == "length" and text[-1:].isdigit()  # "1" may become "10"
        if isinstance(read, Unscored) or is_cut:
            if not self._is_on_first_line or _NUMBER.search(text):
                self._note_text("its first words state no score")
            return unscored(UnscoredReason.NO_SCORE, scale, text)
        return self._weighted(read, find_chances(choice.tokens, read.score, scale))

    def _note_no_tokens(self, choice: Choice) -> None:
        if choice.has_thought:
            self._note_text("it thinks before it answers")
        elif self.model.gives_logprobs:
            self._note_text("its server gives no log probabilities")

    def _weighted(self, read: Rating, chances: Mapping[int, float]) -> Rating:
        """The rating by these probabilities, or the one by text if they are too little."""
        coverage = math.fsum(
            chances.values()
        )  # how much of the probability was on numbers of the scale
        if not 0.8 <= coverage <= 1.02:  # above 1 by rounding
            self._note_text("too much of the probability is on other words than scores")
            return replace(read, coverage=min(coverage, 1.0))
        self._most_tokens = _FEW_TOKENS
        probabilities = {score: chance / coverage for score, chance in sorted(chances.items())}
        mean = mean_of(probabilities)
        return Rating(
            score=math.floor(mean + 0.5),
            justification="",
            raw=read.raw,
            weighted_score=mean,
            probabilities=probabilities,
            coverage=min(coverage, 1.0),
        )

    def _note_text(self, why: str) -> None:
        self.model.note(f"Model {self.model.name!r} is asked for text where {why}.")


def _read(text: str, scale: Scale, response: str = "") -> Result:
    # The prompt asks for the score first, so a number that is all of the answer is the score.
    if _NUMBER.fullmatch(text.strip()):
        return parse_score_line(text, scale)
    return parse_rating(text, scale, response=response)


def find_chances(tokens: Sequence[Token], score: int, scale: Scale) -> dict[int, float]:
    """The probability of each number of the scale at `score`, as far as known; "10" may be two
    tokens.
    """
    chances: dict[int, float] = {}
    if (found := _place_of(tokens, score, scale)) is not None:
        _add(tokens, found, "", 1.0, scale, chances)
    return chances


def _add(
    tokens: Sequence[Token],
    at: int,
    before: str,
    chance: float,
    scale: Scale,
    chances: dict[int, float],
) -> None:
    """Adds the numbers that go on at a token after the digits `before`."""
    candidates = [
        (text, chance * math.exp(min(logprob, 0.0)))
        for text, logprob in tokens[at].candidates.items()
    ]
    # The token after "1" tells whether the number is 1; and it is, where other numbers of two
    # digits are one token.
    is_whole = not before and any(
        len(text.strip()) > 1 and _is_number(text.strip()) for text, _ in candidates
    )
    for text, share in candidates:
        digits = before + (text if before else text.strip())
        has_ended = not _is_number(digits)
        if has_ended and not before:
            continue  # no number at all
        value = int(before if has_ended else digits)
        goes_on = not (has_ended or is_whole) and _begins_longer(digits, scale)
        if goes_on and text != tokens[at].text:
            continue  # not known
        if goes_on and at + 1 < len(tokens):
            _add(tokens, at + 1, digits, share, scale, chances)
        elif scale.low <= value <= scale.high:
            chances[value] = chances.get(value, 0.0) + share


def _begins_longer(digits: str, scale: Scale) -> bool:
    numbers = map(str, range(scale.low, scale.high + 1))
    return any(number.startswith(digits) and number != digits for number in numbers)


def _place_of(tokens: Sequence[Token], score: int, scale: Scale) -> int | None:
    """The token that begins the number that decides the score: if it were another, the answer would
    be read as that.
    """
    other = score - 1 if score > scale.low else score + 1
    text = ""
    starts = {}
    for at, token in enumerate(tokens):
        starts[len(text) + len(token.text) - len(token.text.lstrip())] = at
        text += token.text
    for found in _NUMBER.finditer(text):
        if int(found[0]) != score or found.start() not in starts:
            continue
        changed = _read(f"{text[: found.start()]}{other}{text[found.end() :]}", scale)
        if isinstance(changed, Rating) and changed.score == other:
            return starts[found.start()]
    return None


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) < 4
