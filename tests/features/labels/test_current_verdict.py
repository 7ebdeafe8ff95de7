from datetime import UTC, datetime

from bot.domain.attempt import exclusion_of
from bot.domain.case import CaseStatus, Exclusion, LoggedCase, QuestionSource
from tests.cases import a_case
from tests.tables import each

FIRST = "U-first"
AUTHOR = "U-author"
OTHER = "U-other"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
NOTHING = (None, False)
UNSCORED = (FIRST, False)
SCORED = (FIRST, True)


def earlier(excluded: Exclusion | None = None, edited_at: datetime | None = None) -> LoggedCase:
    asked = a_case(
        author_id=AUTHOR, excluded=excluded, question_source=QuestionSource.TYPED
    ).model_dump()
    return LoggedCase(
        **asked, id=1, status=CaseStatus.DELIVERED, created_at=NOW, edited_at=edited_at
    )


@each(
    ("user_id", "current", "has_chosen", "is_edited", "expected"),
    [
        (FIRST, SCORED, False, False, None),
        (FIRST, SCORED, True, False, None),
        (OTHER, SCORED, False, False, Exclusion.ANOTHER),
        (OTHER, SCORED, False, True, None),
        (OTHER, SCORED, True, True, Exclusion.ANOTHER),
        (OTHER, UNSCORED, False, False, None),
        (OTHER, UNSCORED, True, False, Exclusion.ANOTHER),
        (OTHER, NOTHING, True, False, None),
    ],
)
def test_whose_repeats_count(
    user_id: str,
    current: tuple[str | None, bool],
    has_chosen: bool,
    is_edited: bool,
    expected: Exclusion | None,
) -> None:
    case = earlier(edited_at=NOW if is_edited else None)
    assert exclusion_of(user_id, case, *current, has_chosen=has_chosen) is expected


def test_a_verdict_on_another_question_stays_excluded_when_it_is_repeated() -> None:
    beside = earlier(excluded=Exclusion.ANOTHER)
    assert beside.question_source is QuestionSource.TYPED
    assert exclusion_of(FIRST, beside, *SCORED, has_chosen=False) is Exclusion.ANOTHER
    assert exclusion_of(FIRST, beside, *SCORED, has_chosen=True) is None


def test_a_repeat_with_the_found_question_counts_by_the_person_who_asks() -> None:
    beside = earlier(excluded=Exclusion.ANOTHER).model_copy(
        update={"question_source": QuestionSource.PARENT}
    )
    assert exclusion_of(FIRST, beside, *SCORED, has_chosen=False) is None
    assert exclusion_of(OTHER, beside, *SCORED, has_chosen=False) is Exclusion.ANOTHER
    assert exclusion_of(OTHER, beside, *NOTHING, has_chosen=False) is None


def test_an_edit_does_not_admit_others_if_the_author_wrote_the_question() -> None:
    own = earlier(edited_at=NOW).model_copy(update={"question_author_id": AUTHOR})
    assert exclusion_of(OTHER, own, *SCORED, has_chosen=False) is Exclusion.ANOTHER
    assert exclusion_of(FIRST, own, *SCORED, has_chosen=False) is None
