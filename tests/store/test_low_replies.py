"""What is kept of low replies: the posts that quote their reasons."""

import pytest
from sqlalchemy import select

from bot.store import Store
from bot.store.schema import quotes
from tests.cases import judged

pytestmark = pytest.mark.on("sqlite", "postgres")


async def test_a_post_is_noted_once_for_each_case_that_has_a_reason(log: Store) -> None:
    one, two = [await judged(log, key, score=1) for key in "ab"]
    low = log.edits
    none = 999
    for _ in range(2):
        assert await low.note_quoted("T1", [one.id, two.id, none], "C1", "1.1") == [none]
    assert await low.note_quoted("T1", [one.id], "D1", "2.2") == []
    assert sorted(await low.quoted([one.id])) == [("C1", "1.1"), ("D1", "2.2")]
    assert len(await log.database.all(select(quotes).filter_by(case_id=one.id))) == 2
    await log.edits.drop_texts(two)
    assert await low.note_quoted("T1", [one.id, two.id], "C1", "3.3") == [two.id]
