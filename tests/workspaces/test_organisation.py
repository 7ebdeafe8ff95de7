"""One installation for an Enterprise Grid organisation, which serves all its workspaces, also those that join later."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select

from bot.slack import ids
from bot.store.schema import cases, labels
from pocket_slack import Person
from tests.gestures import agree
from tests.stage import ANSWER, CHANNEL, QUESTION
from tests.workspaces.conftest import Company


@pytest.fixture
def organisation() -> str | None:
    return "E0000000A"


@pytest.fixture
async def grid(company: Company) -> AsyncIterator[Company]:
    async with company.running():
        assert await company.install(company.workspaces[0]) == 200
        yield company


async def test_a_channel_that_its_workspaces_share_is_counted_once(grid: Company) -> None:
    org = grid.workspaces[0]
    later = org.add_team()  # after the app was installed
    org.channel(CHANNEL).members.append(org.add_user("zoe", team_id=later).id)
    for name in ("ann", "zoe"):
        Person(org, name).command(CHANNEL, ids.COMMAND, f"What does {name} ask? | This is what {name} asked about.")
    await grid.slack.until(lambda: len([m for m in org.channel(CHANNEL).messages.values() if m.is_reply]) == 2)
    rows = await grid.bot.store.database.all(select(cases.c.team_id))
    assert [row.team_id for row in rows] == [org.enterprise_id] * 2
    assert list(await grid.bot.workspaces.team_ids()) == [org.enterprise_id]


async def test_a_workspace_that_removes_its_own_installation_does_not_end_it(grid: Company) -> None:
    org = grid.workspaces[0]
    body = {"enterprise_id": org.enterprise_id, "team_id": org.team_id, "event": {"type": "app_uninstalled"}}
    await grid.bot.workspaces.door(body)
    assert list(await grid.bot.workspaces.team_ids()) == [org.enterprise_id]
    await grid.bot.workspaces.door(body | {"is_enterprise_install": True})
    assert list(await grid.bot.workspaces.team_ids()) == []


async def test_its_people_are_at_home_in_all_its_workspaces_and_others_are_not(grid: Company) -> None:
    org = grid.workspaces[0]
    zoe, eve = org.add_user("zoe", team_id=org.add_team()), org.add_user("eve", team_id="T9ELSEWHERE")
    org.channel(CHANNEL).members += [zoe.id, eve.id]
    parent = grid.ask_for_score(org)
    (verdict,) = await grid.slack.until(lambda: grid.verdicts(org, parent))
    for name in ("eve", "zoe"):
        Person(org, name).click(verdict, ids.ACTION_AGREE, agree())
    await grid.slack.until(lambda: all(Person(org, name).ephemerals(CHANNEL) for name in ("eve", "zoe")))
    rows = await grid.bot.store.database.all(select(labels.c.user_id))
    assert [row.user_id for row in rows] == [zoe.id]


async def test_an_app_of_another_of_its_workspaces_is_known_as_one(grid: Company) -> None:
    org = grid.workspaces[0]
    pager = org.add_webhook("pager")
    pager.team_id = org.add_team()
    parent = Person(org, "ann").post(CHANNEL, QUESTION)
    answer = Person(org, "pager").post(CHANNEL, ANSWER, thread_ts=parent.ts)
    Person(org, "ann").shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    await grid.slack.until(lambda: grid.verdicts(org, parent))
    rows = await grid.bot.store.database.all(select(cases.c.excluded))
    assert [row.excluded for row in rows] == [None]
