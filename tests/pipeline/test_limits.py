import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from bot.domain.blocker import RefusedError, too_many
from bot.domain.case import CaseStatus
from bot.domain.limits import Limits
from bot.store import Store
from bot.store.schema import spent
from tests.cases import a_case, delivered

pytestmark = pytest.mark.on("sqlite")


@pytest.fixture
async def logs(database_url: str) -> AsyncIterator[list[Store]]:
    """The store as several processes have it; SQLite has one alone."""
    opened = [
        await Store.open(database_url) for _ in range(1 if database_url.startswith("sqlite") else 3)
    ]
    yield opened
    for log in opened:
        await log.close()


@pytest.fixture
async def log(logs: list[Store]) -> Store:
    return logs[0]


async def ask(log: Store, number: int, limits: Limits, **changes: Any) -> str | None:
    """Why a case is refused; None where it is not."""
    try:
        _, is_new = await log.add(a_case(key=f"k{number}", **changes), None, limits)
    except RefusedError as exc:
        return str(exc)
    assert is_new
    return None


@pytest.mark.on("sqlite", "postgres")
async def test_a_rush_of_one_person_gets_what_is_allowed_and_no_more(logs: list[Store]) -> None:
    """All at the same time, in several processes."""
    limits = Limits(cases_per_user_per_hour=5)
    outcomes = await asyncio.gather(
        *(ask(logs[number % len(logs)], number, limits) for number in range(30))
    )
    assert outcomes.count(None) == 5
    assert outcomes.count(too_many("You", 5, "in the last hour")) == 25
    assert await logs[0].cases.counts() == {CaseStatus.RECEIVED: 5}


async def test_people_teams_and_all_together_have_limits_of_their_own(log: Store) -> None:
    limits = Limits(cases_per_user_per_hour=1, cases_per_day=2, cases_per_day_in_all=3)
    assert await ask(log, 1, limits) is None
    assert await ask(log, 2, limits, requester_id="U2") is None
    of_team = too_many("This workspace", 2, "in the last 24 hours")
    assert await ask(log, 3, limits, requester_id="U3") == of_team
    assert await ask(log, 3, limits, team_id="T2") is None
    in_all = too_many("All workspaces", 3, "in the last 24 hours")
    assert await ask(log, 4, limits, team_id="T3") == in_all


async def test_limits_count_back_from_now(log: Store) -> None:
    limits = Limits(cases_per_user_per_hour=1, cases_per_day=2)
    for number, age in enumerate((timedelta(minutes=61), timedelta(hours=25))):
        await delivered(log, f"k{number}", age, requester_id="U1")
    assert await ask(log, 2, limits) is None
    assert await ask(log, 3, limits) == too_many("You", 1, "in the last hour")
    of_team = too_many("This workspace", 2, "in the last 24 hours")
    assert await ask(log, 4, limits, requester_id="U2") == of_team


async def test_the_same_case_again_counts_once(log: Store) -> None:
    limits = Limits(cases_per_user_per_hour=1)
    first, _ = await log.add(a_case(), None, limits)
    again, is_new = await log.add(a_case(), None, limits)
    assert (again.id, is_new) == (first.id, False)


async def test_the_use_of_a_forgotten_case_counts_for_its_time(log: Store) -> None:
    case = await delivered(log)
    assert list(await log.forgetting.forget([case.id], "U1")) == [case.id]
    of_person, of_team = (Limits(cases_per_user_per_hour=1), Limits(cases_per_day=1))
    for limits in (of_person, of_team):
        assert await ask(log, 2, limits) is not None
    a_day_ago = datetime.now(UTC) - timedelta(hours=25)
    await log.database.execute(update(spent).values(created_at=a_day_ago))
    assert await ask(log, 2, of_team) is None
