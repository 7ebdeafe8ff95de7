"""What came of the questions to an assistant: of each one, and of all together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.domain.questions import Question
from judge.evaluation.signs import Signs

QUIET_AFTER = timedelta(hours=72)
"""After so long without a sign, an answered question went quiet."""
SIGNS = {
    "is_unanswered": "without an answer",
    "by_colleague": "joined by a colleague",
    "came_back": "came back within a day",
    "confirmed": "confirmed",
    "contested": "contested",
    "handed_over": "handed over",
    "went_quiet": "went quiet",
}
"""What can come of a question, often several of these at once: fields of `Outcome`, in words."""

Thread = tuple[str, str]
"""The ids of a channel and of the message that a thread begins with."""


class ReadSigns(NamedTuple):
    """What a model has read in a thread, up to the message `last_ts`."""

    signs: Signs
    last_ts: str


@dataclass(frozen=True)
class Outcome:
    """What has come of a question so far.

    `is_waiting` and `is_unanswered` are those without an answer, of which the first may still get
    one. `confirmed`, `contested` and `handed_over` were read by a model, if `is_read`;
    a thumb up by the asker confirms, too. `went_quiet` is no sign of anything.
    """

    question: Question
    is_waiting: bool
    is_unanswered: bool
    by_colleague: bool
    came_back: bool
    is_read: bool
    confirmed: bool
    contested: bool
    handed_over: bool
    went_quiet: bool

    @property
    def is_known(self) -> bool:
        """Whether it was read what the answer was worth, or there was nothing to read."""
        return self.is_read or self.confirmed or self.went_quiet

    @property
    def has_sign(self) -> bool:
        return any(getattr(self, sign) for sign in SIGNS)


@dataclass(frozen=True)
class Outcomes:
    """How many questions have which outcome; each is answered, unanswered or waiting.

    `median` and `slowest_tenth` are waiting times, in which an unanswered question counts as the
    slowest; None if that is so long that no answer came. `read` counts the threads that a model has
    read. `signs` has the number of each of SIGNS.
    """

    questions: int
    answered: int
    waiting: int
    median: timedelta | None
    slowest_tenth: timedelta | None
    read: int
    signs: Mapping[str, int]


def outcomes_of(
    questions: Sequence[Question],
    now: datetime,
    signs: Mapping[Thread, ReadSigns] | None = None,
    thumbs_up: Collection[tuple[str, str]] = (),
) -> Sequence[Outcome]:
    """What came of each question.

    Args:
        questions: Those of whole threads, the oldest first.
        signs: They are about the last answer in their thread after which somebody wrote.
        thumbs_up: The ts of an answer, and who gave it a thumb up.
    """
    last = last_of_threads(questions)
    found = list[Outcome]()
    for question in questions:
        thread = question.channel_id, question.thread_ts
        read = None
        if signs and last.get(thread) is question:
            read = signs.get(thread)
        # What was read before this answer is about an earlier one.
        if read and float(read.last_ts) <= float(question.answer_ts or 0):
            read = None
        has_thumb = (question.answer_ts or "", question.asker_id) in thumbs_up
        found.append(_outcome(question, now, read.signs if read else None, has_thumb=has_thumb))
    return found


def last_of_threads(questions: Sequence[Question]) -> Mapping[Thread, Question]:
    """The last question of each thread after whose answer a person wrote."""
    return {
        (question.channel_id, question.thread_ts): question
        for question in questions
        if question.last_ts
    }


def _outcome(question: Question, now: datetime, signs: Signs | None, *, has_thumb: bool) -> Outcome:
    is_confirmed = has_thumb or (signs is not None and signs.confirmed)
    is_contested = signs is not None and signs.contested
    is_handed_over = signs is not None and signs.handed_over
    # Words that were not read may have said anything.
    is_silent = signs is not None or question.last_ts is None
    is_old = now - question.asked_at >= QUIET_AFTER
    has_sign = (
        (is_confirmed or is_contested or is_handed_over)
        or question.by_colleague
        or question.came_back
    )
    return Outcome(
        question=question,
        is_waiting=question.is_waiting(now),
        is_unanswered=question.is_unanswered(now),
        by_colleague=question.by_colleague,
        came_back=question.came_back,
        is_read=signs is not None,
        confirmed=is_confirmed,
        contested=is_contested,
        handed_over=is_handed_over,
        went_quiet=bool(question.answer_ts) and is_old and is_silent and not has_sign,
    )


def counted(outcomes: Sequence[Outcome]) -> Outcomes:
    waits = sorted(
        outcome.question.waited or timedelta.max for outcome in outcomes if not outcome.is_waiting
    )
    return Outcomes(
        questions=len(outcomes),
        answered=sum(outcome.question.answer_ts is not None for outcome in outcomes),
        waiting=sum(outcome.is_waiting for outcome in outcomes),
        median=_quantile(waits, 0.5),
        slowest_tenth=_quantile(waits, 0.9),
        read=sum(outcome.is_read for outcome in outcomes),
        signs={sign: sum(getattr(outcome, sign) for outcome in outcomes) for sign in SIGNS},
    )


def _quantile(waits: Sequence[timedelta], share: float) -> timedelta | None:
    if not waits:
        return None
    wait = waits[min(int(share * len(waits)), len(waits) - 1)]
    return None if wait == timedelta.max else wait
