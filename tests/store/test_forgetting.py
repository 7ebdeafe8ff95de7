"""What is deleted from the store is deleted: by age, by number, and to the last byte of the file."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from bot.domain.blocker import FORGOTTEN
from bot.domain.case import Part, QuestionSource
from bot.domain.label import Label
from bot.store import Store, TakenError
from bot.store.audit import Act, Action
from bot.store.personal import Personal
from bot.store.schema import audit, cases, forgotten, labels, ratings
from tests.cases import (
    ANN,
    BEGUN_AT,
    SECRET,
    a_case,
    a_row,
    a_turn,
    a_verdict,
    asked,
    bytes_on_disk,
    delivered,
    held,
    judged,
    numbers,
    put_back,
    stale,
    url,
)
from tests.filled import TABLES, counts, fill

pytestmark = [pytest.mark.usefixtures("log_file"), pytest.mark.on("sqlite")]


@pytest.mark.on("sqlite", "postgres")
async def test_older_cases_are_purged_with_their_ratings_and_labels(log: Store) -> None:
    await delivered(log, "old", timedelta(days=31))
    kept = await delivered(log, "new", timedelta(days=29))
    await asked(log, age=timedelta(days=31))
    month_ago = BEGUN_AT - timedelta(days=30)
    assert await log.forgetting.count(month_ago) == 2
    assert await log.forgetting.forget_older(month_ago) == 2
    assert await numbers(log) == [kept.id]
    # How many ratings and labels there are.
    assert [len(await log.database.all(select(each))) for each in (ratings, labels)] == [1, 1]


async def test_a_case_that_is_being_settled_is_neither_purged_nor_forgotten(log: Store) -> None:
    received, _ = await log.add(a_case(key="received"))
    found = await judged(log, "judged")
    for case in (received, found):
        await put_back(log, case, timedelta(days=90))
    assert await log.forgetting.forget_older(BEGUN_AT) == 0
    assert list(await log.forgetting.forget([received.id, found.id], "U1")) == []
    assert await numbers(log) == [received.id, found.id]


@pytest.mark.on("sqlite", "postgres")
async def test_two_who_purge_more_than_a_batch_at_the_same_time_delete_each_case_once(
    database_url: str, log: Store
) -> None:
    old = {"created_at": BEGUN_AT - timedelta(days=1)}
    await log.database.execute(
        insert(cases).values([a_row(key=f"k{n}", **old) for n in range(1100)])
    )
    async with await Store.open(database_url) as other:
        deleted = await asyncio.gather(
            *(each.forgetting.forget_older(BEGUN_AT) for each in (log, other))
        )
    assert (sum(deleted), await numbers(log)) == (1100, [])


async def test_what_a_forgotten_verdict_had_replaced_is_unfolded_where_it_was_posted(
    log: Store,
) -> None:
    posted = {"thread_ts": "5.1", "reply_ts": "5.2"}
    for key, place in (("posted", posted), ("private", {}), ("last", posted)):
        case = await log.note_delivered(await judged(log, key, posted=place, message_ts="5.1"))
    await log.forgetting.forget([case.id], "U1")
    assert [each.key for each in await stale(log)] == ["posted"]


async def filled(folder: Path) -> Store:
    """A log with 30 cases of all lengths, each of which was rewritten several times."""
    log = await Store.open(url(folder))
    for number in range(30):
        text = f"{number}: {SECRET} " + "and so on " * (number * 151 % 900)
        case, _ = await log.add(
            a_case(key=str(number), question=text, response=text[::-1] + SECRET)
        )
        case = await log.renew(await held(log, case))
        verdict = replace(a_verdict(), justification=f"It says that {SECRET}.")
        await log.note_delivered(await log.record(case, verdict))
    return log


async def test_of_purged_cases_no_byte_is_left(tmp_path: Path) -> None:
    log = await filled(tmp_path)
    await delivered(log, "kept", question="What is kept?")
    for case_id in range(1, 30, 2):
        await put_back(log, await log.cases.get(case_id), timedelta(days=2))
    assert await log.forgetting.forget_older(BEGUN_AT - timedelta(days=1)) == 15
    await log.forgetting.forget(range(2, 31, 2), "U1")
    assert await log.forgetting.scrub()
    left = bytes_on_disk(tmp_path)
    assert (SECRET.encode() in left, b"What is kept?" in left) == (False, True)
    await log.close()


async def test_a_reader_keeps_the_journal_and_the_next_scrub_empties_it(tmp_path: Path) -> None:
    log = await Store.open(url(tmp_path))
    case = await delivered(log, response=SECRET)
    async with log.database.engine.connect() as reader:
        await reader.exec_driver_sql("BEGIN")
        await reader.execute(select(cases))
        await log.forgetting.forget([case.id], "U1")
        assert not await log.forgetting.scrub()
    assert await log.forgetting.scrub()
    assert SECRET.encode() not in bytes_on_disk(tmp_path)
    await log.close()


@pytest.mark.needs("privacy")
async def test_after_any_deletion_the_journal_is_emptied_and_not_for_one_that_finds_nothing(
    tmp_path: Path,
) -> None:
    from bot.features.privacy.queries import PersonalData
    from bot.features.privacy.retention import Retention

    async with await Store.open(url(tmp_path)) as log:
        case = await delivered(log, response=SECRET)
        await log.labels.put(case, ANN, Label(3, SECRET))
        await log.labels.put(case, "U-ben", Label(3, SECRET))
        deletions = [
            partial(log.edits.drop_texts, case),
            partial(log.labels.put, case, "U-ben", Label(3, None)),
            partial(PersonalData(log.database).forget, "T1", ANN),
        ]
        for delete in deletions:
            await Retention(log, None).run()
            before = log.database.scrubbed_at
            await Retention(log, None).run()
            assert before == log.database.scrubbed_at is not None
            await delete()
            assert log.database.scrubbed_at is None


@pytest.mark.on("sqlite", "postgres")
async def test_everything_of_a_team_is_purged_and_nothing_of_another(log: Store) -> None:
    engine = log.database.engine
    await fill(engine, "T1", 1, tables=[each for each in TABLES if each is not audit])
    await log.audit.note([Act("T1", "U1", Action.DIGEST_ON)])
    await fill(engine, "T2", 11)
    of_other = await counts(engine, "T2")
    assert set(of_other.values()) == {2}
    assert await log.forgetting.forget_team("T1", "os:root") == 2
    acts = [act for act in await log.audit.since() if act.team_id == "T1"]
    purged = Action.PURGED
    assert [(act.what, act.cases) for act in acts] == [(purged, 2), (purged, None)]
    assert await counts(engine, "T1") == dict.fromkeys(of_other, 0) | {"audit": 2}
    assert await counts(engine, "T2") == of_other


@pytest.mark.on("sqlite", "postgres")
async def test_what_a_workspace_has_goes_to_its_organisation_and_of_two_equal_settings_the_organisations_stay(
    log: Store,
) -> None:
    engine = log.database.engine
    for team_id, first in (("T1", 101), ("T2", 201), ("E1", 301)):
        await log.channels.save(team_id, "C1", "U1", score_reaction=team_id.lower())
        await log.add(a_case(team_id=team_id, key="the same"))
        await fill(engine, team_id, first)
    others = await counts(engine, "T2")
    assert await log.forgetting.stored(["T0", "T1", "T2"]) == {"T1", "T2"}
    await log.forgetting.move_team("T1", "E1")
    assert await log.forgetting.stored(["T0", "T1", "T2"]) == {"T2"}
    assert await counts(engine, "T2") == others
    assert await counts(engine, "E1") == {
        name: 2 * number - (name == "channels") for name, number in others.items()
    }
    assert (await log.channels.of("E1", "C1")).score_reaction == "e1"


async def test_an_attempt_from_before_a_workspace_moved_no_longer_holds_its_case(
    log: Store,
) -> None:
    case, _ = await log.add(a_case())
    attempt = await held(log, case)
    await log.forgetting.move_team("T1", "E1")
    with pytest.raises(TakenError):
        await log.renew(attempt)


async def test_a_person_is_not_shown_the_question_that_another_typed_about_their_reply(
    log: Store,
) -> None:
    asked = {"requester_id": "U-ben", "requester_name": "ben", "question_author_id": "U-ben"}
    typed = {"question_source": QuestionSource.TYPED, "question": SECRET}
    await delivered(log, author_id=ANN, **typed, **asked)
    (row,) = [row async for row in Personal(log.database).rows("T1", ANN)]
    assert row["response"] == "Because."
    assert not row.keys() & {"question", "question_hash", *asked}


OLDEST, OLDER, NEWER = (
    f"{(BEGUN_AT + timedelta(seconds=number)).timestamp():.6f}" for number in (-2, -1, 1)
)


async def forget_ann(log: Store, at: datetime = BEGUN_AT, team_id: str = "T1") -> None:
    """As if ann had her words forgotten then, by default when these tests began."""
    values = {"team_id": team_id, "user_id": ANN, "at": at}
    await log.database.execute(insert(forgotten).values(values))


@pytest.mark.on("sqlite", "postgres")
async def test_of_a_question_or_reply_older_than_its_authors_wish_nothing_is_stored(
    log: Store,
) -> None:
    await forget_ann(log)
    for key, message in {
        "reply": {"author_id": ANN, "message_ts": OLDER},
        "question": {"question_author_id": ANN, "question_ts": OLDER},
        "part of the reply": {"message_ts": NEWER, "turns": (a_turn(Part.RESPONSE, OLDER),)},
        "shared into the question": {"question_ts": OLDER, "turns": (a_turn(Part.SHARED, OLDER),)},
    }.items():
        added, _ = await log.add(a_case(key=key, **message))
        stored = await log.cases.with_turns(await log.cases.get(added.id))
        assert (key, stored.blocker, added.blocker) == (key, FORGOTTEN, FORGOTTEN)
        assert (stored.texts, stored.turns) == (("", ""), ())
        assert (stored.question_hash, stored.response_hash) == (None, None)


async def test_other_words_of_a_person_who_was_forgotten_are_stored(log: Store) -> None:
    await forget_ann(log)
    for key, message in {
        "newer": {"message_ts": NEWER},
        "asked for by themself": {"message_ts": OLDER, "requester_id": ANN},
        "of another workspace": {"message_ts": OLDER, "team_id": "T2"},
    }.items():
        added, _ = await log.add(a_case(key=key, author_id=ANN, **message))
        assert (key, (await log.cases.get(added.id)).response) == (key, "Because.")


async def test_of_a_conversation_only_the_messages_from_before_the_wish_are_left_out(
    log: Store,
) -> None:
    await forget_ann(log)
    by_ben = a_turn(Part.CONVERSATION, OLDEST, author_id="U-ben")
    before, after = (a_turn(Part.CONVERSATION, ts) for ts in (OLDER, NEWER))
    added, _ = await log.add(a_case(turns=(by_ben, before, after), messages_before=3))
    assert (await log.cases.with_turns(added)).turns == (by_ben, after)
    stored = await log.cases.get(added.id)
    assert (stored.question, stored.left_out, stored.blocker) == ("Why?", 1, None)


async def test_of_the_wishes_in_a_workspace_and_its_organisation_the_newest_counts(
    log: Store,
) -> None:
    await forget_ann(log, team_id="E1")
    await forget_ann(log, BEGUN_AT - timedelta(days=1))
    await log.forgetting.move_team("T1", "E1")
    added, _ = await log.add(a_case(team_id="E1", author_id=ANN, message_ts=OLDER))
    assert added.blocker == FORGOTTEN


async def test_words_that_are_read_after_the_wish_are_not_stored(log: Store) -> None:
    added, _ = await log.add(a_case(question=None, response=None, message_ts=NEWER))
    claimed = await held(log, added)
    await forget_ann(log)
    by_ann = {"question_ts": OLDER, "question_author_id": ANN}
    read = claimed.model_copy(update={"question": SECRET, "response": SECRET, **by_ann})
    read = await log.intend(read, claimed)
    for case in (read, await log.cases.get(added.id)):
        assert (case.question, case.response, case.blocker) == (None, None, FORGOTTEN)
