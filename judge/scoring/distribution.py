"""Asks for a score as a distribution: one request of a few tokens with their log probabilities, and no reason."""

from dataclasses import replace
from functools import partial
from math import floor, fsum
from typing import Any

from judge.scoring.chances import find_chances
from judge.scoring.model.completion import Choice
from judge.scoring.panel import Member, Outcome
from judge.scoring.prompt import Texts, render_prompt
from judge.scoring.ratings import Rating, Result, Unscored, UnscoredReason, add_up, mean_of, unscored
from judge.scoring.reading import parse_rating

# The prompt asks for the score first; a heading, or "Total score", may stand before it.
_MOST_TOKENS = 16
_LEAST_COVERAGE, _MOST_COVERAGE = 0.8, 1.02
_FINAL = (UnscoredReason.FILTERED, UnscoredReason.REFUSED)  # asking for text would be no better


class DistributionMember(Member):
    """Asks one model for the distribution of its score; if there is none to rely on, for text in the usual way."""

    may_spare = False

    async def rate(self, texts: Texts, outcomes: list[Outcome], give_up_at: float) -> None:
        first: Outcome = None
        if self.model.gives_logprobs and outcomes[0] is None:  # no rating by text of an earlier try
            how: dict[str, Any] = {"temperature": 0.0, "logprobs": True, "most_tokens": _MOST_TOKENS}
            request = partial(self.model.complete, render_prompt(*texts), give_up_at=give_up_at, **how)
            [first] = await self._results(request, partial(self._distribution, response=texts.response))
            is_doubt = isinstance(first, Unscored) and first.reason not in _FINAL
            if not (is_doubt or (isinstance(first, Rating) and first.probabilities is None)):
                outcomes[:] = [first]
                return
        if not self.model.gives_logprobs:
            self._note_lack()
        await super().rate(texts, outcomes, give_up_at)
        if isinstance(first, Rating | Unscored) and isinstance(usual := outcomes[0], Rating | Unscored):
            outcomes[0] = replace(usual, coverage=first.coverage, **add_up((first, usual)))

    def _distribution(self, choice: Choice, response: str) -> Result:
        """The rating; without `probabilities` if they do not speak for the model."""
        scale, text = self._scale, choice.text
        if withheld := self._withheld(choice):
            return withheld
        if not choice.tokens:  # also where thinking took the few tokens
            self._note_lack()
        read = parse_rating(text, scale, response=response)
        is_cut = choice.finish_reason == "length" and text[-1:].isdigit()  # "1" may become "10"
        if isinstance(read, Unscored) or not choice.tokens or is_cut:
            return unscored(UnscoredReason.NO_SCORE, scale, text)
        chances = find_chances(choice.tokens, read.score, scale)
        coverage = fsum(chances.values())  # how much of the probability was on numbers of the scale
        if not _LEAST_COVERAGE <= coverage <= _MOST_COVERAGE:
            return replace(read, coverage=min(coverage, 1.0))
        probabilities = {score: chance / coverage for score, chance in sorted(chances.items())}
        mean = mean_of(probabilities)
        return Rating(
            score=floor(mean + 0.5),
            justification="",
            raw=text,
            weighted_score=mean,
            probabilities=probabilities,
            coverage=min(coverage, 1.0),
        )

    def _note_lack(self) -> None:
        self.model.note(f"Where model {self.model.name!r} gives no log probabilities, it is asked for text.")
