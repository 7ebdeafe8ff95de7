"""Installing by OAuth: again, with a stolen state, with a strange answer; and what is left after
the app is gone.
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from sqlalchemy import insert, select, update

from bot.domain.case import CaseStatus
from bot.errors import StoreError
from bot.store.installations import DATA_KEPT, STATE_LASTS, Installations, OAuthStates, TokenKeys
from bot.store.jobs import submit_oldest
from bot.store.schema import channels, installations, oauth_states
from pocket_slack import Person, installing
from tests.cases import add, newest
from tests.model_server import Held
from tests.patience import ONLY_A_HANG_S
from tests.programs import run
from tests.stage import CHANNEL, GOOD
from tests.workspaces.conftest import KEY, Company


async def stored(company: Company) -> list[Any]:
    query = select(installations).order_by(installations.c.team_id)
    return list(await company.store.database.all(query))


async def until(condition: Any) -> None:
    async with asyncio.timeout(ONLY_A_HANG_S):
        while not await condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_token_is_stored_encrypted_and_installing_again_keeps_one(both: Company) -> None:
    first, second = both.workspaces
    ann = Person(first, "ann")
    await both.slack.until(lambda: len(ann.messages(ann.im)) == 2)
    assert second.team_id in ann.messages(ann.im)[-1].text  # who installed first hears of others
    assert await both.install(first) == 200
    rows = await stored(both)
    assert [row.team_id for row in rows] == [each.team_id for each in both.workspaces]
    assert not any(first.bot_token in str(value) for row in rows for value in row)
    parent = both.ask_for_score(first)
    await both.verdict(first, parent)


async def test_a_state_is_of_no_use_in_another_browser_and_only_once(both: Company) -> None:
    async with aiohttp.ClientSession() as session:
        asked = await both.begin(session)
        back = await both.approve(session, asked, both.workspaces[0])
        state = asked.query["state"]
        assert await both.finish(session, back, cookie=None) == 400
        assert await both.finish(session, back, cookie="another") == 400
        assert await both.finish(session, back, cookie=state) == 200
        again = await both.approve(session, asked, both.workspaces[0])
        assert await both.finish(session, again, cookie=state) == 401
        # The admin's pages send the browser without one: it begins again.
        without = back.without_query_params("state")
        assert await both.finish(session, without, cookie=None) == 302


async def test_a_state_is_stored_once_it_is_used_and_of_no_use_after_ten_minutes(
    company: Company,
) -> None:
    async with company.running(), aiohttp.ClientSession() as session:
        for _ in range(3):
            await company.begin(session)
        # The page confirms an installation of which nobody could be told.
        company.slack.fail("chat.postMessage", error="internal_error")
        assert await company.install(company.workspaces[0]) == 200
        assert len(await stored(company)) == 1
        assert len(await company.values(oauth_states.c.state)) == 1
        earlier = int(time.time() - STATE_LASTS.total_seconds()) - 1
        old = Fernet(KEY).encrypt_at_time(b"a state", earlier).decode().rstrip("=")
        states = OAuthStates(company.store.database, TokenKeys([KEY]))
        assert not await states.async_consume(old)
        assert not await states.async_consume("no state of ours")
        assert await states.async_consume(await states.async_issue())


async def test_a_workspace_that_is_not_allowed_is_told_so_and_not_stored(company: Company) -> None:
    first, stranger = company.workspaces
    async with company.running(workspaces_allowed=frozenset([first.team_id])):
        assert await company.install(first) == 200
        assert await company.install(stranger) == 403
        assert [row.team_id for row in await stored(company)] == [first.team_id]


async def test_a_workspace_that_is_no_longer_allowed_is_not_served_and_named_in_the_log(
    both: Company, capfd: pytest.CaptureFixture[str]
) -> None:
    database = both.store.database
    second = both.workspaces[1]
    allowed = Installations(database, allowed=frozenset([second.team_id]))
    assert list(await allowed.current()) == [second.team_id]
    await Installations(database, TokenKeys([KEY]), frozenset(["E1"])).renew()
    assert "install it again" in capfd.readouterr().out


async def test_who_installed_is_told_once_that_no_verdict_has_had_a_score_for_an_hour(
    both: Company,
) -> None:
    first, second = both.workspaces
    store = both.store
    for minutes in (65, 1):
        at = datetime.now(UTC) - timedelta(minutes=minutes)
        failed = {"score": None, "unscored_reason": "KeyRejectedError"}
        await add(store, at=at, team_id=second.team_id, **failed)
    for _ in range(2):
        await both.do_periodic("tell_outages")
    ann = Person(second, "ann")
    said = [message.text for message in ann.messages(ann.im)]
    assert [text for text in said if "rejects the app's key" in text] == said[-1:]
    first_ann = Person(first, "ann")
    assert not [each for each in first_ann.messages(first_ann.im) if "had a score" in each.text]


async def test_an_answer_for_another_app_and_a_late_word_of_an_uninstall_change_nothing(
    both: Company,
) -> None:
    first = both.workspaces[0]
    before = int(datetime.now(UTC).timestamp()) - 60
    body = {"team_id": first.team_id, "event_time": before, "event": {"type": "app_uninstalled"}}
    await both.bot.workspaces.door(body)
    assert (await stored(both))[0].token
    both.workspaces[0].app_id = "A99999999"
    assert await both.install(both.workspaces[0]) == 403
    assert {row.app_id for row in await stored(both)} == {both.workspaces[1].app_id}


async def test_an_uninstall_in_mid_case_ends_it_there_and_a_reinstall_finishes_it(
    both: Company,
) -> None:
    first, second = both.workspaces
    gate = asyncio.Event()
    both.model.script(Held(gate, GOOD), GOOD)
    parent = both.ask_for_score(first)
    await both.model.asked(1)
    for team in (first, second):
        values = {"team_id": team.team_id, "channel_id": "C1", "is_digest_on": True}
        await both.store.database.execute(insert(channels).values(values))
    installing.uninstall(first)

    async def is_gone() -> bool:
        return (await stored(both))[0].token is None

    await until(is_gone)
    gate.set()
    others = both.ask_for_score(second)
    await both.verdict(second, others)
    on = select(channels.c.team_id).where(channels.c.is_digest_on)
    assert await both.store.database.values(on) == [second.team_id]
    assert both.verdicts(first, parent) == []
    assert await both.install(first) == 200
    first.channel(CHANNEL).members.append(first.bot.id)
    await submit_oldest(both.store.database, first.team_id)  # as every minute
    await both.verdict(first, parent)


async def test_a_token_that_dies_in_mid_case_harms_no_other_workspace(both: Company) -> None:
    first, second = both.workspaces
    gate = asyncio.Event()
    both.model.script(Held(gate, GOOD), GOOD)
    parent = both.ask_for_score(first)
    await both.model.asked(1)
    first.dead_tokens[first.bot_token] = installing.REVOKED  # and Slack's word of it is lost
    gate.set()
    others = both.ask_for_score(second)
    await both.verdict(second, others)
    assert both.verdicts(first, parent) == []
    assert await both.install(first) == 200
    case = await both.store.cases.get(1)
    assert case.status is not CaseStatus.DELIVERED


async def test_data_of_a_workspace_that_left_is_deleted_after_a_month(both: Company) -> None:
    first, second = both.workspaces
    for each in both.workspaces:
        parent = both.ask_for_score(each)
        await both.verdict(each, parent)
    store = both.store
    await Installations(store.database).end(first.team_id)
    await both.do_periodic("forget_workspaces")
    assert len(await newest(store, 10)) == 2
    old = update(installations).where(installations.c.left_at.is_not(None))
    await store.database.execute(old.values(left_at=datetime.now(UTC) - DATA_KEPT))
    await both.do_periodic("forget_workspaces")
    assert {case.team_id for case in await newest(store, 10)} == {second.team_id}
    assert [row.team_id for row in await stored(both)] == [second.team_id]


async def test_a_lost_key_is_said_and_nothing_is_deleted(company: Company) -> None:
    async with company.running():
        await company.install(company.workspaces[0])
    other = (SecretStr(Fernet.generate_key().decode()),)
    with pytest.raises(StoreError, match="TOKEN_KEYS: these keys read none of the 1 installations"):
        async with company.running(token_keys=other):
            pass
    async with company.running(token_keys=(*other, SecretStr(KEY))):  # the newest first
        await company.bot.workspaces.find(None, company.workspaces[0].team_id)
    async with company.running(token_keys=other):
        assert await company.bot.workspaces.find(None, company.workspaces[0].team_id)


async def test_the_command_lists_and_removes_installations_without_tokens(both: Company) -> None:
    first = both.workspaces[0]
    env = {"DATABASE_URL": f"sqlite+aiosqlite:///{both.folder}/log.db"}
    code, said, wrong = await run("installations", env, both.folder, "list")
    assert not wrong
    assert (code, said.count("workspace")) == (0, 2)
    assert first.bot_token not in said
    code, said, _ = await run("installations", env, both.folder, "remove", first.team_id)
    assert code == 0
    assert (await stored(both))[0].token is None
