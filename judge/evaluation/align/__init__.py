"""Aligns a judge with people's labels, and tests on other labels whether that has made it better.

Labels are split by thread into a part to learn from and a part to test on. Each way makes one
rubric from the first part; if that looks better there, it is tried on the second. Nothing is
changed here: a better rubric is only proposed.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.evaluation.align import calibration, examples, rubric_text
from judge.evaluation.align.asking import Asker, Budget, BudgetError, CaseScore, CaseScores
from judge.evaluation.align.cases import LabelledCase, divide, threads_of, to_digest
from judge.evaluation.align.trial import Trial, Way, to_trial
from judge.scoring.numbers import number_of
from judge.scoring.rubric import Rubric

__all__ = [
    "Alignment",
    "Asker",
    "Budget",
    "BudgetError",
    "CaseScore",
    "LabelledCase",
    "Way",
    "align",
    "obstacle",
]

Tell = Callable[[Way, int], Awaitable[None]]
"""Called before each way is learned, with 0, and before it is tried, with the number of cases to test on."""

LEAST, LEAST_FOR_PROMPTS = 12, 30
"""Numbers of labelled threads: below the first nothing is learned, and below the second only a calibration."""


@dataclass
class Alignment:
    """The result of an alignment, or its state so far."""

    learned: int  # cases to learn from
    learned_threads: int
    tested: int  # cases to test on
    tested_threads: int
    trials: list[Trial] = field(default_factory=list)
    untried: dict[Way, str] = field(
        default_factory=dict
    )  # for each way that was not tested, the reason as a sentence
    is_spent: bool = False  # whether the budget ended it

    @property
    def better(self) -> Trial | None:
        return next((each for each in self.trials if each.is_better), None)


def obstacle(cases: Sequence[LabelledCase]) -> str:
    """Why nothing can be learned from these labels; "" if something can."""
    if (threads := len(threads_of(cases))) < LEAST:
        given = number_of(threads, "thread")
        return (
            f"The labels come from {given}, and learning from them takes {LEAST}: "
            f"{LEAST - threads} more."
        )
    return _all_the_same(cases, "labels")


def _all_the_same(cases: Sequence[LabelledCase], what: str) -> str:
    """Why no trial on these can find a better judge, which must tell good from bad; "" if one can."""
    if len({each.label for each in cases}) > 1:
        return ""
    return (
        f"All {what} are {cases[0].label:g}, so nothing shows whether a judge tells good from "
        "bad. Add labels of responses that people find better or worse."
    )


async def align(
    cases: Sequence[LabelledCase],
    rubric: Rubric,
    asker: Asker,
    ways: Sequence[Way] = tuple(Way),
    tell: Tell | None = None,
) -> Alignment:
    """Tries ways in turn until one makes the judge by `rubric` clearly better.

    An alignment that was killed continues where it was if it is called again with the same memory.

    Raises:
        JudgeError: The model fails, or the budget is too small to score the cases once.
        ValueError: Nothing can be learned from these labels; call `obstacle` first.
    """
    if why := obstacle(cases):
        raise ValueError(why)
    earlier = await asker.memory.get("parts") or {}
    parts = divide(cases, earlier)
    asker.check(cases)
    await asker.memory.put("parts", {**earlier, **parts})
    learned, tested = (
        [each for each in cases if parts[each.key] is is_test] for is_test in (False, True)
    )
    found = Alignment(len(learned), len(threads_of(learned)), len(tested), len(threads_of(tested)))
    if why := _all_the_same(tested, "labels to test on"):
        found.untried = dict.fromkeys(ways, why)
        return found
    try:
        before = await asker.scores(rubric, learned)
        for way in ways:
            if tell:
                await tell(way, 0)
            candidate, why, fitted = await _propose(way, rubric, learned, before, asker, found)
            if candidate is None:
                found.untried[way] = why
                continue
            if tell:
                await tell(way, len(tested))
            attempt = await _count(candidate, tested, asker)  # before it begins
            scores = await asker.scores(rubric, tested), await asker.scores(candidate, tested)
            trial = to_trial(way, candidate, tested, *scores, attempt, (learned, before, fitted))
            if trial is None:
                found.untried[way] = "No case to test on got a score from both judges."
                continue
            found.trials.append(trial)
            if trial.is_better:
                break
    except BudgetError:
        found.is_spent = True
        left = set(ways) - {each.way for each in found.trials} - set(found.untried)
        found.untried |= dict.fromkeys(sorted(left), "The budget leaves too little for its test.")
    return found


async def _propose(
    way: Way,
    rubric: Rubric,
    learned: Sequence[LabelledCase],
    before: CaseScores,
    asker: Asker,
    found: Alignment,
) -> tuple[Rubric | None, str, CaseScores]:
    """A rubric that looks better on the cases to learn from, or None and the reason.

    Also, its scores of those that it has not learned from: for a calibration, by cross-fitting.
    """
    if way is Way.CALIBRATION:
        return calibration.propose(rubric, learned, before)
    if (threads := found.learned_threads + found.tested_threads) < LEAST_FOR_PROMPTS:
        return (
            None,
            (
                f"It takes labels from {LEAST_FOR_PROMPTS} threads: {LEAST_FOR_PROMPTS - threads} "
                "more."
            ),
            {},
        )
    if way is Way.EXAMPLES:
        return await examples.propose(rubric, learned, before, asker)
    spare = found.tested * (1 if found.trials else 2)  # the judge in use scores them only once
    return *await rubric_text.search(rubric, learned, asker, spare), {}


async def _count(candidate: Rubric, tested: Sequence[LabelledCase], asker: Asker) -> int:
    """The number of this attempt among those that shared a label with it, from 1; one started
    before keeps its own.
    """
    labels = sorted({to_digest(each.content or each.id, f"{each.label:g}") for each in tested})
    this = to_digest(asker.make(candidate).version, *labels)
    attempts: Mapping[str, Any] = await asker.memory.get("attempts") or {}
    if this not in attempts:
        number = 1 + sum(not set(labels).isdisjoint(each["labels"]) for each in attempts.values())
        attempts = {**attempts, this: {"number": number, "labels": labels}}
        await asker.memory.put("attempts", attempts)
    return int(attempts[this]["number"])
