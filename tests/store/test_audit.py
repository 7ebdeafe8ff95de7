"""What the store notes of who did what: with the change, or not at all."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import DDL
from sqlalchemy.exc import DBAPIError

from bot.store import Store
from bot.store.audit import Action
from bot.store.channels import ChannelSettings
from tests.cases import BEGUN_AT, delivered, noted, numbers, put_back

CHOSEN = ChannelSettings("T1", "C1")


async def refuse_to_note(log: Store) -> None:
    """Has the database refuse the next row of the audit; in PostgreSQL this goes with the
    connection.
    """
    refusing = "CREATE TRIGGER held BEFORE INSERT ON audit"
    if log.database.is_sqlite:
        statements = [f"{refusing} BEGIN SELECT RAISE(ABORT, 'held'); END"]
    else:
        held = "CREATE FUNCTION pg_temp.held() RETURNS trigger LANGUAGE plpgsql AS"
        statements = [f"{held} 'BEGIN RAISE ''held''; END'"]
        statements += [f"{refusing} FOR EACH ROW EXECUTE FUNCTION pg_temp.held()"]
    async with log.database.engine.begin() as connection:
        for statement in statements:
            await connection.execute(DDL(statement))


@pytest.mark.on("sqlite")
async def test_a_change_of_settings_is_noted_as_what_it_changed(log: Store) -> None:
    on = {"is_digest_on": True}
    for changes in (on, on, {"digest_day": "friday"}, {"is_digest_on": False}):
        await log.channels.save("T1", "C1", "U1", **changes)
    what = [what for _, what, _ in await noted(log)]
    assert what == [Action.DIGEST_ON, Action.DIGEST_CHANGED, Action.DIGEST_OFF]


async def test_changes_at_the_same_time_are_all_kept_and_each_noted_by_its_own_person(
    log: Store,
) -> None:
    save = partial(log.channels.save, "T1", "C1")
    on = {"is_digest_on": True, "digest_since": BEGUN_AT}
    await asyncio.gather(
        save("U0", **on), save("U1", labels_per_week=3), save("U2", score_reaction="eyes")
    )
    await save("U3", is_digest_on=True, digest_since=BEGUN_AT + timedelta(days=1))
    kept = replace(CHOSEN, **on, labels_per_week=3, score_reaction="eyes")
    assert await log.channels.of("T1", "C1") == kept
    assert set(await noted(log)) == {
        ("U0", "digest_on", "C1"),
        ("U1", "labels_changed", "C1"),
        ("U2", "reaction_changed", "C1"),
    }


@pytest.mark.on("sqlite")
async def test_a_purge_is_noted_for_each_team_with_its_number(log: Store) -> None:
    for key, team in (("a", "T1"), ("b", "T1"), ("c", "T2")):
        await delivered(log, key, timedelta(days=40), team_id=team)
    await log.forgetting.forget_older(BEGUN_AT, by="os:root")
    found = [(act.team_id, act.who, act.what, act.cases) for act in await log.audit.since()]
    assert sorted(found) == [("T1", "os:root", "purged", 2), ("T2", "os:root", "purged", 1)]


async def test_where_nothing_can_be_noted_nothing_is_changed(log: Store) -> None:
    case = await delivered(log)
    await put_back(log, case, timedelta(days=40))
    await refuse_to_note(log)
    for change in (
        log.forgetting.forget([case.id], "U1"),
        log.forgetting.forget_older(BEGUN_AT, by="os:root"),
        log.channels.save("T1", "C1", "U1", labels_per_week=3),
    ):
        with pytest.raises(DBAPIError, match="held"):
            await change
    assert await numbers(log) == [case.id]
    assert await log.channels.of("T1", "C1") == CHOSEN
