"""What goes with its time: cases, what they took, thumbs, acts."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from bot.features.privacy.retention import AUDIT_KEPT, Retention
from bot.store import Store
from bot.store.audit import Act, Action
from bot.store.schema import spent
from bot.store.watches import JUDGE
from tests.cases import (
    ANN,
    BEGUN_AT,
    SECRET,
    add_release,
    asked,
    bytes_on_disk,
    delivered,
    noted,
    notes,
    numbers,
    thumb,
    thumbs_kept,
    url,
)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[Store]:
    async with await Store.open(url(tmp_path)) as opened:
        yield opened


async def test_nothing_of_a_forgotten_case_is_left_after_a_day(log: Store) -> None:
    case = await delivered(log)
    await log.forgetting.forget([case.id], "U1")
    for age, left in ((timedelta(hours=23), 1), (timedelta(hours=25), 0)):
        await log.database.execute(update(spent).values(created_at=datetime.now(UTC) - age))
        await Retention(log, None).run()
        assert len(await log.database.all(select(spent))) == left


async def test_acts_are_kept_for_two_years_with_any_setting(log: Store) -> None:
    ages = (AUDIT_KEPT + timedelta(minutes=1), AUDIT_KEPT - timedelta(minutes=1))
    await log.audit.note(
        [Act("T1", "U1", Action.PURGED, cases=age.days, at=datetime.now(UTC) - age) for age in ages]
    )
    await Retention(log, 7).run()
    assert await noted(log) == [("U1", "purged", 729)]


async def test_thumbs_go_with_their_time_and_those_taken_back_after_a_day(log: Store) -> None:
    for days in (0, 2, 8):
        at = datetime.now(UTC) - timedelta(days=days)
        for name, is_added in (("+1", True), ("-1", False)):
            told = replace(thumb(name, user_id=f"U{days}"), at=at, is_added=is_added)
            await log.thumbs.note(told, is_watched=True)
    await Retention(log, None).run()
    assert await thumbs_kept(log) == 4
    await Retention(log, 7).run()
    assert await thumbs_kept(log) == 3


async def test_texts_go_after_their_days_and_scores_stay(log: Store, tmp_path: Path) -> None:
    old = await delivered(log, "old", timedelta(days=91), response=SECRET)
    new = await delivered(log, "new", timedelta(days=89), response="Kept.")
    waits = await asked(log, age=timedelta(days=91), response=SECRET)
    await Retention(log, None).run()
    assert (await log.cases.get(old.id)).response == SECRET
    for _ in range(2):
        await Retention(log, None, text_days=90).run()
    left = [(await log.cases.get(case.id)).response for case in (old, waits, new)]
    assert left == [None, None, "Kept."]
    verdict = await log.cases.verdict(old.id)
    assert (verdict.score, verdict.justification) == (4, "")
    assert SECRET.encode() not in bytes_on_disk(tmp_path)


async def test_where_no_text_is_kept_an_unanswered_case_goes_after_a_day(log: Store) -> None:
    for key, age in (("yesterday", timedelta(hours=25)), ("today", timedelta(hours=23))):
        await asked(log, key, age)
    for store_text, left in (("full", [1, 2]), ("none", [2])):
        await Retention(Store(log.database, store_text), None).run()
        assert sorted(await numbers(log)) == left


async def test_notes_of_old_releases_go_with_the_texts_and_the_releases_with_the_cases(
    log: Store,
) -> None:
    before = BEGUN_AT - timedelta(days=30)
    for by, note, at in (
        (ANN, "old", before - timedelta(seconds=1)),
        (JUDGE, "m 1", before - timedelta(seconds=1)),
        (ANN, "new", before),
    ):
        await add_release(log, by, note, at)
    kept = [(JUDGE, "m 1"), (ANN, "new")]
    for drop, left in (
        (Retention(log, None).drop_older_texts, [(ANN, ""), *kept]),
        (log.forgetting.forget_older, kept),
    ):
        await log.forgetting.scrub()
        await drop(before)
        assert await notes(log) == left
        assert log.database.scrubbed_at is None
