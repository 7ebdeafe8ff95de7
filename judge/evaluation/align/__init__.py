"""Aligns a judge with people's labels, and tests on other labels whether that has made it better.

    asker = Asker(make, memory, Budget(requests=400, tokens=2_000_000))
    found = await align(cases, rubric, asker)
    if found.better:
        print(found.better.rubric.prompt)

Labels are split by thread into a part to learn from and a part to test on. Each way makes one rubric from the first
part; if that looks better there, it is tried on the second. Nothing is changed here: a better rubric is only proposed.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judge.evaluation.align.asking import Asker, Budget, BudgetError, Memory, Scored, Scorer, Scores
from judge.evaluation.align.calibration import Pair, cross_fitted, fit
from judge.evaluation.align.cases import LabelledCase, divide, split, threads_of, to_digest
from judge.evaluation.align.examples import pick, with_examples
from judge.evaluation.align.rubric_text import search
from judge.evaluation.align.trial import Agreement, Change, Trial, Way, compare, tail_of, to_trial
from judge.scoring.rubric import Rubric

__all__ = [
    "Agreement",
    "Alignment",
    "Asker",
    "Budget",
    "BudgetError",
    "Change",
    "LabelledCase",
    "Memory",
    "Scored",
    "Scorer",
    "Scores",
    "Trial",
    "Way",
    "align",
    "obstacle",
]

Tell = Callable[[Way, int], Awaitable[None]]
"""Called before each way is learned, with 0, and before it is tried, with the number of cases to test on."""

LEAST, LEAST_FOR_PROMPTS, LEAST_TO_FIT = 12, 30, 4
"""Numbers of labelled threads: below the first nothing is learned, and below the second only a calibration; a
calibration needs at least the third, among the threads to learn from, with a score."""


@dataclass
class Alignment:
    """The result of an alignment, or its state so far.

    Attributes:
        learned: The number of cases to learn from, with `learned_threads` threads.
        tested: The number of cases to test on, with `tested_threads` threads.
        trials: The trials on the cases to test on, in order.
        untried: For each way that was not tested, the reason as a sentence.
        is_spent: Whether the budget ended it.
    """

    learned: int
    learned_threads: int
    tested: int
    tested_threads: int
    trials: list[Trial] = field(default_factory=list)
    untried: dict[Way, str] = field(default_factory=dict)
    is_spent: bool = False

    @property
    def better(self) -> Trial | None:
        """The trial whose judge is clearly better; None if there is none."""
        return next((each for each in self.trials if each.is_better), None)


def obstacle(cases: Sequence[LabelledCase]) -> str:
    """Why nothing can be learned from these labels; "" if something can."""
    threads = len(threads_of(cases))
    if threads < LEAST:
        number = f"{threads} thread{'' if threads == 1 else 's'}"
        return f"The labels come from {number}, and learning from them takes {LEAST}: {LEAST - threads} more."
    return _all_the_same(cases, "labels")


def _all_the_same(cases: Sequence[LabelledCase], what: str) -> str:
    """Why no trial on these can find a better judge, which must tell good from bad; "" if one can."""
    if len({each.label for each in cases}) > 1:
        return ""
    return (
        f"All {what} are {cases[0].label:g}, so nothing shows whether a judge tells good from bad. Add labels of "
        "responses that people find better or worse."
    )


async def _tell_nobody(way: Way, tested: int) -> None:
    """Ignores the progress of an alignment."""


async def align(
    cases: Sequence[LabelledCase],
    rubric: Rubric,
    asker: Asker,
    ways: Sequence[Way] = tuple(Way),
    tell: Tell = _tell_nobody,
) -> Alignment:
    """Tries ways in turn until one makes the judge by `rubric` clearly better.

    An alignment that was killed continues where it was if it is called again with the same memory.

    Raises:
        JudgeError: The model fails, or the budget is too small to score the cases once.
        ValueError: Nothing can be learned from these labels; call `obstacle` first.
    """
    if why := obstacle(cases):
        raise ValueError(why)
    parts = divide(threads_of(cases), await asker.memory.get("parts") or {})
    asker.check(cases)
    await asker.memory.put("parts", parts)
    learned, tested = split(cases, parts)
    found = Alignment(len(learned), len(threads_of(learned)), len(tested), len(threads_of(tested)))
    if why := _all_the_same(tested, "labels to test on"):
        found.untried = dict.fromkeys(ways, why)
        return found
    try:
        before = await asker.scores(rubric, learned)
        for each in ways:
            await tell(each, 0)
            spare = len(tested) * (1 if found.trials else 2)  # the judge in use scores them only once
            candidate = await _Learner(rubric, learned, before, asker, spare).propose(each, found)
            if candidate is None:
                continue
            await tell(each, len(tested))
            trial = await _try(each, candidate, rubric, tested, asker)
            if trial is None:
                found.untried[each] = "No case to test on got a score from both judges."
                continue
            found.trials.append(trial)
            if trial.is_better:
                break
    except BudgetError:
        found.is_spent = True
        left = set(ways) - {each.way for each in found.trials} - set(found.untried)
        found.untried |= dict.fromkeys(sorted(left), "The budget leaves too little for its test.")
    return found


@dataclass(frozen=True)
class _Learner:
    """Makes one rubric by each way, from the cases to learn from and their scores."""

    rubric: Rubric
    learned: Sequence[LabelledCase]
    before: Scores
    asker: Asker
    spare: int

    async def propose(self, way: Way, found: Alignment) -> Rubric | None:
        """A rubric that looks better on the cases to learn from; if there is none, None with the reason in `found`."""
        threads = found.learned_threads + found.tested_threads
        if way is not Way.CALIBRATION and threads < LEAST_FOR_PROMPTS:
            why = f"It takes labels from {LEAST_FOR_PROMPTS} threads: {LEAST_FOR_PROMPTS - threads} more."
            candidate = None
        elif way is Way.CALIBRATION:
            candidate, why = self._calibrated()
        elif way is Way.EXAMPLES:
            candidate, why = await self._with_examples()
        else:
            candidate, why = await search(self.rubric, self.learned, self.asker, self.spare)
        if candidate is None:
            found.untried[way] = why
        return candidate

    def _calibrated(self) -> tuple[Rubric | None, str]:
        scored = [each for each in self.learned if each.id in self.before]
        rows = [(self.before[each.id], each) for each in scored if self.before[each.id].mean is not None]
        pairs = [Pair(one.mean or 0, each.label, each.thread) for one, each in rows]
        if len({each.thread for each in pairs}) >= LEAST_TO_FIT:
            after = cross_fitted(pairs)
            gains = [
                abs((one.score or 0) - each.label) - abs(score - each.label)
                for (one, each), score in zip(rows, after, strict=True)
            ]
            if sum(gains) > 0:
                return self.rubric.calibrated(fit(pairs)), ""
        return None, "On the labels to learn from, it does not bring the scores closer to people's."

    async def _with_examples(self) -> tuple[Rubric | None, str]:
        rubric, used = with_examples(self.rubric, pick(self.learned, self.before))
        if not used:
            return None, "No case that could be an example has a score a point or more from people's."
        others = [each for each in self.learned if each.thread not in threads_of(used)]
        after = await self.asker.scores(rubric, others)
        found = compare(others, self.before, after, rubric.scale, tail_of(1))
        if found is None or found[0].mean <= 0:
            return None, "On the other labels to learn from, they do not bring the scores closer to people's."
        return rubric, ""


async def _try(
    way: Way, candidate: Rubric, rubric: Rubric, tested: Sequence[LabelledCase], asker: Asker
) -> Trial | None:
    """The trial of a candidate; None if no case has both scores. The use of the test part is recorded beforehand."""
    attempt = await _count(candidate, tested, asker)
    before, after = await asker.scores(rubric, tested), await asker.scores(candidate, tested)
    return to_trial(way, candidate, tested, before, after, attempt)


async def _count(candidate: Rubric, tested: Sequence[LabelledCase], asker: Asker) -> int:
    """The number of this attempt, from 1; an attempt that was started before keeps its number."""
    labels = sorted(f"{each.id}={each.label:g}" for each in tested)
    this = to_digest(asker.version(candidate), *labels)
    attempts: Mapping[str, int] = await asker.memory.get("attempts") or {}
    if this not in attempts:
        attempts = {**attempts, this: len(attempts) + 1}
        await asker.memory.put("attempts", attempts)
    return attempts[this]
