"""What an alignment asks of models: each answer is paid for once, within a budget."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from judge.align.cases import LabelledCase, to_digest
from judge.errors import JudgeError
from judge.judging import Written
from judge.ratings import Verdict
from judge.rubric import Rubric

_MOST_FAILURES = 3


class Memory(Protocol):
    """Keeps what was answered, by key, over the end of the process."""

    async def get(self, key: str) -> Mapping[str, Any] | None: ...

    async def put(self, key: str, value: Mapping[str, Any]) -> None: ...


class Scorer(Protocol):
    """A `Judge`, or what behaves like one."""

    @property
    def version(self) -> str: ...

    async def score(self, question: str, response: str) -> Verdict: ...

    async def write(self, prompt: str) -> Written: ...


class Scored(NamedTuple):
    """What a judge gave one case: `score` and `mean` are None where it gave no score; `tokens` where unknown."""

    score: int | None
    mean: float | None
    justification: str
    tokens: int | None

    def by(self, rubric: Rubric) -> "Scored":
        """The same with the rubric's calibration."""
        if self.mean is None or rubric.calibration is None:
            return self
        return self._replace(score=rubric.calibration.score(self.mean))


Scores = Mapping[str, Scored]
"""By case id; without those whose calls failed."""


@dataclass(frozen=True)
class Budget:
    """The most that an alignment may ask for: verdicts and proposals, and tokens."""

    requests: int
    tokens: int


class BudgetError(Exception):
    """The budget, or a limit of the day, leaves no more."""


class Asker:
    """Asks judges for verdicts, and their model for proposals.

    What was asked before is remembered, and counts against the budget once more: so an alignment that was killed and
    begun again takes the same way as one that was not.

    Args:
        make: The judge by a rubric.
        memory: Where answers are kept.
        budget: What may be asked for.
        known: Verdicts of the judge that is to be improved that were there before, by case id. They cost nothing.
        concurrency: Cases under way at once.

    Attributes:
        requests: Verdicts and proposals that were asked for.
        tokens: What these took, as far as it is known.
    """

    def __init__(
        self,
        make: Callable[[Rubric], Scorer],
        memory: Memory,
        budget: Budget,
        *,
        known: Scores | None = None,
        concurrency: int = 8,
    ) -> None:
        self.memory = memory
        self.requests = 0
        self.tokens = 0
        self._make = make
        self._budget = budget
        self._turns = asyncio.Semaphore(concurrency)
        self._known = known or {}
        self._first: str | None = None
        self._taken: set[str] = set()
        self._failures = 0

    def version(self, rubric: Rubric) -> str:
        return self._make(rubric).version

    def can_afford(self, more: int) -> bool:
        """Whether the budget leaves that many more verdicts, each of as many tokens as those so far."""
        expected = self.tokens / self.requests * more if self.requests else 0
        return self.requests + more <= self._budget.requests and self.tokens + expected <= self._budget.tokens

    async def scores(self, rubric: Rubric, cases: Sequence[LabelledCase]) -> Scores:
        """What the judge by this rubric gives the cases, its calibration included.

        Raises:
            BudgetError: The budget is used up; what was answered so far is kept.
            JudgeError: Three calls in a row failed.
        """
        bare = Rubric(rubric.name, rubric.template)
        judge = self._make(bare)
        self._first = self._first or judge.version  # the judge to be improved is asked first
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {each.id: group.create_task(self._score(judge, each)) for each in cases}
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        found = {number: task.result() for number, task in tasks.items()}
        return {number: scored.by(rubric) for number, scored in found.items() if scored is not None}

    async def write(self, rubric: Rubric, prompt: str) -> str:
        """What the model of the judge by this rubric writes to a prompt; raises as `scores` does."""

        async def ask() -> Mapping[str, Any]:
            written = await self._make(rubric).write(prompt)
            return {"text": written.text, "tokens": written.tokens}

        return str((await self._once(f"proposal/{to_digest(prompt)}", ask))["text"])

    async def _score(self, judge: Scorer, case: LabelledCase) -> Scored | None:
        if judge.version == self._first and case.id in self._known:
            return self._known[case.id]

        async def ask() -> Mapping[str, Any]:
            return _to_scored(await judge.score(case.question, case.response))._asdict()

        async with self._turns:
            try:
                answer = await self._once(f"score/{judge.version}/{case.id}/{case.digest}", ask)
            except JudgeError:
                self._failures += 1
                if self._failures >= _MOST_FAILURES:
                    raise
                return None
        self._failures = 0
        return Scored(**answer)

    async def _once(self, key: str, ask: Callable[[], Awaitable[Mapping[str, Any]]]) -> Mapping[str, Any]:
        if key not in self._taken:
            if not self.can_afford(1):
                raise BudgetError
            self._taken.add(key)
            self.requests += 1
            if (answer := await self.memory.get(key)) is None:
                answer = await ask()
                await self.memory.put(key, answer)
            self.tokens += answer["tokens"] or 0
            return answer
        return await self.memory.get(key) or await ask()


def _to_scored(verdict: Verdict) -> Scored:
    tokens = None if verdict.input_tokens is None else verdict.input_tokens + (verdict.output_tokens or 0)
    return Scored(verdict.score, verdict.mean if verdict.is_scored else None, verdict.justification, tokens)


def mean_tokens(scores: Iterable[Scored]) -> float | None:
    """Tokens of a verdict on average; None where they are not known."""
    counts = [each.tokens for each in scores if each.tokens is not None]
    return fmean(counts) if counts else None
