from datetime import UTC, datetime

import pytest

from bot.domain.case import Aside, CaseStatus, LoggedCase
from bot.domain.standing import Standing, aside_of
from tests.unit.bot.test_log import a_case

FIRST, AUTHOR, OTHER = "U-first", "U-author", "U-other"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
NOTHING, UNSCORED, SCORED = None, Standing(FIRST, is_scored=False), Standing(FIRST, is_scored=True)


def earlier(aside: Aside | None = None, edited_at: datetime | None = None) -> LoggedCase:
    asked = a_case(author_id=AUTHOR, aside=aside).model_dump()
    return LoggedCase(**asked, id=1, status=CaseStatus.DELIVERED, created_at=NOW, edited_at=edited_at)


@pytest.mark.parametrize(
    ("user_id", "standing", "has_typed", "is_edited", "expected"),
    [
        (FIRST, SCORED, False, False, None),
        (FIRST, SCORED, True, False, None),
        (AUTHOR, SCORED, False, False, Aside.AUTHOR),
        (AUTHOR, SCORED, False, True, Aside.AUTHOR),
        (AUTHOR, UNSCORED, False, False, None),
        (AUTHOR, UNSCORED, True, False, Aside.AUTHOR),
        (AUTHOR, NOTHING, True, False, Aside.AUTHOR),
        (OTHER, SCORED, False, False, Aside.ANOTHER),
        (OTHER, SCORED, False, True, None),
        (OTHER, SCORED, True, True, Aside.ANOTHER),
        (OTHER, UNSCORED, False, False, None),
        (OTHER, UNSCORED, True, False, Aside.ANOTHER),
        (OTHER, NOTHING, True, False, None),
    ],
)
def test_whose_repeats_count(
    user_id: str, standing: Standing | None, has_typed: bool, is_edited: bool, expected: Aside | None
) -> None:
    case = earlier(edited_at=NOW if is_edited else None)
    assert aside_of(user_id, case, standing, has_typed=has_typed) is expected


def test_a_repeat_of_what_stands_aside_does_so_too_unless_the_first_types_another_question() -> None:
    beside = earlier(aside=Aside.ANOTHER)
    assert aside_of(FIRST, beside, SCORED, has_typed=False) is Aside.ANOTHER
    assert aside_of(FIRST, beside, SCORED, has_typed=True) is None


def test_an_author_who_asked_first_does_not_replace_the_score_either() -> None:
    assert aside_of(AUTHOR, earlier(), Standing(AUTHOR, is_scored=True), has_typed=False) is Aside.AUTHOR
