"""The standings of assistants, as the store keeps them; on both databases."""

from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest
from sqlalchemy import select

from bot.domain.standing import Standing, Subject, Whose
from bot.store import Store
from bot.store.schema import cases, releases
from bot.store.schema import standings as table
from bot.store.standings import Standings
from judge.evaluation.standing import Direction, Event
from tests.cases import NOW, a_row

FIRST = Standing(
    team_id="T1",
    channel_id="",
    author_id="B1",
    lowest=0,
    highest=5,
    version="m 1",
    direction=Direction.STEADY,
    event=None,
    stored_at=NOW,
    looked_at=NOW,
    level=3.6,
    n=240,
)
LOWER = replace(
    FIRST,
    direction=Direction.LOWER,
    event=Event.BEGAN,
    since=date(2026, 11, 16),
    begun_on=date(2026, 11, 16),
    step=-0.7,
    ended=("2026-10-01",),
    whose=Whose.ASSISTANT,
    is_to_tell=True,
    follows=1,
)


@pytest.fixture
def standings(log: Store) -> Standings:
    return Standings(log.database)


@pytest.mark.on("sqlite")
async def test_the_newest_row_of_a_subject_is_its_standing(standings: Standings) -> None:
    private = replace(FIRST, channel_id="C1")
    for row in (FIRST, private, LOWER, replace(FIRST, team_id="T2")):
        await standings.begin(row)
    found = await standings.of_team("T1")
    assert {subject: replace(row, id=0) for subject, row in found.items()} == {
        Subject("T1", "", "B1"): LOWER,
        Subject("T1", "C1", "B1"): private,
    }


async def test_of_processes_that_find_the_same_only_the_first_stores_it(
    log: Store, standings: Standings
) -> None:
    await add_scores(log, NOW)
    await standings.begin(FIRST)
    effect = replace(LOWER, release_id=7, follows=None)
    for step in (-0.7, -0.8):
        await standings.begin(replace(LOWER, step=step))
        await standings.begin(replace(effect, step=step))
    await standings.begin_with_judge(LOWER, "m 1", NOW, ["C1"])
    rows = await log.database.all(select(table.c.step, table.c.follows).order_by(table.c.id))
    assert rows == [(None, 0), (-0.7, 1), (-0.7, None)]
    assert await log.database.values(select(cases.c.judge_version)) == ["m 1"]


async def add_scores(log: Store, *moments: datetime) -> None:
    written = {"team_id": "T1", "channel_id": "C1", "author_id": "B1", "judge_version": "m 1"}
    for at in moments:
        row = a_row(**written, key=str(at), created_at=NOW, judged_at=at)
        await log.database.execute(cases.insert().values(row))


@pytest.mark.on("sqlite")
async def test_a_later_look_keeps_that_a_change_was_told(standings: Standings) -> None:
    await standings.begin(LOWER)
    (untold,) = await standings.untold("T1")
    await standings.note_told(untold, NOW)
    await standings.go_on(replace(untold, level=2.9, looked_at=NOW + timedelta(days=1)))
    assert await standings.untold("T1") == []
    found = await standings.of(LOWER.subject)
    assert (found.level, found.told_at, found.is_to_tell) == (2.9, NOW, False)


@pytest.mark.on("sqlite")
async def test_a_change_of_the_judge_makes_later_scores_those_of_another(
    log: Store, standings: Standings
) -> None:
    moments = [NOW + timedelta(days=day) for day in range(4)]
    await add_scores(log, *moments)
    await standings.begin_with_judge(replace(LOWER, follows=0), "m 1", moments[2], ["C1", "C2"])
    versions = select(cases.c.judge_version).order_by(cases.c.judged_at)
    assert await log.database.values(versions) == ["m 1"] * 2 + ["m 1, since 2026-11-25"] * 2
    assert await log.database.values(select(releases.c.channel_id)) == ["C1"]
