"""Cases as rows of the log, and back."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row

from bot.domain.case import LoggedCase
from bot.domain.verdict import RecordedRating
from bot.log.schema import cases


def to_case(row: Row[Any]) -> LoggedCase:
    """The case of a row with all columns of `cases`."""
    return LoggedCase.model_validate(dict(row._mapping))


def rating_rows(case: LoggedCase, given: Sequence[RecordedRating]) -> list[dict[str, Any]]:
    """The rows of a case's ratings, in their order."""
    return [
        rating.model_dump() | {"team_id": case.team_id, "case_id": case.id, "position": position}
        for position, rating in enumerate(given)
    ]


def is_of_team(team_id: str) -> ColumnElement[bool]:
    """Whether a case is a team's; written so that SQLite takes the small index of another condition instead."""
    return cases.c.team_id + "" == team_id
