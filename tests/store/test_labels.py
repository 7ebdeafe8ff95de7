"""Labels in the store, and on their way out to `judge agreement`."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from bot.commands.export import export
from bot.domain.case import CaseSource, Part, Visibility
from bot.domain.label import Label
from bot.store import Store
from bot.store.export import Selection
from bot.store.schema import labels
from tests.cases import a_turn, judged

pytestmark = pytest.mark.on("sqlite")


async def rows(log: Store, has_texts: bool = True, **which: Any) -> list[dict[str, Any]]:
    output = io.StringIO()
    count, _ = await export(log.database, output, Selection(**which), has_texts)
    found = [json.loads(line) for line in output.getvalue().splitlines()]
    assert len(found) == count
    return found


@pytest.mark.on("sqlite", "postgres")
async def test_a_second_label_replaces_the_first_tells_it_and_keeps_its_time(log: Store) -> None:
    case = await judged(log, "a")
    assert await log.labels.put(case, "U1", Label(2, "short")) is None
    assert await log.labels.put(case, "U1", Label(3, None)) == Label(2, "short")
    assert await log.labels.get(case, "U1") == Label(3, None)
    (row,) = await log.database.all(select(labels))
    assert row.created_at < row.updated_at


async def test_cases_without_a_label_are_exported_where_all_are_wanted(log: Store) -> None:
    first = await judged(log, "a", posted={"thread_ts": "7.1"})
    for user_id in ("U1", "U2"):
        await log.labels.put(first, user_id, Label(2, None))
    await judged(log, "b", message_ts="8.1", parent_ts="7.1")
    await judged(log, "c", message_ts="999.1")
    await judged(log, "for one alone", visibility=Visibility.ME)
    found = await rows(log, has_unlabelled=True)
    assert [(row["case"], row["human"]) for row in found] == [(1, 2), (1, 2), (2, None), (3, None)]
    assert [row["label_by"] is None for row in found] == [False, False, True, True]
    assert [row["thread"] == found[0]["thread"] for row in found] == [True, True, True, False]
    assert "999.1" not in json.dumps(found)
    assert [row["case"] for row in await rows(log)] == [1, 1]


async def test_what_a_watch_drew_is_exported_apart_from_what_people_chose(log: Store) -> None:
    await judged(log, "a", message_ts="1.1")
    drawn = await judged(log, "b", message_ts="2.2", source=CaseSource.WATCH, probability=0.2)
    await judged(log, "c", message_ts="2.2", attempt=2)
    await log.labels.put(drawn, "U1", Label(2, None))
    chosen = await rows(log, has_unlabelled=True)
    assert [(row["case"], row["drawn_with"]) for row in chosen] == [(1, None), (3, None)]
    (row,) = await rows(log, watched=True)
    assert (row["case"], row["drawn_with"], row["human"]) == (drawn.id, 0.2, 2)


async def test_an_exported_row_names_nobody(log: Store) -> None:
    case = await judged(log, "a", requester_id="UANN", requester_name="Ann Smith")
    await log.labels.put(case, "UBEN", Label(1, "Wrong."))
    now = datetime.now(UTC)
    assert await rows(log, since=now + timedelta(hours=1)) == []
    (row,) = await rows(log, since=now - timedelta(hours=1))
    said = {"prompt": "Why?", "completion": "Because of a.", "reason": "Wrong.", "channel": "C1"}
    assert row.items() >= said.items()
    assert not any(name in json.dumps(row) for name in ("UBEN", "UANN", "Smith"))


async def test_without_texts_the_prompts_are_still_told_apart(log: Store) -> None:
    in_conversation = {"turns": (a_turn(Part.CONVERSATION, "1.1"),), "messages_before": 1}
    for key, asked in (("a", {}), ("b", {}), ("c", {"question": "How?"}), ("d", in_conversation)):
        await log.labels.put(await judged(log, key, **asked), "U1", Label(1, "Words."))
    found = await rows(log, has_texts=False)
    assert not {"prompt", "completion", "reason"} & found[0].keys()
    first, second, *others = [row["prompt_id"] for row in found]
    assert first == second
    assert len({first, *others}) == 3


async def test_verdicts_for_one_person_alone_are_not_exported(log: Store) -> None:
    for key, changes in {
        "only me": {"visibility": Visibility.ME},
        "direct messages": {"channel_id": "D1"},
        "not taken by the thread": {"posted": {"blocked_by": "restricted_action"}},
    }.items():
        case = await judged(log, key, **changes)
        await log.labels.put(case, "U1", Label(1, None))
    assert await rows(log) == []


@pytest.mark.on("sqlite", "postgres")
async def test_of_a_message_that_was_scored_again_the_newest_public_verdict_is_exported(
    log: Store,
) -> None:
    for attempt, visibility in ((1, Visibility.THREAD), (2, Visibility.THREAD), (3, Visibility.ME)):
        again = {"message_ts": "1.1", "attempt": attempt, "visibility": visibility}
        case = await judged(log, f"a{attempt}", attempt, **again)
        await log.labels.put(case, "U1", Label(5, None))
    assert [row["score"] for row in await rows(log)] == [2]
