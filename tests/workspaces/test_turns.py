"""A workspace with a long queue does not keep another one waiting."""

import asyncio
from datetime import UTC, datetime

import pytest
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseSource, CaseStatus, Visibility
from bot.slack import ids
from bot.store.jobs import submit_all
from bot.store.schema import cases
from pocket_slack import Person
from tests.cases import a_row
from tests.model_server import Held
from tests.stage import CHANNEL, GOOD, is_verdict
from tests.workspaces.conftest import Company

MANY = 250


@pytest.mark.slow
async def test_a_single_case_waits_for_no_more_than_a_hundred_of_another_workspace(
    company: Company, postgres_url: str
) -> None:
    first, second = company.workspaces
    gate = asyncio.Event()
    company.model.script(Held(gate, GOOD), GOOD)
    limits = {"judge_concurrency": 1, "max_cases_per_user_per_hour": 0, "max_cases_per_day": 0}
    async with company.running(database_url=postgres_url, **limits) as bot:
        for each in company.workspaces:
            await company.install(each)
        row = a_row(
            team_id=first.team_id,
            source=CaseSource.TEXT,
            visibility=Visibility.ME,
            question="What is it?",
            response="It is this.",
            status=CaseStatus.RECEIVED,
            created_at=datetime.now(UTC),
        )
        # Nobody has asked twice, and no channel twice: within a workspace all these are equal.
        rows = [
            row | {"key": f"k{n}", "channel_id": f"C9{n}", "requester_id": f"U9{n}"}
            for n in range(MANY)
        ]

        async def add(connection: AsyncConnection) -> None:
            await connection.execute(insert(cases), rows)

        await bot.services.store.database.write(add)
        await submit_all(bot.services.store.database, first.team_id)
        await company.model.asked(1)
        said = Person(second, "ann").command(
            CHANNEL, ids.COMMAND, "And this? | This is in the other workspace."
        )
        await company.slack.settled(said)
        gate.set()
        await company.slack.until(
            lambda: any(map(is_verdict, second.channel(CHANNEL).messages.values()))
        )
        asked = [
            "This is in the other workspace." in str(request["messages"])
            for request in company.model.requests
        ]
        assert asked.index(True) <= 104  # two may be in hand before the first is answered
