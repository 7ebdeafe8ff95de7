"""The requests of an alignment to models: each answer is paid for once, within a budget."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Any, NamedTuple, Protocol

from judge.errors import HOPELESS, JudgeError, SetupError
from judge.evaluation.align.cases import LabelledCase, to_digest
from judge.scoring.conversation import Turn
from judge.scoring.judging import Written
from judge.scoring.ratings import Verdict
from judge.scoring.rubric import Rubric

_MOST_FAILURES = 3


class Memory(Protocol):
    """Keeps answers by key, beyond the end of the process."""

    async def get(self, key: str) -> Mapping[str, Any] | None: ...

    async def put(self, key: str, value: Mapping[str, Any]) -> None: ...


class Scorer(Protocol):
    """A `Judge`, or an object that behaves like one."""

    @property
    def version(self) -> str: ...

    async def score(
        self, question: str, response: str, *, conversation: Sequence[Turn] = ()
    ) -> Verdict: ...

    async def write(self, prompt: str) -> Written: ...


class CaseScore(NamedTuple):
    """A judge's result for one case: `score` and `mean` are None if it gave no score, `tokens` if
    unknown.
    """

    score: int | None
    mean: float | None
    justification: str
    tokens: int | None


CaseScores = Mapping[str, CaseScore]
"""Results by case id, without the cases whose calls failed."""


@dataclass(frozen=True)
class Budget:
    requests: int  # for verdicts and proposals
    tokens: int


class BudgetError(Exception):
    """The budget, or a limit per day, is used up."""


@dataclass
class Asker:
    """Asks judges for verdicts, and their model for proposals.

    Answers of an earlier run are remembered, and count against the budget again. So an alignment
    that was killed and restarted takes the same course as one that was not.
    """

    make: Callable[[Rubric], Scorer]  # the judge for a rubric
    memory: Memory
    budget: Budget
    _: KW_ONLY
    known: CaseScores = field(
        default_factory=dict
    )  # verdicts of the judge to be improved, which cost nothing
    concurrency: InitVar[int] = 8
    requests: int = field(default=0, init=False)
    tokens: int = field(default=0, init=False)
    _first: str | None = field(default=None, init=False)
    _taken: set[str] = field(default_factory=set, init=False)
    _failure: JudgeError | None = field(default=None, init=False)
    _failures: int = field(default=0, init=False)  # in a row

    def __post_init__(self, concurrency: int) -> None:
        self._turns = asyncio.Semaphore(concurrency)

    def check(self, cases: Sequence[LabelledCase]) -> None:
        """Raises SetupError if the budget does not let the judge to be improved score the cases
        once.
        """
        if (needed := sum(each.id not in self.known for each in cases)) > self.budget.requests:
            raise SetupError(
                f"Scoring the {needed:,} labelled cases once takes as many requests, and the "
                f"budget is {self.budget.requests:,}; allow more, or give fewer cases."
            )

    def can_afford(self, more: int) -> bool:
        """Whether the budget allows this many more verdicts, at the mean number of tokens so far."""
        expected = self.tokens / self.requests * more if self.requests else 0
        return (
            self.requests + more <= self.budget.requests
            and self.tokens + expected <= self.budget.tokens
        )

    async def scores(self, rubric: Rubric, cases: Sequence[LabelledCase]) -> CaseScores:
        """The results of the judge with this rubric for the cases, with its calibration applied.

        Raises:
            BudgetError: The budget is used up; the answers so far are kept.
            JudgeError: Three calls in a row failed, or one failed in a way that no other call could
                succeed.
        """
        judge = self.make(Rubric(rubric.name, rubric.template))
        self._first = self._first or judge.version  # the judge to be improved is asked first
        # If one call fails, the others still finish, because they are paid for.
        results = await asyncio.gather(
            *(self._score(judge, each) for each in cases), return_exceptions=True
        )
        found = {}
        for case, result in zip(cases, results, strict=True):
            if isinstance(result, BaseException):
                raise result
            if result is not None:
                mean, by = result.mean, rubric.calibration
                found[case.id] = (
                    result if mean is None or by is None else result._replace(score=by.score(mean))
                )
        return found

    async def write(self, rubric: Rubric, prompt: str) -> str:
        """The answer to a prompt by the model of the judge with this rubric."""

        async def ask() -> Mapping[str, Any]:
            written = await self.make(rubric).write(prompt)
            return {"text": written.text, "tokens": written.tokens}

        return str((await self._once(f"proposal/{to_digest(prompt)}", ask))["text"])

    async def _score(self, judge: Scorer, case: LabelledCase) -> CaseScore | None:
        if judge.version == self._first and case.id in self.known:
            return self.known[case.id]

        async def ask() -> Mapping[str, Any]:
            beside: dict[str, Any] = {"reference": case.reference} if case.reference else {}
            verdict = await judge.score(
                case.question, case.response, conversation=case.conversation, **beside
            )
            tokens = (
                None
                if verdict.input_tokens is None
                else verdict.input_tokens + (verdict.output_tokens or 0)
            )
            mean = verdict.mean if verdict.is_scored else None
            return CaseScore(verdict.score, mean, verdict.justification, tokens)._asdict()

        async with self._turns:
            if isinstance(self._failure, HOPELESS) or self._failures >= _MOST_FAILURES:
                raise self._failure or JudgeError("The model fails.")
            try:
                scored = await self._once(f"score/{judge.version}/{case.id}/{case.digest}", ask)
            except JudgeError as exc:
                self._failure, self._failures = exc, self._failures + 1
                if isinstance(exc, HOPELESS) or self._failures >= _MOST_FAILURES:
                    raise
                return None
        self._failures = 0
        return CaseScore(**scored)

    async def _once(
        self, key: str, ask: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        is_new = key not in self._taken
        if is_new and not self.can_afford(1):
            raise BudgetError
        answer = await self.memory.get(key)
        if is_new:
            self._taken.add(key)
            self.requests += 1
        if answer is None:
            try:
                answer = await ask()
            except BaseException:
                self._taken.discard(key)
                self.requests -= is_new
                raise
            await self.memory.put(key, answer)
        if is_new:
            self.tokens += answer["tokens"] or 0
        return answer
