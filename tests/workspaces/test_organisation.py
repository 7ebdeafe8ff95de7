"""One installation for an Enterprise Grid organisation, which serves all its workspaces, also those
that join later.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from unittest.mock import ANY

import pytest
from sqlalchemy import insert

from bot.slack import ids
from bot.store.installations import Installations
from bot.store.jobs import submit_oldest
from bot.store.schema import cases, channels, digests, labels, watches
from pocket_slack import Person, installing
from tests.model_server import Held
from tests.stage import ANSWER, CHANNEL, GOOD, QUESTION
from tests.workspaces.conftest import ORGANISATION, Company
from tests.workspaces.test_installing import until


@pytest.fixture
def organisation() -> str | None:
    return ORGANISATION


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
        Person(org, name).command(
            CHANNEL, ids.COMMAND, f"What does {name} ask? | This is what {name} asked about."
        )
    await grid.slack.until(
        lambda: len([m for m in org.channel(CHANNEL).messages.values() if m.is_reply]) == 2
    )
    assert await grid.values(cases.c.team_id) == [org.enterprise_id] * 2
    assert list(await grid.bot.workspaces.team_ids()) == [org.enterprise_id]


async def test_a_workspace_that_removes_its_own_installation_does_not_end_it(
    grid: Company, let_pass: Callable[[float], None]
) -> None:
    org = grid.workspaces[0]
    assert await grid.bot.workspaces.find(org.enterprise_id, org.team_id)
    let_pass(61)  # so that Slack is asked again, but the token died before its word of it
    org.dead_tokens[str(org.bot_token)] = installing.GONE
    body = {
        "enterprise_id": org.enterprise_id,
        "team_id": org.team_id,
        "event": {"type": "app_uninstalled"},
    }
    await grid.bot.workspaces.door(body)
    assert list(await grid.bot.workspaces.team_ids()) == [org.enterprise_id]
    await grid.bot.workspaces.door(body | {"is_enterprise_install": True})
    assert list(await grid.bot.workspaces.team_ids()) == []


async def test_its_people_are_at_home_in_all_its_workspaces_and_others_are_not(
    grid: Company,
) -> None:
    org = grid.workspaces[0]
    zoe = org.add_user("zoe", team_id=org.add_team())
    eve = org.add_user("eve", team_id="T9ELSEWHERE")
    org.channel(CHANNEL).members += [zoe.id, eve.id]
    parent = grid.ask_for_score(org)
    verdict = await grid.verdict(org, parent)
    for name in ("eve", "zoe"):
        Person(org, name).click(verdict, ids.ACTION_AGREE)
    await grid.slack.until(
        lambda: all(Person(org, name).ephemerals(CHANNEL) for name in ("eve", "zoe"))
    )
    assert await grid.values(labels.c.user_id) == [zoe.id]


async def test_an_app_of_another_of_its_workspaces_is_known_as_one(company: Company) -> None:
    org = company.workspaces[0]
    pager = org.add_webhook("pager")
    pager.team_id = org.add_team()
    _ = org.add_team()
    async with company.running():
        assert await company.install(org) == 200
        parent = Person(org, "ann").post(CHANNEL, QUESTION)
        answer = Person(org, "pager").post(CHANNEL, ANSWER, thread_ts=parent.ts)
        Person(org, "ann").shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
        await company.verdict(org, parent)
        assert await company.values(cases.c.excluded) == [None]


@pytest.fixture
async def joining(company: Company) -> AsyncIterator[Company]:
    """A workspace that has the app alone, has become one of an organisation, and has it alone
    still.
    """
    async with company.running():
        assert await company.install(company.workspaces[0]) == 200
        yield company


async def post_digests(company: Company, team_id: str) -> None:
    """Does what a running bot does every minute."""
    work = await company.bot.workspaces.work_of(team_id)
    await next(each.run() for each in work.periodic_jobs if each.name == "post_due_digests")


@pytest.mark.parametrize("organisation", [None])
async def test_a_workspace_goes_on_under_its_organisation_with_all_that_it_had(
    joining: Company,
) -> None:
    ws = joining.workspaces[0]
    workspaces = joining.bot.workspaces
    database = joining.store.database
    place = {"team_id": ws.team_id, "channel_id": ws.channel(CHANNEL).id}
    gate = asyncio.Event()
    joining.model.script(GOOD, Held(gate, GOOD))
    first = joining.ask_for_score(ws)
    verdict = await joining.verdict(ws, first)
    Person(ws, "ann").click(verdict, ids.ACTION_AGREE)
    await joining.slack.until(lambda: Person(ws, "ann").ephemerals(CHANNEL))
    second = joining.ask_for_score(ws, "And how do I undo two?")
    await joining.model.asked(2)
    now = datetime.now(UTC)
    on = {"is_digest_on": True, "digest_since": now - timedelta(days=30)}
    await database.execute(insert(channels).values(place | on))
    watch = {"author_id": "U9", "shows": "nothing", "share": 1.0, "per_day": 9}
    await database.execute(
        insert(watches).values(
            place | watch | dict.fromkeys(("since", "look_at", "read_until"), now)
        )
    )
    await post_digests(joining, ws.team_id)

    ws.join(ORGANISATION)
    assert await joining.install(ws) == 200
    ws.dead_tokens[str(ws.own_token)] = (
        installing.GONE
    )  # what it had alone is removed before anything else happens
    await workspaces.door(
        {"enterprise_id": ORGANISATION, "team_id": ws.team_id, "event": {"type": "app_uninstalled"}}
    )
    gate.set()

    assert not await joining.store.forgetting.stored([ws.team_id])
    assert [each.team_id for each in await Installations(database).all()] == [ORGANISATION]

    async def is_settled() -> bool:
        await submit_oldest(database, ORGANISATION)  # as every minute
        return bool(joining.verdicts(ws, second))

    await until(is_settled)
    await post_digests(joining, ORGANISATION)
    third = joining.ask_for_score(ws, "And three?")
    await joining.verdict(ws, third)
    assert [
        m.text
        for m in ws.channel(CHANNEL).messages.values()
        if m.author is ws.bot and not m.is_reply
    ] == [ANY]
    assert [len(joining.verdicts(ws, each)) for each in (first, second, third)] == [1, 1, 1]
    for table, number in ((cases, 3), (labels, 1), (channels, 1), (watches, 1), (digests, 1)):
        assert await joining.values(table.c.team_id) == [ORGANISATION] * number


@pytest.mark.parametrize("organisation", [None])
async def test_people_of_ones_own_organisation_are_at_home_where_one_workspace_has_the_app(
    company: Company,
) -> None:
    ws = company.workspaces[0]
    async with company.running():
        assert await company.install(ws) == 200
    ws.join(ORGANISATION)
    zoe = ws.add_user("zoe", team_id=ws.add_team())
    ws.channel(CHANNEL).members.append(zoe.id)
    async with company.running():
        parent = Person(ws, "ann").post(CHANNEL, QUESTION)
        Person(ws, "helper").post(CHANNEL, ANSWER, thread_ts=parent.ts)
        Person(ws, "zoe").post(CHANNEL, "@Slack Judge score this", thread_ts=parent.ts)
        await company.verdict(ws, parent)
