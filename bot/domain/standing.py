"""Whose repeats of a verdict count: nobody is to change their own score, or one that another asked for."""

from dataclasses import dataclass

from bot.domain.case import Aside, LoggedCase


@dataclass(frozen=True)
class Standing:
    """What counts so far for a reply: who asked for the first verdict on it, and whether one of them is a score."""

    first_requester_id: str
    is_scored: bool


def aside_of(user_id: str, earlier: LoggedCase, standing: Standing | None, *, has_typed: bool) -> Aside | None:
    """Why a verdict that this person asks for once more stands aside; None where it replaces the earlier one.

    Whoever asked first may repeat and correct it. Others may where there is no score yet, or where the text has been
    edited since; the reply's author only where there is no score yet. `has_typed`: the question is that person's own,
    which is as good as a score of one's own, so it never takes another's place.
    """
    if earlier.aside and not has_typed:
        return earlier.aside
    replaces_score = standing is not None and standing.is_scored
    if user_id == earlier.author_id:
        return Aside.AUTHOR if has_typed or replaces_score else None
    if standing is None or user_id == standing.first_requester_id:
        return None
    return Aside.ANOTHER if has_typed or (replaces_score and not earlier.edited_at) else None
