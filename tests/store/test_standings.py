"""The standings of assistants, as the store keeps them; on both databases."""

from dataclasses import replace
from datetime import date

import pytest
from sqlalchemy import select

from bot.domain.standing import Standing, Subject, Whose
from bot.store import Store
from bot.store.schema import standings as table
from bot.store.standings import Standings
from judge.evaluation.standing import Direction, Event
from tests.cases import NOW

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
    await standings.begin(FIRST)
    effect = replace(LOWER, release_id=7, follows=None)
    for step in (-0.7, -0.8):
        await standings.begin(replace(LOWER, step=step))
        await standings.begin(replace(effect, step=step))
    rows = await log.database.all(select(table.c.step, table.c.follows).order_by(table.c.id))
    assert rows == [(None, 0), (-0.7, 1), (-0.7, None)]
