import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import event, insert, text
from sqlalchemy.exc import DBAPIError

from bot.domain import clock
from bot.domain.case import CaseStatus, LoggedCase, Visibility
from bot.domain.clock import TooLateError, accepted_within
from bot.errors import StoreError
from bot.pipeline.retries import in_brief
from bot.slack.client import SLACK_ERRORS
from bot.store import Store, TakenError
from bot.store.errors import STORE_ERRORS
from bot.store.opening import connect
from bot.store.schema import cases
from judge import Rating, Unscored, UnscoredReason
from tests.cases import a_case, a_verdict, asked, bare_verdict, delivered, held, newest, plans, url

pytestmark = pytest.mark.on("sqlite")


async def test_a_log_of_another_version_is_left_alone_and_says_what_to_do(
    new_database_url: str,
) -> None:
    await (await Store.open(new_database_url)).close()
    engine = connect(new_database_url)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = 'release_0011'"))
    await engine.dispose()
    with pytest.raises(StoreError) as error:
        await Store.open(new_database_url)
    assert str(error.value).partition(": cannot be opened and migrated: ")[2] == (
        "it was last used by another version of this app (migration release_0011); "
        "install that version again, restore an earlier backup, or name a new database"
    )


@pytest.mark.on("sqlite", "postgres")
async def test_the_same_key_is_the_same_case_in_one_team_however_many_ask_at_once(
    log: Store,
) -> None:
    asking = (log.add(a_case(requester_id=f"U{number}")) for number in range(8))
    added = await asyncio.gather(*asking)
    assert len({(case.id, case.requester_id) for case, _ in added}) == 1
    assert sum(is_new for _, is_new in added) == 1
    assert (await log.add(a_case(team_id="T2")))[1]


async def test_a_case_that_is_kept_waiting_within_its_transaction_is_not_accepted_too_late(
    log: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [0.0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now_s[0]))

    @event.listens_for(log.database.engine.sync_engine, "after_cursor_execute")
    def take_a_second(*_: object) -> None:
        now_s[0] += 1

    with accepted_within(0.5), pytest.raises(TooLateError):
        await log.add(a_case())
    assert await newest(log, 1) == []


async def test_a_case_keeps_its_first_verdict(log: Store) -> None:
    await log.add(a_case())
    await log.record(await held(log, 1), a_verdict(4))
    with pytest.raises(TakenError):
        await log.record(await held(log, 1), a_verdict(2))
    assert (await log.cases.get(1)).status is CaseStatus.JUDGED
    assert await log.cases.verdict(1) == a_verdict(4)


STEPS: dict[str, Callable[[Store, LoggedCase], Awaitable[object]]] = {
    "renew": Store.renew,
    "intend": Store.intend,
    "note_asked": Store.note_asked,
    "note_failure": lambda log, case: log.note_failure(case, "model_tries"),
    "record": lambda log, case: log.record(case, a_verdict()),
    "note_delivered": Store.note_delivered,
}


@pytest.mark.on("sqlite", "postgres")
async def test_whoever_has_lost_a_case_writes_no_step_of_it(log: Store) -> None:
    for name, step in STEPS.items():
        case, _ = await log.add(a_case(key=name))
        frozen = await held(log, case)
        if name == "note_delivered":
            frozen = await log.record(frozen, a_verdict())
        before = await held(log, case)
        with pytest.raises(TakenError):
            await step(log, frozen)
        assert (name, (await log.cases.get(case.id)).status) == (name, before.status)


async def test_what_is_committed_to_a_file_is_on_the_disk(log: Store) -> None:
    # https://www.sqlite.org/pragma.html#pragma_synchronous: 2 is FULL
    expected = {"synchronous": 2, "journal_mode": "wal", "foreign_keys": 1, "secure_delete": 1}
    async with log.database.engine.connect() as connection:
        for name, value in expected.items():
            found = await connection.exec_driver_sql(f"PRAGMA {name}")
            assert (name, found.scalar_one()) == (name, value)


async def test_only_the_first_answer_counts(log: Store) -> None:
    case = await asked(log)
    await log.answer(case, "First?")
    await log.answer(case, "Second?")
    case = await log.cases.get(1)
    assert (case.question, case.status) == ("First?", CaseStatus.RECEIVED)


async def test_the_latest_case_of_a_message_is_found_for_those_who_may_see_it(log: Store) -> None:
    for key, visibility in (("a", Visibility.THREAD), ("b", Visibility.ME)):
        await log.add(a_case(key=key, message_ts="1.1", visibility=visibility))
    for user_id, key in (("U1", "b"), ("U2", "a")):
        case, _ = await log.cases.latest("T1", "C1", "1.1", user_id)
        assert case.key == key
    assert await log.cases.latest("T2", "C1", "1.1", "U9") is None


async def test_without_stored_text_a_delivered_case_keeps_hashes_and_score_only(
    tmp_path: Path,
) -> None:
    async with await Store.open(url(tmp_path), store_text="none") as log:
        case = await delivered(log)
        verdict = await log.cases.verdict(1)
    assert case.texts == ("", "")
    assert case.response_hash is not None
    assert (verdict.score, verdict.ratings[0].raw) == (4, "")
    assert b"Because." not in (tmp_path / "log.db").read_bytes()


async def test_a_log_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    (tmp_path / "log.db").write_text("These are notes, and no database. " * 100)
    with pytest.raises(StoreError, match="not a database"):
        await Store.open(url(tmp_path))


@pytest.mark.on("sqlite", "postgres")
async def test_an_error_of_the_database_does_not_tell_the_texts(log: Store) -> None:
    broken = insert(cases).values(question="A secret?", created_at=datetime.now(UTC))
    with pytest.raises(DBAPIError) as error:
        await log.database.execute(broken)
    in_a_log = in_brief(error.value)
    assert in_a_log.startswith("the database is out of reach: ")
    assert "secret" not in in_a_log
    if log.database.is_sqlite:  # PostgreSQL's own words quote the row
        assert "secret" not in str(error.value)


@pytest.mark.on("sqlite", "postgres")
async def test_a_cancelled_write_does_not_lock_the_file(log: Store) -> None:
    for turns in range(20):
        tasks = [asyncio.create_task(log.add(a_case(key=f"{turns}-{n}"))) for n in range(5)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (await log.add(a_case(key=f"after {turns}")))[1]


async def test_cases_are_counted_by_status(log: Store) -> None:
    await asked(log)
    for key in ("k1", "k2"):
        await log.add(a_case(key=f"{key}, waiting"))
        await delivered(log, key)
    assert await log.cases.counts() == {"asked": 1, "received": 2, "delivered": 2}


async def test_counting_reads_no_case(log: Store) -> None:
    for step in await plans(log, log.cases.counts(), "cases"):
        assert "COVERING INDEX" in step


@pytest.mark.on("postgres")
async def test_a_time_out_of_the_database_is_not_taken_for_one_of_slack(log: Store) -> None:
    @event.listens_for(log.database.engine.sync_engine, "before_cursor_execute")
    def run_out_of_time(*_: object) -> None:
        raise TimeoutError  # as asyncpg does, and SQLAlchemy passes it on

    for ask in (log.cases.counts, partial(log.add, a_case())):
        with pytest.raises(STORE_ERRORS) as caught:
            await ask()
        assert not isinstance(caught.value, SLACK_ERRORS)
        assert in_brief(caught.value) == "the database is out of reach: no answer in time"


@pytest.mark.on("sqlite", "postgres")
async def test_whoever_settles_much_keeps_nobody_else_from_the_log(log: Store) -> None:
    order = list[str]()
    people = ["ann"] * 80 + ["ben"]

    async def step(person: str) -> None:
        async def work(_: object) -> None:
            order.append(person)

        await log.database.settle(a_case(requester_id=person), work)

    await asyncio.gather(*map(step, people))
    assert "ben" in order[:40]


async def test_probabilities_are_kept_with_their_rating(log: Store) -> None:
    said: dict[str, Any] = {"raw": "[]", "model": "m", "coverage": 0.97}
    chances: dict[str, Any] = {"probabilities": {4: 0.6, 5: 0.4}, "points": {"expert": None}}
    given = (
        Rating(score=4, justification="", reasoning_tokens=7, **said, **chances),
        Unscored(reason=UnscoredReason.NO_SCORE, detail="None.", **said),
    )
    await log.add(a_case())
    await log.record(await held(log, 1), bare_verdict(ratings=given, reasoning_tokens=7))
    kept = await log.cases.verdict(1)
    assert (kept.ratings, kept.reasoning_tokens) == (given, 7)
