"""Thumbs under replies: counted once a person, whatever order Slack tells of them in."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert

from bot.domain.case import CaseSource, LoggedCase, Part, Visibility
from bot.domain.watch import ReplyOutcome
from bot.store import Store
from bot.store.digests import ThumbCount
from bot.store.figures import Place, Span
from bot.store.schema import replies
from tests.cases import (
    ANN,
    HELPER,
    NOW,
    SECOND,
    THIRD,
    TS,
    a_case,
    a_turn,
    delivered,
    thumb,
    thumbs_kept,
)

pytestmark = pytest.mark.on("sqlite")

BEN = "U-ben"
HERE = Place("T1", "C1")
ALWAYS = Span(NOW - timedelta(days=999), NOW + timedelta(days=999))


async def scored(log: Store, ts: str = TS, **changes: Any) -> LoggedCase:
    """A case of a reply of helper's."""
    asked = {"message_ts": ts, "author_id": HELPER, "source": CaseSource.SHORTCUT}
    return await delivered(log, **({"key": ts} | asked | changes))


async def seen(log: Store, **changes: Any) -> None:
    """Records helper's reply as one that a watch has seen."""
    reply = {"team_id": "T1", "channel_id": "C1", "ts": TS, "author_id": HELPER, "probability": 1.0}
    await log.database.execute(
        insert(replies).values(reply | {"rests_at": NOW, "day": "2026-11-22"} | changes)
    )


async def counts(log: Store, place: Place = HERE) -> list[tuple[int, int, int]]:
    return [(each.up, each.down, each.replies) for each in await log.thumbs.counts(place, ALWAYS)]


@pytest.mark.on("sqlite", "postgres")
async def test_what_several_people_think_of_several_replies_is_counted_by_author(
    log: Store,
) -> None:
    for ts, author in ((TS, HELPER), (SECOND, HELPER), (THIRD, "U-other")):
        await scored(log, ts, author_id=author)
    for given in (
        thumb("+1"),
        thumb("thumbsup", user_id=BEN),
        thumb("thumbsdown::skin-tone-4", user_id=BEN, ts=SECOND),
        thumb("-1", ts=THIRD),
    ):
        await log.thumbs.note(given)
    found = await log.thumbs.counts(HERE, ALWAYS)
    assert found == [ThumbCount(HELPER, 2, 1, 2), ThumbCount("U-other", 0, 1, 1)]
    assert await counts(log, replace(HERE, author_id="U-other")) == [(0, 1, 1)]


async def test_a_thumb_taken_back_is_none_in_whatever_order_slack_says_so(log: Store) -> None:
    await scored(log)
    told = [thumb(), thumb(minute=1, is_added=False)]
    for person, order in enumerate([(0, 1), (1, 0), (0, 1, 0), (1, 0, 1, 0)]):
        for number in order:
            await log.thumbs.note(replace(told[number], user_id=f"U{person}"))
    assert await counts(log) == []


async def test_thumbs_under_what_the_channel_did_not_see_scored_are_not_kept(log: Store) -> None:
    for key, changes in {
        "private": {"visibility": Visibility.ME},
        "of another team": {"team_id": "T2"},
        "elsewhere": {"channel_id": "C2"},
        "another": {"message_ts": SECOND},
    }.items():
        await log.add(a_case(**{"key": key, "message_ts": TS, "author_id": HELPER} | changes))
    await log.thumbs.note(thumb())
    assert await thumbs_kept(log) == 0


@pytest.mark.on("sqlite", "postgres")
async def test_a_thumb_under_the_last_message_of_a_reply_counts(log: Store) -> None:
    await seen(log, last_ts=SECOND)
    said = a_turn(Part.RESPONSE, TS), a_turn(Part.RESPONSE, SECOND)
    await scored(log, turns=said, channel_id="C2")
    for channel_id in ("C1", "C2"):
        await log.thumbs.note(thumb(ts=SECOND, channel_id=channel_id))
        await log.thumbs.note(thumb(ts=THIRD, channel_id=channel_id))
        assert await counts(log, Place("T1", channel_id)) == [(1, 0, 1)]


async def test_a_watched_reply_that_nobody_has_seen_yet_counts_once_it_is(log: Store) -> None:
    await log.thumbs.note(thumb(), is_watched=True)
    assert await counts(log) == []
    await seen(log, outcome=ReplyOutcome.PASSED)
    await log.thumbs.note(thumb(user_id=BEN))
    assert await counts(log) == [(2, 0, 1)]


async def test_with_its_last_case_a_reply_loses_its_thumbs(log: Store) -> None:
    first = await scored(log)
    second = await scored(log, key="second", requester_id=BEN)
    await scored(log, SECOND)
    for ts in (TS, SECOND):
        await log.thumbs.note(thumb(ts=ts))
    await log.forgetting.forget([first.id], ANN)
    assert await thumbs_kept(log) == 2
    await log.forgetting.forget([second.id], BEN)
    assert await thumbs_kept(log) == 1
