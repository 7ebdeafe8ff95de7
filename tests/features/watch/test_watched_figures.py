"""Which replies are in the week of a watched assistant, and where stats show it."""

from datetime import date
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import insert

from bot.domain.case import CaseSource
from bot.domain.watch import Watch
from bot.domain.week import Week
from bot.features.watch.figures import read_watched
from bot.features.watch.reply_queries import Replies, SeenReply
from bot.store import Store
from bot.store.figures import Place
from bot.store.schema import cases
from tests.cases import a_row
from tests.gestures import add_case, help_desk, stats
from tests.stage import Stage


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Los_Angeles"])
async def test_a_finished_week_counts_its_own_seven_days(log: Store, zone: str) -> None:
    week = Week.from_monday(date(2026, 11, 9), ZoneInfo(zone))
    watch = Watch("T1", "C1", "B1", week.start)
    for at in (week.start.timestamp() - 1, week.start.timestamp(), week.end.timestamp() - 1, week.end.timestamp()):
        await Replies(log.database).note(SeenReply("T1", "C1", f"{at:.6f}", "B1", None, None), watch, week.end)
    its = {"message_ts": f"{week.start.timestamp() - 1:.6f}", "author_id": "B1", "probability": 1.0}
    late = a_row(key="late", score=3, created_at=week.start, judged_at=week.start, **its)
    async with log.database.engine.begin() as connection:
        await connection.execute(insert(cases).values(late))
    (watched,) = await read_watched(log.tallies, Replies(log.database), Place("T1", "C1"), week, week.end)
    assert (watched.coverage.seen, watched.earlier) == (2, 1)


@pytest.mark.needs("digest")
async def test_random_replies_come_before_those_that_people_chose(stage: Stage) -> None:
    drawn = {"source": CaseSource.WATCH, "probability": 1.0, "model": "m", "judge_version": "m, additive-5 1"}
    for changes in (drawn, {}):
        await add_case(stage, help_desk(stage), stage.helper.id, 4, **changes)
    said = [block["text"]["text"] for block in (await stats(stage)).blocks if block["type"] == "section"]
    assert said[1].startswith("*helper*, random replies")
    assert said[2].startswith("*1 reply chosen by people*")
