"""One member of the panel: a model, and the ratings that it is asked for."""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from judge.errors import JudgeError
from judge.model import ChatModel, Choice
from judge.prompt import render_reminder
from judge.ratings import Result, Unscored, UnscoredReason, add_all, add_known, unscored
from judge.reading import parse_rating
from judge.rubric import Scale
from judge.weighting import weigh_score

Number = TypeVar("Number", int, float)
Outcome: TypeAlias = Result | JudgeError | None
"""What became of one rating: the failure of its call, or None while it is under way."""


class Member:
    """Asks one model for its share of the ratings, and a second time for those that are unusable.

    Args:
        model: The model; shared by all verdicts, so that what it learns of its server stays learnt.
        samples: Ratings per verdict.
        scale: The rubric's scale.
        logprobs: Whether to weigh the scores by their probabilities.
    """

    def __init__(self, model: ChatModel, samples: int, scale: Scale, *, logprobs: bool = False) -> None:
        self.model = model
        self._samples = samples
        self._scale = scale
        self._logprobs = logprobs

    async def rate(self, prompt: str, outcomes: list[Outcome], give_up_at: float) -> None:
        """Fills in `outcomes`, one place per rating, as the answers come in: a cancelled call loses none of them."""
        await run_all(
            [self._ask(prompt, outcomes, share, give_up_at) for share in self._requests(range(self._samples))]
        )

    def _requests(self, places: Sequence[int]) -> list[Sequence[int]]:
        """The places that one request each is made for: all together where the server gives several answers."""
        return [places] if self.model.gives_several else [[place] for place in places]

    async def _ask(
        self, prompt: str, outcomes: list[Outcome], places: Sequence[int], give_up_at: float, *, is_last: bool = False
    ) -> None:
        """One request for all of `places`, then a request for each that it left open."""
        try:
            results = await self._request(prompt, len(places), give_up_at)
        except JudgeError as exc:
            for place in places:
                outcomes[place] = outcomes[place] or exc
            return
        for place, result in zip(places, results, strict=False):
            outcomes[place] = _add_up(outcomes[place], result)
        missing = places[len(results) :]
        again = [] if is_last else [place for place in places if _is_worth_asking_again(outcomes[place])]
        follow_ups = [self._ask(prompt, outcomes, [place], give_up_at, is_last=is_last) for place in missing]
        if again:
            reminder = render_reminder(prompt, self._scale)
            shares = self._requests(again)
            follow_ups += [self._ask(reminder, outcomes, share, give_up_at, is_last=True) for share in shares]
        if follow_ups:
            await run_all(follow_ups)

    async def _request(self, prompt: str, count: int, give_up_at: float) -> list[Result]:
        """What one request brought, at least one result and at most `count`."""
        began = time.monotonic()
        temperature = 0.0 if self._samples == 1 else None
        completion = await self.model.complete(
            prompt, count=count, temperature=temperature, logprobs=self._logprobs, give_up_at=give_up_at
        )
        latency_ms = round((time.monotonic() - began) * 1000)
        return [
            replace(
                self._read(choice),
                model=self.model.name,
                input_tokens=_share(completion.input_tokens, index),
                output_tokens=_share(completion.output_tokens, index),
                latency_ms=_share(latency_ms, index),
                cost_usd=_share(completion.cost_usd, index),
            )
            for index, choice in enumerate(completion.choices[:count])
        ]

    def _read(self, choice: Choice) -> Result:
        scale, text = self._scale, choice.text
        if choice.is_refusal:
            return unscored(UnscoredReason.REFUSED, scale, text)
        if choice.finish_reason == "content_filter":
            return unscored(UnscoredReason.FILTERED, scale, text)
        result = parse_rating(text, scale)
        if isinstance(result, Unscored):
            is_cut = choice.finish_reason == "length"
            return unscored(UnscoredReason.TRUNCATED, scale, text) if is_cut else result
        return replace(result, weighted_score=weigh_score(choice.tokens, result, scale)) if choice.tokens else result


def _share(total: Number | None, index: int) -> Number | None:
    """What a request took as a whole stands on its first result, so that a sum over results counts it once."""
    return total if index == 0 or total is None else type(total)(0)


def _is_worth_asking_again(outcome: Outcome) -> bool:
    return isinstance(outcome, Unscored) and outcome.reason is not UnscoredReason.FILTERED


def _add_up(earlier: Outcome, result: Result) -> Result:
    """`result` with what the unusable answer before it took."""
    if not isinstance(earlier, Unscored):
        return result
    return replace(
        result,
        input_tokens=add_known((earlier.input_tokens, result.input_tokens)),
        output_tokens=add_known((earlier.output_tokens, result.output_tokens)),
        latency_ms=add_known((earlier.latency_ms, result.latency_ms)),
        cost_usd=add_all((earlier.cost_usd, result.cost_usd)),
    )


async def run_all(calls: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Runs all at once; a lone one without a task of its own, which is the common case."""
    if len(calls) == 1:
        return await calls[0]
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(call)
    return None
