"""Which cases a person may label blind: what counts, is as it was scored, and shows them nothing that they know."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, FromClause, and_, case, func, or_, select

from bot.domain.case import CaseStatus
from bot.domain.label import Outcome
from bot.log.samples import Sample, has_score
from bot.log.schema import cases, draws, labels
from bot.log.visibility import counts, is_superseded, is_watched, on_same_reply

LONGEST = 80_000
"""Characters of question and response together; a window has room for no more."""

_HELD_FOR = timedelta(hours=1)
"""How long others are shown other cases, after a case was shown to somebody who has not answered."""


def waiting(sample: Sample, user_id: str) -> ColumnElement[bool]:
    """Whether a case is drawn, and for the person to label."""
    return and_(sample.has_drawn(), may_label(user_id))


def turn(sample: Sample, user_id: str, now: datetime) -> tuple[ColumnElement[Any], ...]:
    """When a case is shown: first what the person has closed without an answer, then what the fewest have been shown.

    Named `is_first` (0 or 1), `others` and `position`.
    """
    is_first = case((is_shown(user_id), 0), else_=1).label("is_first")
    return is_first, _others(user_id, now).label("others"), sample.position().label("position")


def may_label(user_id: str) -> ColumnElement[bool]:
    """Whether a case can be labelled, and the person wrote nothing of it and knows no score of its reply."""
    own = (cases.c.requester_id, cases.c.author_id, cases.c.question_author_id)
    return and_(_can_be_labelled(), *(each.is_distinct_from(user_id) for each in own), ~_knows_reply(user_id))


def _can_be_labelled() -> ColumnElement[bool]:
    """Whether everybody could see the verdict, it counts, and the texts are there as they were scored."""
    length = func.length(cases.c.question) + func.length(cases.c.response)
    is_as_scored = [cases.c[mark].is_(None) for mark in ("edited_at", "deleted_at", "forgotten_at")]
    return and_(
        or_(counts(cases), is_watched(cases)),
        has_score(),
        cases.c.status == CaseStatus.DELIVERED,
        length <= LONGEST,  # not where one of them is missing, either
        *is_as_scored,
        ~is_superseded(),
    )


def _knows_reply(user_id: str) -> ColumnElement[bool]:
    """Whether the person asked for a verdict on the reply, labelled one, or passed one over."""
    same = cases.alias("same")
    is_theirs = or_(same.c.requester_id == user_id, _has_label(same, user_id), _has_answered(same, user_id))
    return or_(*(select(same.c.id).where(is_same, is_theirs).exists() for is_same in on_same_reply(cases, same)))


def _has_label(table: FromClause, user_id: str) -> ColumnElement[bool]:
    is_theirs = and_(labels.c.team_id == table.c.team_id, labels.c.case_id == table.c.id, labels.c.user_id == user_id)
    return select(labels.c.score).where(is_theirs).exists()


def is_shown(user_id: str) -> ColumnElement[bool]:
    """Whether the person was shown a case and has not answered."""
    return select(draws.c.case_id).where(_of_case(), draws.c.user_id == user_id, draws.c.outcome.is_(None)).exists()


def _has_answered(table: FromClause, user_id: str) -> ColumnElement[bool]:
    is_theirs = and_(draws.c.team_id == table.c.team_id, draws.c.case_id == table.c.id, draws.c.user_id == user_id)
    return select(draws.c.case_id).where(is_theirs, draws.c.outcome.is_not(None)).exists()


def _others(user_id: str, now: datetime) -> ColumnElement[int]:
    """How many others have labelled a case blind, or have it in front of them."""
    is_held = and_(draws.c.outcome.is_(None), draws.c.drawn_at > now - _HELD_FOR)
    is_taken = or_(draws.c.outcome == Outcome.LABELLED, is_held)
    return (
        select(func.count())
        .select_from(draws)
        .where(_of_case(), draws.c.user_id != user_id, is_taken)
        .scalar_subquery()
    )


def _of_case() -> ColumnElement[bool]:
    return and_(draws.c.team_id == cases.c.team_id, draws.c.case_id == cases.c.id)
