"""One member of the panel: a model, its number of ratings, and what its token probabilities say about the score."""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from statistics import median, median_low
from typing import Any, TypeAlias, TypeVar

from judge.errors import JudgeError
from judge.scoring.model import ChatModel, Choice, Token
from judge.scoring.prompt import first_justification, render_second_request
from judge.scoring.ratings import Rating, Result, Unscored, UnscoredReason, add_up, point, unscored
from judge.scoring.reading import parse_rating, parse_score_line
from judge.scoring.rubric import Scale


def ratings_needed(scores: Sequence[int], asked: int, samples: int, scale: tuple[int, int]) -> int:
    """The least number of further ratings after which no other one can change the verdict's score.

    0 if that is already so, or if a majority of usable ratings is no longer possible. If ratings are unusable, the
    result may rarely be one too high.

    Args:
        scores: The scores of the usable ratings so far.
        asked: The number of ratings so far, usable or not.
        samples: The largest number of ratings of a verdict.
        scale: Lowest and highest score.
    """
    rest = samples - asked
    if 2 * (len(scores) + rest) <= samples:
        return 0
    likeliest = median_low(scores) if scores else scale[0]
    for more in range(rest):
        if _is_settled([*scores, *[likeliest] * more], rest - more, samples, scale):
            return more
    return rest


def _is_settled(scores: Sequence[int], rest: int, samples: int, scale: tuple[int, int]) -> bool:
    """Whether `rest` more ratings leave the score as it is, whatever they say, and even if they fail.

    The median is furthest out if all of them are the lowest score, or all the highest. The verdict must also stay
    scored, so more than half of all ratings must already be near any median between these two.
    """
    lowest, highest = ([*scores, *[end] * rest] for end in scale)
    near = sum(median(highest) - point(scale) <= score <= median(lowest) + point(scale) for score in scores)
    return median_low(lowest) == median_low(highest) and 2 * near > samples


# Each occurrence of the score's number costs one reading of the answer; no real judgement exceeds these limits.
_MOST_PLACES, _MOST_CHARS = 50, 50_000


Parse: TypeAlias = Callable[[str, Scale], Result]


def weigh_score(tokens: Sequence[Token], rating: Rating, scale: Scale, parse: Parse = parse_rating) -> float | None:
    """The mean of the scale's scores, each weighted by the probability that the model gave to it.

    Probabilities of tokens that are not scores are left out, and the rest is scaled to 1. None if no single token
    decides the score: there are no log probabilities (or not that of the score), the score is stated twice or split
    into several tokens, or the answer has more than 50,000 characters.

    Source: G-Eval, arXiv 2303.16634, section 3.1 (there estimated from 20 samples, here read directly).
    """
    token = _deciding_token(tokens, rating.score, scale, parse)
    if token is None:
        return None
    chances: dict[int, float] = {}
    for text, logprob in token.candidates.items():
        value = _whole_number(text)
        if value is not None and scale.low <= value <= scale.high:
            chances[value] = chances.get(value, 0.0) + math.exp(min(logprob, 0.0))
    # If the model writes numbers digit by digit, its "1" may be the beginning of "10".
    is_by_digits = scale.high > 9 and all(value < 10 for value in chances)
    total = math.fsum(chances.values())
    if is_by_digits or not total or rating.score not in chances:
        return None
    return math.fsum(value * chance for value, chance in chances.items()) / total


def _deciding_token(tokens: Sequence[Token], score: int, scale: Scale, parse: Parse) -> Token | None:
    other = score - 1 if score > scale.low else score + 1
    texts = [token.text for token in tokens]
    places = [at for at, text in enumerate(texts) if _whole_number(text) == score]
    if len(places) > _MOST_PLACES or sum(map(len, texts)) > _MOST_CHARS:
        return None
    for at in places:
        text = texts[at]
        changed = parse("".join((*texts[:at], text.replace(str(score), str(other)), *texts[at + 1 :])), scale)
        if isinstance(changed, Rating) and changed.score == other:
            return tokens[at]
    return None


def _whole_number(text: str) -> int | None:
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 4 else None


Number = TypeVar("Number", int, float)
Reader: TypeAlias = Callable[[Choice], Result]
Outcome: TypeAlias = Result | JudgeError | None
"""The outcome of one rating: its result, the failure of its call, or None if no answer came in time."""


class Member:
    """Asks one model for its share of the ratings, and for the score alone if an answer leaves it in doubt.

    Args:
        model: The model; shared by all verdicts, so that it remembers what it learns about its server.
        samples: The largest number of ratings per verdict.
        scale: The rubric's scale.
        logprobs: Whether to weigh the scores by their probabilities.
        stops: Whether to ask only for ratings that the score depends on; otherwise all are asked for at once.
    """

    def __init__(
        self, model: ChatModel, samples: int, scale: Scale, *, logprobs: bool = False, stops: bool = False
    ) -> None:
        self.model = model
        self.samples = samples
        self._scale = scale
        self._logprobs = logprobs
        self._least = self._needed([]) if stops else samples

    @property
    def may_spare(self) -> bool:
        return self._least < self.samples

    async def rate(self, prompt: str, response: str, outcomes: list[Outcome], give_up_at: float) -> None:
        """Fills in `outcomes`, one place per rating, and removes the places of ratings that it did not ask for."""
        read = partial(self._read, response=response)
        asked, more = 0, self._least
        while more:
            if asked and time.monotonic() >= give_up_at:
                return  # another request would be paid for, but its answer never read
            places = range(asked, asked + more)
            requests = [places] if self.model.gives_several else [[place] for place in places]
            await run_all([self._ask(prompt, outcomes, share, give_up_at, read) for share in requests])
            asked += more
            more = self._needed(outcomes[:asked])
        del outcomes[asked:]

    def _needed(self, outcomes: Sequence[Outcome]) -> int:
        scores = [outcome.score for outcome in outcomes if isinstance(outcome, Rating)]
        return ratings_needed(scores, len(outcomes), self.samples, self._scale)

    async def _ask(
        self, prompt: str, outcomes: list[Outcome], places: Sequence[int], give_up_at: float, read: Reader
    ) -> None:
        try:
            results = await self._request(prompt, len(places), give_up_at, read)
        except TimeoutError:
            return
        except JudgeError as exc:
            outcomes[places[0] : places[-1] + 1] = [exc] * len(places)
            return
        follow_ups = [self._ask(prompt, outcomes, [place], give_up_at, read) for place in places[len(results) :]]
        for place, result in zip(places, results, strict=False):
            outcomes[place] = result
            if isinstance(result, Unscored) and result.reason is not UnscoredReason.FILTERED:
                follow_ups.append(self._ask_for_line(prompt, result, outcomes, place, give_up_at))
        if follow_ups:
            await run_all(follow_ups)

    async def _ask_for_line(
        self, prompt: str, first: Unscored, outcomes: list[Outcome], place: int, give_up_at: float
    ) -> None:
        request = render_second_request(prompt, first, self._scale)
        with suppress(JudgeError, TimeoutError):
            [second] = await self._request(request, 1, give_up_at, partial(self._read_line, first=first))
            outcomes[place] = replace(second, **add_up((first, second)))

    async def _request(self, prompt: str, count: int, give_up_at: float, read: Reader) -> list[Result]:
        began = time.monotonic()
        temperature = 0.0 if self.samples == 1 else None
        completion = await self.model.complete(
            prompt, count=count, temperature=temperature, logprobs=self._logprobs, give_up_at=give_up_at
        )
        latency_ms = round((time.monotonic() - began) * 1000)
        return [
            replace(
                read(choice),
                model=self.model.name,
                input_tokens=_share(completion.input_tokens, index),
                output_tokens=_share(completion.output_tokens, index),
                latency_ms=_share(latency_ms, index),
                cost_usd=_share(completion.cost_usd, index),
            )
            for index, choice in enumerate(completion.choices[:count])
        ]

    def _read(self, choice: Choice, response: str) -> Result:
        scale, text = self._scale, choice.text
        if choice.is_refusal:
            return unscored(UnscoredReason.REFUSED, scale, text)
        if choice.finish_reason == "content_filter":
            return unscored(UnscoredReason.FILTERED, scale, text)
        if choice.finish_reason == "length":  # the score in it may be only the first of several
            return unscored(UnscoredReason.TRUNCATED, scale, text)
        return self._weighed(parse_rating(text, scale, response=response), choice, parse_rating)

    def _read_line(self, choice: Choice, first: Unscored) -> Result:
        result = parse_score_line(choice.text, self._scale)
        if isinstance(result, Unscored) or choice.finish_reason in ("content_filter", "length"):
            return first
        raw = f"{first.raw}\n\n{choice.text}" if first.raw else choice.text
        rating = replace(result, justification=first_justification(first), raw=raw)
        return self._weighed(rating, choice, parse_score_line)

    def _weighed(self, result: Result, choice: Choice, parse: Parse) -> Result:
        if isinstance(result, Unscored) or not (self._logprobs and choice.tokens):
            return result
        return replace(result, weighted_score=weigh_score(choice.tokens, result, self._scale, parse))


def skipped_ratings(members: Sequence[Member], results: Sequence[Result]) -> int | None:
    """The number of the members' ratings that were not asked for; None if all members always ask for all."""
    if not any(member.may_spare for member in members):
        return None
    return sum(member.samples for member in members) - len(results)


def _share(total: Number | None, index: int) -> Number | None:
    return total if index == 0 or total is None else type(total)(0)


async def run_all(calls: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Runs all calls at once; a single call, which is the common case, runs without its own task."""
    if len(calls) == 1:
        return await calls[0]
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(call)
    return None
