"""What came of the questions to an assistant: of each one, and of all together."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from bot.domain.questions import Question, Thread
from judge.evaluation.signs import Signs

SETTLED_AFTER = timedelta(hours=72)
"""After so long it is known what came of a question; without a sign, it went quiet."""


class Sign(StrEnum):
    """What can come of a question, as in exports; often several of these at once.

    `CONFIRMED`, `CONTESTED` and `HANDED_OVER` were read by a model; a thumb up by the asker
    confirms, too. `QUIET` is no sign of anything.
    """

    UNANSWERED = "without an answer"
    COLLEAGUE = "joined by a colleague"
    CAME_BACK = "came back within a day"
    CONFIRMED = "confirmed"
    CONTESTED = "contested"
    HANDED_OVER = "handed over"
    QUIET = "went quiet"

    @property
    def words(self) -> str:
        """How it is said on screen, after a number or before a share."""
        return _ON_SCREEN.get(self, self)


_ON_SCREEN = {
    Sign.UNANSWERED: "not answered within a day",
    Sign.QUIET: "with no sign whether it helped",
}


class ReadSigns(NamedTuple):
    """What a model has read in a thread, up to the message `last_ts`."""

    signs: Signs
    last_ts: str


@dataclass(frozen=True)
class Outcome:
    """What has come of a question so far; `is_waiting` if it may still get an answer, `is_settled`
    if silence would count by now, `is_read` if a model has read what was written after the answer.
    """

    question: Question
    signs: frozenset[Sign]
    is_waiting: bool = False
    is_settled: bool = False
    is_read: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it was read what the answer was worth, or there was nothing to read."""
        return self.is_read or bool(self.signs & {Sign.CONFIRMED, Sign.QUIET})


@dataclass(frozen=True)
class Outcomes:
    """How many questions have which outcome; each is answered, unanswered or waiting.

    `median` and `slowest_tenth` are waiting times, in which an unanswered question counts as the
    slowest; None if that is so long that no answer came. `read` counts the threads that a model has
    read. `signs` are of the `known` questions; the others are `too_new` to say, or were not read.
    """

    questions: int
    answered: int
    waiting: int
    median: timedelta | None
    slowest_tenth: timedelta | None
    read: int
    known: int
    too_new: int
    signs: Mapping[Sign, int]


def outcomes_of(
    questions: Sequence[Question],
    now: datetime,
    signs: Mapping[Thread, ReadSigns] | None = None,
    thumbs_up: Collection[tuple[str, str]] = (),
) -> Sequence[Outcome]:
    """What came of each question, but for those of forgotten people.

    Args:
        questions: Those of whole threads, the oldest first.
        signs: They are about the last answer in their thread after which somebody wrote.
        thumbs_up: The ts of an answer, and who gave it a thumb up.
    """
    last = last_of_threads(questions)
    outcomes = list[Outcome]()
    for question in questions:
        if not question.asker_id:
            continue
        read = None
        if signs and last.get(question.thread) is question:
            read = _read_after(question, signs)
        has_thumb = (question.answer_ts or "", question.asker_id) in thumbs_up
        outcome = Outcome(
            question,
            signs=_signs_of(question, now, read, has_thumb=has_thumb),
            is_waiting=question.is_waiting(now),
            is_settled=now - question.asked_at >= SETTLED_AFTER,
            is_read=read is not None,
        )
        outcomes.append(outcome)
    return outcomes


def _read_after(question: Question, signs: Mapping[Thread, ReadSigns]) -> Signs | None:
    read = signs.get(question.thread)
    # What was read before this answer is about an earlier one.
    if read is None or float(read.last_ts) <= float(question.answer_ts or 0):
        return None
    return read.signs


def last_of_threads(questions: Sequence[Question]) -> Mapping[Thread, Question]:
    """The last question of each thread after whose answer a person wrote."""
    return {question.thread: question for question in questions if question.last_ts}


def _signs_of(
    question: Question, now: datetime, read: Signs | None, *, has_thumb: bool
) -> frozenset[Sign]:
    signs = {
        Sign.COLLEAGUE: question.by_colleague,
        Sign.CAME_BACK: question.came_back,
        Sign.CONFIRMED: has_thumb or (read is not None and read.confirmed),
        Sign.CONTESTED: read is not None and read.contested,
        Sign.HANDED_OVER: read is not None and read.handed_over,
    }
    # Words that were not read may have said anything.
    is_silent = read is not None or question.last_ts is None
    is_quiet = is_silent and not any(signs.values()) and now - question.asked_at >= SETTLED_AFTER
    signs[Sign.QUIET] = is_quiet and question.answer_ts is not None
    signs[Sign.UNANSWERED] = question.is_unanswered(now)
    return frozenset(sign for sign, is_there in signs.items() if is_there)


def with_signs(outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    """The questions whose signs are counted: of newer ones, only those with a sign would count."""
    return [outcome for outcome in outcomes if outcome.is_settled and outcome.signs]


def counted(outcomes: Sequence[Outcome]) -> Outcomes:
    waits = sorted(
        outcome.question.waited or timedelta.max for outcome in outcomes if not outcome.is_waiting
    )
    known = with_signs(outcomes)
    signs = Counter(sign for outcome in known for sign in outcome.signs)
    return Outcomes(
        questions=len(outcomes),
        answered=sum(outcome.question.answer_ts is not None for outcome in outcomes),
        waiting=sum(outcome.is_waiting for outcome in outcomes),
        median=_quantile(waits, 0.5),
        slowest_tenth=_quantile(waits, 0.9),
        read=sum(outcome.is_read for outcome in outcomes),
        known=len(known),
        too_new=sum(not outcome.is_settled for outcome in outcomes),
        signs={sign: signs[sign] for sign in Sign},
    )


def _quantile(waits: Sequence[timedelta], share: float) -> timedelta | None:
    if not waits:
        return None
    wait = waits[min(int(share * len(waits)), len(waits) - 1)]
    return None if wait == timedelta.max else wait
