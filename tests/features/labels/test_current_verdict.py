from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from bot.domain.attempt import exclusion_of
from bot.domain.case import CaseStatus, Exclusion, LoggedCase, QuestionSource
from tests.cases import a_case
from tests.tables import each

FIRST = "U-first"
AUTHOR = "U-author"
OTHER = "U-other"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
NOTHING = ()
UNSCORED = ((FIRST, None),)
SCORED = ((FIRST, 4),)
ANOTHER = Exclusion.ANOTHER


def earlier(**changes: Any) -> LoggedCase:
    asked = a_case(author_id=AUTHOR, question_source=QuestionSource.TYPED).model_dump()
    return LoggedCase(
        **{**asked, "id": 1, "status": CaseStatus.DELIVERED, "created_at": NOW, **changes}
    )


EARLIER = earlier()
EDITED = earlier(edited_at=NOW)
OWN_QUESTION = earlier(edited_at=NOW, question_author_id=AUTHOR)
OTHER_QUESTION = earlier(excluded=ANOTHER)
FOUND_QUESTION = earlier(excluded=ANOTHER, question_source=QuestionSource.PARENT)


@each(
    ("case", "user_id", "counted", "has_chosen", "expected"),
    [
        (EARLIER, FIRST, SCORED, True, None),
        (EARLIER, OTHER, SCORED, False, ANOTHER),
        (EARLIER, OTHER, UNSCORED, False, None),
        (EARLIER, OTHER, UNSCORED, True, ANOTHER),
        (EARLIER, OTHER, NOTHING, True, None),
        (EDITED, OTHER, SCORED, False, None),
        (EDITED, OTHER, SCORED, True, ANOTHER),
        # An edit admits no others if the author wrote the question.
        (OWN_QUESTION, OTHER, SCORED, False, ANOTHER),
        # A verdict on another question stays excluded when it is repeated,
        (OTHER_QUESTION, FIRST, SCORED, False, ANOTHER),
        (OTHER_QUESTION, FIRST, SCORED, True, None),
        # but with the found question it counts by the person who asks.
        (FOUND_QUESTION, FIRST, SCORED, False, None),
        (FOUND_QUESTION, OTHER, SCORED, False, ANOTHER),
    ],
)
def test_whose_repeats_count(
    case: LoggedCase,
    user_id: str,
    counted: Sequence[tuple[str, int | None]],
    has_chosen: bool,
    expected: Exclusion | None,
) -> None:
    assert exclusion_of(user_id, case, counted, has_chosen, is_changed=False) is expected
