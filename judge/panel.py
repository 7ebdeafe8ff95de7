"""One member of the panel: a model, and the ratings that it is asked for."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from judge.errors import JudgeError
from judge.model import ChatModel, Choice
from judge.ratings import Rating, Result, Unscored, UnscoredReason, add_all, add_known, unscored
from judge.reading import parse_rating
from judge.rubric import Scale
from judge.second_request import first_justification, read_score_line, render_second_request
from judge.stopping import Experience, ratings_needed
from judge.weighting import weigh_score

Number = TypeVar("Number", int, float)
Reader: TypeAlias = Callable[[Choice], Result]
Outcome: TypeAlias = Result | JudgeError | None
"""What became of one rating: the failure of its call, or None while it is under way."""


class Member:
    """Asks one model for its share of the ratings, and for the score alone where an answer leaves it in doubt.

    Args:
        model: The model; shared by all verdicts, so that what it learns of its server stays learnt.
        samples: Ratings per verdict, at the most.
        scale: The rubric's scale.
        logprobs: Whether to weigh the scores by their probabilities.
        stops: Whether to ask for no more ratings than the score depends on; else for all of them, at once.
    """

    def __init__(
        self, model: ChatModel, samples: int, scale: Scale, *, logprobs: bool = False, stops: bool = False
    ) -> None:
        self.model = model
        self.samples = samples
        self._scale = scale
        self._logprobs = logprobs
        self._least = self._needed([]) if stops else samples
        self._experience = Experience()

    @property
    def may_spare(self) -> bool:
        """Whether a verdict may come about with fewer ratings."""
        return self._least < self.samples

    async def rate(self, prompt: str, response: str, outcomes: list[Outcome], give_up_at: float) -> None:
        """Fills in `outcomes`, one place per rating, as the answers come in: a cancelled call loses none of them.

        Places of ratings that the score does not depend on are taken out in the end.
        """
        read = partial(self._read, response=response)
        is_at_once = self.model.gives_several and self._experience.is_cheaper_at_once(self.samples - self._least)
        asked, more = 0, self.samples if is_at_once else self._least
        while more:
            places = range(asked, asked + more)
            requests = [places] if self.model.gives_several else [[place] for place in places]
            await run_all([self._ask(prompt, outcomes, share, give_up_at, read) for share in requests])
            asked += more
            more = self._needed(outcomes[:asked])
        del outcomes[asked:]
        self._experience.note_verdict(is_open=self._needed(outcomes[: self._least]) > 0)

    def _needed(self, outcomes: Sequence[Outcome]) -> int:
        scores = [outcome.score for outcome in outcomes if isinstance(outcome, Rating)]
        return ratings_needed(scores, len(outcomes), self.samples, self._scale)

    async def _ask(
        self, prompt: str, outcomes: list[Outcome], places: Sequence[int], give_up_at: float, read: Reader
    ) -> None:
        """One request for all of `places`, then a request for each that it left open or in doubt."""
        try:
            results = await self._request(prompt, len(places), give_up_at, read)
        except JudgeError as exc:
            for place in places:
                outcomes[place] = exc
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
        """Asks once more, for the score alone; where that fails, the first answer stays."""
        request = render_second_request(prompt, first, self._scale)
        with suppress(JudgeError):
            [second] = await self._request(request, 1, give_up_at, partial(self._read_line, first=first))
            outcomes[place] = _add_up(first, second)

    async def _request(self, prompt: str, count: int, give_up_at: float, read: Reader) -> list[Result]:
        """What one request brought, at least one result and at most `count`."""
        began = time.monotonic()
        temperature = 0.0 if self.samples == 1 else None
        completion = await self.model.complete(
            prompt, count=count, temperature=temperature, logprobs=self._logprobs, give_up_at=give_up_at
        )
        if count > 1:
            self._experience.note_cost(completion)
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
        result = parse_rating(text, scale, response=response)
        if isinstance(result, Unscored):
            is_cut = choice.finish_reason == "length"
            return unscored(UnscoredReason.TRUNCATED, scale, text) if is_cut else result
        return self._weighed(result, choice)

    def _read_line(self, choice: Choice, first: Unscored) -> Result:
        """The score of the second answer with the first one's justification; `first` where it is still in doubt."""
        score = read_score_line(choice.text, self._scale)
        if score is None or choice.finish_reason == "content_filter":
            return first
        raw = f"{first.raw}\n\n{choice.text}" if first.raw else choice.text
        return self._weighed(Rating(score=score, justification=first_justification(first), raw=raw), choice)

    def _weighed(self, rating: Rating, choice: Choice) -> Rating:
        if not (self._logprobs and choice.tokens):
            return rating
        return replace(rating, weighted_score=weigh_score(choice.tokens, rating, self._scale))


def spared(members: Sequence[Member], results: Sequence[Result]) -> int | None:
    """How many of the members' ratings were not asked for; None where all always are."""
    if not any(member.may_spare for member in members):
        return None
    return sum(member.samples for member in members) - len(results)


def _share(total: Number | None, index: int) -> Number | None:
    """What a request took as a whole stands on its first result, so that a sum over results counts it once."""
    return total if index == 0 or total is None else type(total)(0)


def _add_up(first: Unscored, second: Result) -> Result:
    """`second` with what the answer before it took."""
    return replace(
        second,
        input_tokens=add_known((first.input_tokens, second.input_tokens)),
        output_tokens=add_known((first.output_tokens, second.output_tokens)),
        latency_ms=add_known((first.latency_ms, second.latency_ms)),
        cost_usd=add_all((first.cost_usd, second.cost_usd)),
    )


async def run_all(calls: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Runs all at once; a lone one without a task of its own, which is the common case."""
    if len(calls) == 1:
        return await calls[0]
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(call)
    return None
