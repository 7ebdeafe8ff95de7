"""Whose repeats of a verdict count: nobody is to change their own score, or one that another asked for."""

from dataclasses import dataclass

from bot.domain.case import Aside, LoggedCase, QuestionSource


@dataclass(frozen=True)
class Standing:
    """What counts so far for a reply: who asked for the first verdict on it, and whether one of them is a score."""

    first_requester_id: str
    is_scored: bool


def aside_of_first(user_id: str, author_id: str | None) -> Aside | None:
    """Why the verdict on a reply of this author stands aside, although nobody has asked for one before."""
    return Aside.AUTHOR if user_id == author_id else None


def aside_of(user_id: str, earlier: LoggedCase, standing: Standing | None, *, has_typed: bool) -> Aside | None:
    """Why a verdict that this person asks for once more stands aside; None where it replaces the earlier one.

    Whoever asked first, the reply's author aside, may repeat and correct it. Others may where there is no score yet, or
    where the text has been edited since, unless the question is the author's, too: it may be that which was edited.
    `has_typed`: the question is that person's own, which is as good as a score of one's own, so it never takes
    another's place; nor does it when somebody else repeats it.
    """
    if user_id == earlier.author_id:
        return Aside.AUTHOR
    if earlier.aside and earlier.question_source is QuestionSource.TYPED and not has_typed:
        return earlier.aside
    if standing is None or user_id == standing.first_requester_id:
        return None
    is_edited = earlier.edited_at is not None and earlier.question_author_id != earlier.author_id
    return Aside.ANOTHER if has_typed or (standing.is_scored and not is_edited) else None
