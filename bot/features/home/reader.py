"""What the Home tab shows of one person: their own cases, and who sees their verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.case import Visibility
from bot.feature import Services
from bot.pipeline.own_cases import ListedCase

MOST_CASES = 5
_ASKED_FOR = timedelta(days=1)
"""How long a case waits here for its question; by then its window is long closed, and its person does not come back."""


@dataclass(frozen=True)
class Own:
    """A person's own part of their Home tab.

    Attributes:
        cases: Their newest cases.
        has_older: Whether there are older ones.
        visibility: Who sees their verdicts, as they chose it; None: as the workspace has it.
        made_at: When this was.
    """

    cases: Sequence[ListedCase]
    has_older: bool
    visibility: Visibility | None
    made_at: datetime


async def read_own(services: Services, team_id: str, user_id: str) -> Own:
    """A person's own part of their Home tab."""
    now = services.clock()
    found = await services.store.recent.of(team_id, user_id, MOST_CASES + 1, asked_since=now - _ASKED_FOR)
    visibility = await services.store.people.visibility(team_id, user_id)
    cases = await services.own_cases.listed(found[:MOST_CASES], user_id)
    return Own(cases, len(found) > MOST_CASES, visibility, now)
