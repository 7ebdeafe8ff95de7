"""What is kept of low replies: the posts that quote their reasons, and the causes of a week."""

import pytest

from bot.store import Store
from bot.store.figures import Place
from judge.evaluation.causes import Cause
from tests.cases import judged

pytestmark = pytest.mark.on("sqlite", "postgres")
HERE = Place("T1", "C1")


async def test_a_post_is_noted_once_for_each_case_that_has_a_reason(log: Store) -> None:
    one, two = [await judged(log, key, score=1) for key in "ab"]
    low, none = log.low_replies, 999
    for _ in range(2):
        assert await low.note_quoted("T1", [one.id, two.id, none], "C1", "1.1") == [none]
    assert await low.note_quoted("T1", [one.id], "D1", "2.2") == []
    found = sorted(tuple(row) for row in await low.quoted([one.id]))
    assert found == [("C1", "1.1", one.id), ("D1", "2.2", one.id)]
    await log.edits.drop_texts(two)
    assert await low.note_quoted("T1", [one.id, two.id], "C1", "3.3") == [two.id]


async def test_causes_are_those_of_a_channels_week_and_leave_with_their_texts(log: Store) -> None:
    one, two, three = [(await judged(log, key, score=1)).id for key in "abc"]
    low = log.low_replies
    await low.note_causes(HERE, "w1", [Cause("no source", (one, two, 999)), Cause("other", (three,))])
    await low.note_causes(HERE, "w2", [Cause("too\0 long", (one,))])
    assert await low.causes(HERE, "w1") == {one: "no source", two: "no source", three: "other"}
    assert await low.causes(Place("T1", "C2"), "w1") == {}
    case = await log.cases.get(two)
    await log.edits.drop_texts(case)
    assert set(await low.causes(HERE, "w1")) == {one, three}
