"""Members of the panel: a model, how it is asked, and its number of ratings."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from judge.errors import JudgeError
from judge.scoring.answers import spoken
from judge.scoring.model.chat import ChatModel
from judge.scoring.model.completion import Choice, Completion
from judge.scoring.prompt import Texts, first_justification, render_prompt, render_second_request
from judge.scoring.ratings import (
    SPENT,
    Rating,
    Result,
    Unscored,
    UnscoredReason,
    add_up,
    unscored,
)
from judge.scoring.reading import parse_rating, parse_score_line
from judge.scoring.rubric import Scale

T = TypeVar("T")


Request: TypeAlias = Callable[[], Awaitable[Completion]]
Reader: TypeAlias = Callable[[Choice], Result]
Outcome: TypeAlias = Result | JudgeError | TimeoutError
"""The outcome of one rating: its result, or why it has none."""
# Asking for the score alone would end in the same way.
_FINAL = (UnscoredReason.FILTERED, UnscoredReason.THINKING)


class Member:
    """Asks one model for its share of the ratings, and for the score alone if an answer leaves it
    in doubt.

    The model is shared by all verdicts. With `stops`, only ratings that the score depends on are
    asked for; otherwise all at once.
    """

    def __init__(
        self, model: ChatModel, samples: int, scale: Scale, *, stops: bool = False
    ) -> None:
        self.model = model
        self.samples = samples
        self._scale = scale
        self._least = self.needed([]) if stops else samples

    @property
    def may_spare(self) -> bool:
        return self._least < self.samples

    async def rate(
        self, texts: Texts, earlier: Sequence[Result], give_up_at: float
    ) -> list[Outcome]:
        """The outcomes of all ratings that the score depends on; the first are those of an
        `earlier` try.
        """
        prompt = render_prompt(*texts)
        read = partial(self._read, response=texts.response)
        outcomes: list[Outcome] = [*earlier[: self.samples]]
        more = max(self._least - len(outcomes), 0) or self.needed(outcomes)
        while more:
            if (
                outcomes and time.monotonic() >= give_up_at
            ):  # a request would be paid for, but its answer never read
                return [*outcomes, *[TimeoutError()] * (self.samples - len(outcomes))]
            share = more if self.model.gives_several else 1
            calls = [self._ask(prompt, share, give_up_at, read) for _ in range(more // share)]
            outcomes += chain(*await all_of(calls))
            more = self.needed(outcomes)
        return outcomes

    def needed(self, outcomes: Sequence[Outcome]) -> int:
        """As many more ratings as lack to a majority of equal scores, which no other can change; 0
        if there can be no majority of usable ones any more.
        """
        scores = [outcome.score for outcome in outcomes if isinstance(outcome, Rating)]
        rest = self.samples - len(outcomes)
        majority = self.samples // 2 + 1
        if len(scores) + rest < majority:
            return 0
        equal = max(map(scores.count, scores), default=0)
        return min(max(majority - equal, 0), rest)

    async def _ask(self, prompt: str, count: int, give_up_at: float, read: Reader) -> list[Outcome]:
        results = await self._results(self._request(prompt, count, give_up_at), read, count)
        calls = [self._settle(prompt, each, give_up_at) for each in results]
        calls += [self._ask(prompt, 1, give_up_at, read) for _ in range(count - len(results))]
        return [*chain(*await all_of(calls))]

    async def _settle(self, prompt: str, first: Outcome, give_up_at: float) -> list[Outcome]:
        """The outcome itself, or that of asking for the score alone if it was in doubt."""
        if not isinstance(first, Unscored) or first.reason in _FINAL:
            return [first]
        request = self._request(render_second_request(prompt, first, self._scale), 1, give_up_at)
        [second] = await self._results(request, partial(self._read_line, first=first))
        return [
            replace(second, **add_up((first, second)))
            if isinstance(second, Rating | Unscored)
            else first
        ]

    def _request(self, prompt: str, count: int, give_up_at: float) -> Request:
        temperature = 0.0 if self.samples == 1 else None
        return lambda: self.model.complete(
            prompt, count=count, temperature=temperature, give_up_at=give_up_at
        )

    async def _results(self, request: Request, read: Reader, count: int = 1) -> list[Outcome]:
        """What the answers to one request say, with their time, tokens and cost; or for each that
        it failed.
        """
        began = time.monotonic()
        try:
            answer = await request()
        except (TimeoutError, JudgeError) as exc:
            return [exc] * count
        spent: dict[str, Any] = {name: getattr(answer, name) for name in SPENT}
        spent["latency_ms"] = round((time.monotonic() - began) * 1000)
        results: list[Outcome] = []
        for choice in answer.choices[:count]:
            if results:  # the first has it all
                spent = {name: None if value is None else 0 for name, value in spent.items()}
            result = read(choice)
            results.append(replace(result, model=self.model.name, served=answer.served, **spent))
        return results

    def _withheld(self, choice: Choice) -> Unscored | None:
        if choice.is_refusal:
            return unscored(UnscoredReason.REFUSED, self._scale, choice.text)
        is_filtered = choice.finish_reason == "content_filter"
        return unscored(UnscoredReason.FILTERED, self._scale, choice.text) if is_filtered else None

    def _read(self, choice: Choice, response: str) -> Result:
        scale = self._scale
        text = choice.text
        if withheld := self._withheld(choice):
            return withheld
        if choice.finish_reason == "length" and choice.has_thought and not spoken(text):
            return unscored(UnscoredReason.THINKING, scale, text)
        if choice.finish_reason == "length":  # the score in it may be only the first of several
            return unscored(UnscoredReason.TRUNCATED, scale, text)
        return parse_rating(text, scale, response=response)

    def _read_line(self, choice: Choice, first: Unscored) -> Result:
        result = parse_score_line(choice.text, self._scale)
        if isinstance(result, Unscored) or choice.finish_reason in ("content_filter", "length"):
            return first
        raw = f"{first.raw}\n\n{choice.text}" if first.raw else choice.text
        return replace(result, justification=first_justification(first), raw=raw)


async def rate(
    members: Sequence[Member], texts: Texts, earlier: Sequence[Result], give_up_at: float
) -> list[tuple[ChatModel, Outcome]]:
    """The outcomes of all members' ratings in order, each with its model; see `Member.rate`."""
    calls = []
    for member in members:
        own_earlier = [each for each in earlier if each.model == member.model.name]
        calls.append(member.rate(texts, own_earlier, give_up_at))
    return [
        (member.model, outcome)
        for member, own in zip(members, await all_of(calls), strict=True)
        for outcome in own
    ]


def skipped_ratings(members: Sequence[Member], results: Sequence[Result]) -> int | None:
    """The number of the members' ratings that were not asked for; None if all members always ask
    for all.
    """
    if not any(member.may_spare for member in members):
        return None
    return sum(member.samples for member in members) - len(results)


async def all_of(calls: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What all calls return, run at once; a single call, which is the common case, runs without its
    own task.
    """
    if len(calls) == 1:
        return [await calls[0]]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(call) for call in calls]
    return [task.result() for task in tasks]
