"""What has become of a message, in the store alone."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pgqueuer.adapters.inmemory import InMemoryDriver, InMemoryQueries
from sqlalchemy import update

from bot.domain.case import LoggedCase, Part, text_hash
from bot.store import Store
from bot.store.jobs import submit_oldest
from bot.store.personal import Personal
from bot.store.schema import cases
from tests.cases import (
    ANN,
    BEGUN_AT,
    a_case,
    a_turn,
    a_verdict,
    amendments,
    held,
    plans,
    stale,
    url,
)

pytestmark = [pytest.mark.usefixtures("log_file"), pytest.mark.on("sqlite")]

AT = {"message_ts": "5.1", "question_ts": "4.1", "parent_ts": "4.1"}
HERE = ("T1", "C1")


async def delivered(log: Store, **changes: Any) -> LoggedCase:
    case, _ = await log.add(a_case(**(AT | changes)))
    return await log.note_delivered(await log.record(await held(log, case), a_verdict()))


async def test_other_messages_and_those_not_read_yet_mark_nothing(log: Store) -> None:
    await delivered(log)
    await log.add(a_case(key="unread", message_ts="8.1", question=None, response=None))
    for place in (("T2", "C1", "5.1"), ("T1", "C2", "5.1"), (*HERE, "6.1"), (*HERE, "8.1")):
        assert (place, await log.edits.note_edited(*place, "Other words.")) == (place, [])


async def test_a_verdict_is_brought_up_to_date_once_it_is_delivered(tmp_path: Path) -> None:
    async with await Store.open(url(tmp_path)) as log:
        log.database.queue = InMemoryQueries(InMemoryDriver())
        case, _ = await log.add(a_case(**AT))
        case = await log.record(await held(log, case), a_verdict())
        assert await amendments(log) == []
        await log.edits.note_edited(*HERE, "5.1", "Other words.")
        assert await amendments(log) == [case.id]
        await log.note_delivered(case)
        assert await amendments(log) == [case.id, case.id]


@pytest.mark.on("sqlite", "postgres")
async def test_what_happens_while_a_verdict_is_brought_up_to_date_is_still_to_be_said(
    log: Store,
) -> None:
    await delivered(log)
    await log.edits.note_edited(*HERE, "5.1", "Other words.")
    (seen,) = await stale(log)
    await log.edits.note_deleted(*HERE, "5.1")
    await log.edits.note_said(seen)
    (deleted,) = await stale(log)
    await log.database.execute(update(cases).values(forgotten_at=BEGUN_AT))
    await log.edits.note_said(deleted)
    (left,) = await stale(log)
    await log.edits.note_said(left)
    assert await stale(log) == []
    await log.edits.note_said(seen)  # by another process, whose change came last
    assert await stale(log) == [left]


@pytest.mark.on("sqlite", "postgres")
async def test_a_deleted_message_takes_the_texts_of_its_cases_and_of_no_others(log: Store) -> None:
    kept = await delivered(log, key="k2", message_ts="7.1", question_ts="6.1")
    for ts in ("4.1", "3.1", "5.2"):
        gone = await delivered(log, **OF_TWO, key=ts, channel_id=ts)
        assert await log.edits.note_deleted("T1", ts, ts) == [gone.id]
        found = await log.cases.with_turns(await log.cases.get(gone.id))
        assert found.texts == ("", "")
        assert [each.text for each in found.turns] == [None] * 3
        assert (await log.cases.verdict(gone.id)).ratings[0].raw == ""
    assert (await log.cases.get(kept.id)).texts == ("Why?", "Because.")
    assert (await log.cases.verdict(kept.id)).ratings[0].raw == "score: 4"


SAID = a_turn(Part.CONVERSATION, "3.1", "Said before.")
PARTS = (a_turn(Part.RESPONSE, "5.1", "Let me look."), a_turn(Part.RESPONSE, "5.2", "Because."))
OF_TWO = {
    "turns": (SAID, *PARTS),
    "messages_before": 1,
    "messages": 2,
    "response": "Let me look.\n\nBecause.",
}


async def test_what_goes_on_marks_all_who_read_it_without_its_end(log: Store) -> None:
    first = await delivered(log)
    second = await delivered(log, key="k2")
    await delivered(log, key="k3", response="Because of that.")
    await log.edits.note_added(second)
    assert [case.id for case in await stale(log)] == [first.id, second.id]


async def test_an_edit_of_any_message_that_was_judged_marks_the_case_once(log: Store) -> None:
    several = [(OF_TWO, each.ts, each.text) for each in (SAID, *PARTS)]
    for asked, ts, same in [({}, "5.1", "Because."), ({}, "4.1", "Why?"), *several]:
        place = {"key": f"{ts} {same}", "channel_id": f"{ts} {same}"}
        case = await delivered(log, **asked, **place)
        edit = partial(log.edits.note_edited, "T1", place["key"], ts)
        assert await edit(same) == []
        assert await edit("Other words.") == [case.id]
        assert await edit("Yet others.") == []
        assert await log.edits.case(case.id)


async def test_who_only_spoke_before_is_shown_their_own_words_alone(log: Store) -> None:
    others = a_turn(Part.CONVERSATION, "3.2", "By another.", "U-4")
    await delivered(log, **OF_TWO | {"turns": (SAID, others)})
    shown = [row async for row in Personal(log.database).rows("T1", ANN)]
    (row,) = [row for row in shown if row["kind"] == "case"]
    assert [each["text"] for each in row["turns"]] == ["Said before."]
    assert not {"question", "response", "justification", "ratings"} & row.keys()


async def test_a_reply_is_known_by_each_of_its_messages(log: Store) -> None:
    case = await delivered(log, **OF_TWO | {"parent_ts": None})
    for ts, text in (("5.1", "Let me look."), ("5.2", "Because.")):
        found, found_hash = await log.cases.latest(*HERE, ts, "U-any")
        assert (found.id, found_hash) == (case.id, text_hash(text))


async def test_no_look_up_goes_through_all_cases(log: Store) -> None:
    narrow = ("ts=?", "ts>?", "rowid=?", "case_id=?", "ix_cases_stale", "ix_cases_unsettled")
    for work in (
        log.edits.note_edited(*HERE, "5.1", "Other words."),
        log.edits.note_deleted(*HERE, "5.1"),
        log.edits.resubmit("T1"),
        submit_oldest(log.database, "T1"),
    ):
        for step in await plans(log, work, "cases", "turns"):
            assert any(part in step for part in narrow), step


@pytest.mark.on("sqlite", "postgres")
async def test_a_post_is_noted_once_for_each_case_that_has_a_reason(log: Store) -> None:
    one, two = [await delivered(log, key=key) for key in "ab"]
    none = 999
    for _ in range(2):
        assert await log.edits.note_quoted("T1", [one.id, two.id, none], "C1", "1.1") == [none]
    assert await log.edits.note_quoted("T1", [one.id], "D1", "2.2") == []
    assert sorted(await log.edits.quoted([one.id])) == [("C1", "1.1"), ("D1", "2.2")]
    await log.edits.drop_texts(two)
    assert await log.edits.note_quoted("T1", [one.id, two.id], "C1", "3.3") == [two.id]
