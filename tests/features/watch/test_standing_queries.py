"""Standings as the looks store and tell them; on both databases."""

from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest
from sqlalchemy import select

from bot.domain.standing import Standing, Whose
from bot.features.watch.standing_queries import StandingSteps
from bot.store import Store
from bot.store.schema import cases, releases
from bot.store.schema import standings as table
from judge.evaluation.standing import Direction, Event
from tests.cases import NOW, a_row

LOWER = Standing(
    team_id="T1",
    channel_id="",
    author_id="B1",
    lowest=0,
    highest=5,
    version="m 1",
    direction=Direction.LOWER,
    event=Event.BEGAN,
    stored_at=NOW,
    looked_at=NOW,
    level=3.6,
    n=240,
    since=date(2026, 11, 16),
    begun_on=date(2026, 11, 16),
    step=-0.7,
    ended=("2026-10-01",),
    whose=Whose.ASSISTANT,
    is_to_tell=True,
)


@pytest.fixture
def standings(log: Store) -> StandingSteps:
    return StandingSteps(log.database)


async def test_a_change_of_the_judge_that_another_process_has_stored_changes_no_score(
    log: Store, standings: StandingSteps
) -> None:
    await add_scores(log, NOW)
    await standings.begin(LOWER)
    await standings.begin_with_judge(replace(LOWER, step=-0.8), "m 1", NOW, ["C1"])
    assert await log.database.values(select(table.c.step)) == [-0.7]
    assert await log.database.values(select(cases.c.judge_version)) == ["m 1"]


async def add_scores(log: Store, *moments: datetime) -> None:
    written = {"team_id": "T1", "channel_id": "C1", "author_id": "B1", "judge_version": "m 1"}
    for at in moments:
        row = a_row(**written, key=str(at), created_at=NOW, judged_at=at)
        await log.database.execute(cases.insert().values(row))


@pytest.mark.on("sqlite")
async def test_a_later_look_keeps_that_a_change_was_told(standings: StandingSteps) -> None:
    await standings.begin(LOWER)
    (untold,) = await standings.untold("T1")
    await standings.note_told(untold, NOW)
    await standings.go_on(replace(untold, level=2.9, looked_at=NOW + timedelta(days=1)))
    assert await standings.untold("T1") == []
    found = await standings.of(LOWER.subject)
    assert (found.level, found.told_at, found.is_to_tell) == (2.9, NOW, False)


@pytest.mark.on("sqlite")
async def test_a_change_of_the_judge_makes_later_scores_those_of_another(
    log: Store, standings: StandingSteps
) -> None:
    moments = [NOW + timedelta(days=day) for day in range(4)]
    await add_scores(log, *moments)
    await standings.begin_with_judge(LOWER, "m 1", moments[2], ["C1", "C2"])
    versions = select(cases.c.judge_version).order_by(cases.c.judged_at)
    assert await log.database.values(versions) == ["m 1"] * 2 + ["m 1, since 2026-11-25"] * 2
    assert await log.database.values(select(releases.c.channel_id)) == ["C1"]
