"""`Judge`: a question and a response become a verdict."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from judge.attacks import find_flags, nothing_to_judge
from judge.errors import DeadlineError, JudgeError, SetupError
from judge.model import DEFAULT_MODEL, ChatModel, Completion
from judge.offline import OFFLINE, rate_offline
from judge.parsing import parse_rating, unscored
from judge.prompt import render_prompt, render_reminder
from judge.ratings import Rating, Result, Unscored, UnscoredReason, Verdict, add_known, combine, has_majority
from judge.rubric import DEFAULT_RUBRIC, Rubric, load_rubric

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_CLEANUP_S = 0.5


class Judge:
    """Scores responses with one model and one rubric; safe to share between tasks of one event loop.

        async with Judge() as judge:
            verdict = await judge.score("What is 2 + 2?", "Four.")

    Args:
        model: The model's name on the server, or "offline" for the rater without a model.
        rubric: A rubric, the name of one that comes with the package, or the path of a file.
        samples: Ratings that make a verdict, at least 1. With one, the model is asked for its likeliest answer
            (temperature 0); with several it keeps the server's temperature, since equal ratings tell no spread.
        client: An `AsyncOpenAI` to ask through, with its own key and address, which stays yours to close.
            Without, one is made at the first call from OPENAI_API_KEY and OPENAI_BASE_URL.
        timeout_s: Longest time from the call of `score` to its return, retries and all.

    Raises:
        RubricError: The rubric cannot be found or is not one.
        SetupError: `samples` or `timeout_s` out of range.
    """

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        rubric: Rubric | str | Path = DEFAULT_RUBRIC,
        samples: int = 3,
        client: "AsyncOpenAI | None" = None,
        timeout_s: float = 60,
    ) -> None:
        if samples < 1:
            raise SetupError(f"JUDGE_SAMPLES is {samples!r}, and a verdict needs at least 1 rating; set 1 or more.")
        if not timeout_s > 0:
            raise SetupError(f"JUDGE_TIMEOUT_S is {timeout_s!r}, and a verdict takes time; set it above 0.")
        self._model = ChatModel(model, client)
        self._rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
        self._samples = samples
        self._timeout_s = timeout_s

    @property
    def model(self) -> str:
        """The name of the model that is asked, or "offline"."""
        return self._model.name

    @property
    def rubric(self) -> Rubric:
        """The rubric that responses are scored by."""
        return self._rubric

    async def score(self, question: str, response: str) -> Verdict:
        """The verdict on `response` as an answer to `question`.

        A model that answers nonsense gives an unscored verdict, and so do texts with nothing to judge, for
        which no model is asked.

        Raises:
            JudgeError: Fewer than half of the ratings are usable because calls failed; the child says how.
        """
        began = time.monotonic()
        nothing = nothing_to_judge(question, response)
        if nothing:
            results: Sequence[Result] = ()
        elif self.model == OFFLINE:
            results = [rate_offline(question, response, self._rubric.scale)]
        else:
            results = await self._rate_all(render_prompt(self._rubric, question, response))
        return combine(
            results,
            model=self.model,
            rubric=self._rubric.name,
            rubric_version=self._rubric.version,
            latency_ms=_ms_since(began),
            unscored=nothing,
            flags=find_flags(question, response),
        )

    async def aclose(self) -> None:
        """Closes the connections that this judge opened; a client that was given stays open."""
        await self._model.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _rate_all(self, prompt: str) -> list[Result]:
        give_up_at = time.monotonic() + self._timeout_s
        tasks = [asyncio.create_task(self._rate(prompt, give_up_at)) for _ in range(self._samples)]
        try:
            await asyncio.wait(tasks, timeout=self._timeout_s)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=_CLEANUP_S)
        outcomes = [self._outcome(task) for task in tasks]
        results = [_as_result(outcome) for outcome in outcomes]
        failures = [outcome for outcome in outcomes if isinstance(outcome, JudgeError)]
        if failures and not has_majority(results):
            raise failures[0]
        return results

    async def _rate(self, prompt: str, give_up_at: float) -> Result:
        """One rating, asked for a second time, with a reminder of the format, where the first is unusable."""
        first = await self._ask(prompt, give_up_at)
        if isinstance(first, Rating) or first.reason is UnscoredReason.FILTERED:
            return first
        second = await self._ask(render_reminder(prompt, self._rubric.scale), give_up_at)
        return replace(
            second,
            input_tokens=add_known((first.input_tokens, second.input_tokens)),
            output_tokens=add_known((first.output_tokens, second.output_tokens)),
            latency_ms=add_known((first.latency_ms, second.latency_ms)),
        )

    async def _ask(self, prompt: str, give_up_at: float) -> Result:
        began = time.monotonic()
        temperature = 0.0 if self._samples == 1 else None
        completion = await self._model.complete(prompt, temperature=temperature, give_up_at=give_up_at)
        return replace(
            self._read(completion),
            model=self.model,
            input_tokens=completion.input_tokens,
            output_tokens=completion.output_tokens,
            latency_ms=_ms_since(began),
        )

    def _read(self, completion: Completion) -> Result:
        scale, text = self._rubric.scale, completion.text
        if completion.is_refusal:
            return unscored(UnscoredReason.REFUSED, scale, text)
        if completion.finish_reason == "content_filter":
            return unscored(UnscoredReason.FILTERED, scale, text)
        result = parse_rating(text, scale)
        is_cut = completion.finish_reason == "length"
        return unscored(UnscoredReason.TRUNCATED, scale, text) if is_cut and isinstance(result, Unscored) else result

    def _outcome(self, task: "asyncio.Task[Result]") -> Result | JudgeError:
        if not task.done() or task.cancelled():
            return DeadlineError(
                f"No verdict from model {self.model!r} within {self._timeout_s:g} s; raise JUDGE_TIMEOUT_S, "
                "or choose a faster JUDGE_MODEL."
            )
        error = task.exception()
        if error is None:
            return task.result()
        if isinstance(error, JudgeError):
            return error
        raise error


def _as_result(outcome: Result | JudgeError) -> Result:
    if isinstance(outcome, JudgeError):
        return Unscored(reason=UnscoredReason.CALL_FAILED, detail=str(outcome))
    return outcome


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
