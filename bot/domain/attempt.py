"""Which attempt a request is at its reply, and whether it counts: all rules of that.

A reply has one case for all who may see it. There is another attempt if the reply's words have
changed, if somebody wants another score or names another question, and for people to whom the case
that it has is of no use.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from bot.domain.case import Case, Exclusion, LoggedCase, QuestionSource
from bot.domain.case_key import MessageKey

C = TypeVar("C", bound=Case)


def next_attempt(case: C, known: LoggedCase) -> C:
    attempt = known.attempt + 1
    key = replace(MessageKey.parse(case.key), attempt=attempt)
    return case.model_copy(update={"attempt": attempt, "key": str(key)})


def is_of_use(known: LoggedCase, case: Case) -> bool:
    """Whether the case that a reply has already answers another request for it.

    It does not answer another person's if only its requester can see it: it is private, Slack did
    not let us post its verdict, or it waits for its question. Nor if it is excluded and theirs
    counts.
    """
    if known.requester_id == case.requester_id:
        return True
    is_beside = known.excluded is not None and case.excluded is None
    return not (known.is_for_one or is_beside)


def exclusion_of(
    user_id: str,
    earlier: LoggedCase,
    counted: Sequence[tuple[str, int | None]],
    has_chosen: bool,
    is_changed: bool,
) -> Exclusion | None:
    """Why a repeated verdict that this person asks for is excluded; None if it replaces the earlier
    one.

    The first requester may repeat and correct a verdict. Other people may if there is no score yet,
    or if the text has been edited since, as the earlier case says or as is seen now (`is_changed`).
    An edit does not count if the reply's author also wrote the question, because it may be that.
    `has_chosen` says that this person typed the question, or chose a message as it. Either is as
    good as choosing the score, because a reply scores low with most questions but its own, so such
    a verdict never replaces another person's. Nor does it if another person repeats it.

    `counted` are the verdicts that count so far, the first one first: who asked, and the score.
    """
    is_of_chosen = earlier.question_source in {QuestionSource.TYPED, QuestionSource.CHOSEN}
    is_kept = not has_chosen and (is_of_chosen or earlier.excluded is Exclusion.EDITED)
    if earlier.excluded and (is_kept or earlier.excluded is Exclusion.PERSON):
        return earlier.excluded
    if not counted or counted[0][0] == user_id:
        return None
    is_scored = any(score is not None for _, score in counted)
    has_changed = is_changed or earlier.edited_at is not None
    is_edited = has_changed and earlier.question_author_id != earlier.author_id
    return Exclusion.ANOTHER if has_chosen or (is_scored and not is_edited) else None
