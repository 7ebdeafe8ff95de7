import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from bot.domain.blocker import NO_TOKENS_LEFT, RefusedError, too_many
from bot.domain.case import CaseStatus
from bot.domain.limits import Limits
from bot.store import Store
from bot.store.schema import cases, spent
from tests.cases import a_case, a_verdict, held

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


async def rush(logs: list[Store], limits: Limits, count: int = 30) -> list[str | None]:
    """What becomes of cases that are all asked for at the same time, in several processes."""
    return await asyncio.gather(
        *(ask(logs[number % len(logs)], number, limits) for number in range(count))
    )


@pytest.mark.on("sqlite", "postgres")
async def test_a_rush_of_one_person_gets_what_is_allowed_and_no_more(logs: list[Store]) -> None:
    outcomes = await rush(logs, Limits(cases_per_user_per_hour=5))
    assert outcomes.count(None) == 5
    assert outcomes.count(too_many("You", 5, "in the last hour")) == 25
    assert await logs[0].cases.counts() == {CaseStatus.RECEIVED: 5}


async def test_teams_and_people_have_limits_of_their_own(log: Store) -> None:
    limits = Limits(cases_per_user_per_hour=1, cases_per_day=2)
    assert await ask(log, 1, limits) is None
    assert await ask(log, 2, limits, requester_id="U2") is None
    assert await ask(log, 3, limits, requester_id="U3") == too_many(
        "This workspace", 2, "in the last 24 hours"
    )
    assert await ask(log, 3, limits, team_id="T2") is None


async def test_limits_count_back_from_now(log: Store) -> None:
    limits = Limits(cases_per_user_per_hour=1, cases_per_day=2)
    for number, age in enumerate((timedelta(minutes=61), timedelta(hours=25))):
        await ask(log, number, Limits())
        await log.database.execute(
            update(cases)
            .where(cases.c.key == f"k{number}")
            .values(created_at=datetime.now(UTC) - age)
        )
    assert await ask(log, 2, limits) is None
    assert await ask(log, 3, limits) == too_many("You", 1, "in the last hour")
    assert await ask(log, 4, limits, requester_id="U2") == too_many(
        "This workspace", 2, "in the last 24 hours"
    )


async def test_the_same_case_again_counts_once(log: Store) -> None:
    limits = Limits(cases_per_user_per_hour=1)
    first, _ = await log.add(a_case(), None, limits)
    again, is_new = await log.add(a_case(), None, limits)
    assert (again.id, is_new) == (first.id, False)


@pytest.mark.on("sqlite", "postgres")
async def test_tokens_set_aside_are_given_back_once_it_is_known_what_a_case_took(
    log: Store,
) -> None:
    limits = Limits(tokens_per_day=1000, ratings=3)
    case, _ = await log.add(a_case(), None, limits)
    assert await ask(log, 2, limits) == NO_TOKENS_LEFT
    took = replace(a_verdict(), input_tokens=400, output_tokens=60)
    judged = await log.record(await held(log, case), took)
    assert await ask(log, 3, limits) is None  # 460 of 1,000; the new one sets 3,000 aside
    assert await ask(log, 4, limits) == NO_TOKENS_LEFT
    await log.note_delivered(judged)
    (newest,) = await log.cases.newest(1)
    await log.record(await held(log, newest), replace(took, input_tokens=600))
    assert await ask(log, 5, limits) == NO_TOKENS_LEFT  # 1,120


async def test_tokens_stay_set_aside_if_a_server_does_not_count_and_not_if_no_model_was_needed(
    log: Store,
) -> None:
    limits = Limits(tokens_per_day=1000)
    for number, (changes, said) in enumerate([({"ratings": ()}, None), ({}, NO_TOKENS_LEFT)]):
        case, _ = await log.add(a_case(team_id=f"T{number}"), None, limits)
        await log.record(await held(log, case), replace(a_verdict(), **changes))
        assert await ask(log, 2, limits, team_id=f"T{number}") == said


@pytest.mark.on("sqlite", "postgres")
async def test_cases_that_waited_for_their_questions_share_the_tokens_of_the_day(
    log: Store,
) -> None:
    limits = Limits(tokens_per_day=1000)
    waiting = []
    for number in range(3):
        case, _ = await log.add(a_case(key=f"k{number}", question=None), None, limits)
        waiting.append(await log.note_asked(await held(log, case)))  # which sets nothing aside
    await log.answer(waiting[0], "Why?", limits)
    for case in waiting[1:]:
        with pytest.raises(RefusedError):
            await log.answer(case, "Why?", limits)
    found = await log.cases.newest(3)
    assert [case.status for case in found] == [
        CaseStatus.RECEIVED,
        CaseStatus.ASKED,
        CaseStatus.ASKED,
    ]


@pytest.mark.parametrize(
    "limits",
    [Limits(cases_per_user_per_hour=1), Limits(cases_per_day=1), Limits(tokens_per_day=460)],
)
async def test_the_use_of_a_forgotten_case_counts_for_its_time(log: Store, limits: Limits) -> None:
    case, _ = await log.add(a_case(), None, limits)
    took = replace(a_verdict(), input_tokens=400, output_tokens=60)
    await log.note_delivered(await log.record(await held(log, case), took))
    assert list(await log.forgetting.forget([case.id], "U1")) == [case.id]
    assert await ask(log, 2, limits) is not None
    async with log.database.engine.begin() as connection:
        await connection.execute(
            update(spent).values(created_at=datetime.now(UTC) - timedelta(hours=25))
        )
    assert await ask(log, 3, limits) is None


async def test_a_forgotten_case_that_waited_for_its_question_took_no_tokens(log: Store) -> None:
    limits = Limits(tokens_per_day=460)
    case, _ = await log.add(a_case(question=None), None, limits)
    await log.note_asked(await held(log, case))
    await log.forgetting.forget([case.id], "U1")
    assert await ask(log, 2, limits) is None


def test_a_case_is_expected_to_take_what_its_texts_and_its_ratings_are() -> None:
    assert Limits(ratings=1).expected_tokens("Why?", "x" * 596) == 1200
    assert Limits(ratings=3).expected_tokens("Why?", "x" * 5996) == 9000
    assert Limits(ratings=1).expected_tokens(None, "x" * 1000) == 2000
