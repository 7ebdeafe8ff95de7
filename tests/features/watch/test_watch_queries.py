"""What the store keeps of watches and the replies they have seen; on both databases."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from bot.domain.case import Case, CaseSource
from bot.domain.standing import Subject
from bot.domain.watch import ReplyOutcome, Shows
from bot.features.watch.queries import Releases, WatchOrders, watched
from bot.features.watch.reply_queries import Replies, SeenReply
from bot.store import Store
from bot.store.audit import Action
from bot.store.figures import Place
from bot.store.schema import watches
from tests.cases import NOW, a_case
from tests.features.watch.watching import WATCH, a_reply

HOUR = timedelta(hours=1)


@pytest.fixture
def orders(log: Store) -> WatchOrders:
    return WatchOrders(log.database)


@pytest.fixture
def replies(log: Store) -> Replies:
    return Replies(log.database)


async def test_a_watch_is_kept_as_it_was_set_last_and_begun_first(orders: WatchOrders) -> None:
    await orders.save(WATCH, "U9")
    kept = replace(WATCH, share=0.2, shows=Shows.REACTION, alerts_to=("C1", "U2"))
    await orders.save(replace(kept, since=NOW + HOUR), "U9")
    other = replace(WATCH, channel_id="C2")
    await orders.save(other, "U9")
    await orders.save(replace(WATCH, team_id="T2"), "U9")
    assert await orders.of("T1") == [kept, other]
    assert await orders.of("T1", "C1") == [kept]


async def test_what_a_watch_waits_for_ends_with_it_and_its_end_is_noted(
    log: Store, orders: WatchOrders, replies: Replies
) -> None:
    for channel_id in ("C1", "C2"):
        watch = replace(WATCH, channel_id=channel_id)
        await orders.save(watch, "U7")
        for number in (1, 2):
            await replies.note(replace(a_reply(number), channel_id=channel_id), watch, NOW)
    await replies.settle(a_reply(1), ReplyOutcome.TAKEN)
    assert await orders.end(WATCH, "U8")
    assert not await orders.end(WATCH, "U8")
    assert [watch.channel_id for watch in await orders.of("T1")] == ["C2"]
    assert await settled(replies) == {a_reply(1).day: {ReplyOutcome.TAKEN: 1}}
    assert [reply.channel_id for reply in await replies.due("T1", NOW)] == ["C2", "C2"]
    acts = [(act.who, act.what, act.channel_id) for act in await log.audit.since()]
    assert acts[1:] == [("U7", Action.WATCH_SET, "C2"), ("U8", Action.WATCH_ENDED, "C1")]


async def settled(replies: Replies) -> dict[str, dict[ReplyOutcome | None, int]]:
    """What has become of the replies of WATCH, by day."""
    days = await replies.coverage(watched(WATCH), "2026-01-01")
    return {day: dict(coverage.outcomes) for day, coverage in days.items()}


async def test_a_reply_is_noted_once_and_settled_once(replies: Replies) -> None:
    assert await replies.note(a_reply(1), WATCH, NOW) == 1
    assert await replies.note(a_reply(1, "other"), WATCH, NOW + HOUR) == 0
    assert await replies.due("T1", NOW - HOUR) == await replies.due("T2", NOW) == []
    assert await replies.due("T1", NOW) == [a_reply(1)]
    await replies.wait_on(a_reply(1, None), NOW + HOUR)
    assert await replies.due("T1", NOW) == []
    assert await replies.due("T1", NOW + HOUR) == [a_reply(1, None)]
    await replies.settle(a_reply(1), ReplyOutcome.TAKEN)
    await replies.settle(a_reply(1), ReplyOutcome.MISSED)
    await replies.wait_on(a_reply(1), NOW)
    assert await replies.due("T1", NOW + HOUR) == []
    assert await settled(replies) == {a_reply(1).day: {ReplyOutcome.TAKEN: 1}}


@pytest.mark.on("sqlite")
async def test_a_reply_ends_at_a_message_by_others_heard_of_late(replies: Replies) -> None:
    first, second, third, fourth, fifth = (a_reply(number, parent_ts="1.0") for number in range(5))
    await replies.note(first, WATCH, NOW)
    for other in (third, fifth):
        await replies.end_before("T1", "C1", "1.0", "U2", other.ts)
    assert await replies.part_of(fourth) is None
    assert await replies.part_of(second) == first
    await replies.end_before("T1", "C1", "1.0", "U2", first.ts.replace("01", "02"))
    assert await replies.part_of(second) is None


@pytest.mark.on("sqlite")
async def test_days_and_assistants_are_counted_apart(replies: Replies) -> None:
    for number in (0, 1, 86_400):
        await replies.note(a_reply(number), WATCH, NOW)
    await replies.settle(a_reply(1), ReplyOutcome.OVER)
    await replies.note(a_reply(2, author_id="U2"), replace(WATCH, author_id="U2"), NOW)
    expected = {a_reply(0).day: {None: 1, ReplyOutcome.OVER: 1}, a_reply(86_400).day: {None: 1}}
    assert await settled(replies) == expected


@pytest.mark.on("sqlite")
async def test_what_should_have_a_score_is_what_was_drawn_and_at_rest(replies: Replies) -> None:
    expected = ReplyOutcome.TAKEN, ReplyOutcome.MISSED
    for number, outcome in enumerate((*expected, ReplyOutcome.OVER, ReplyOutcome.NO_ANSWER)):
        await replies.note(a_reply(number), WATCH, NOW)
        await replies.settle(a_reply(number), outcome)
    await replies.note(a_reply(8), WATCH, NOW)
    await replies.note(a_reply(9), replace(WATCH, share=1e-9), NOW)
    assert await replies.expected(watched(WATCH), NOW, NOW + HOUR) == 3
    assert await replies.expected(watched(WATCH), NOW - HOUR, NOW) == 0


def drawn(of: SeenReply, question_ts: str = "1.1", probability: float | None = 1.0) -> Case:
    return a_case(
        key=f"{of}/{probability}",
        team_id=of.team_id,
        channel_id=of.channel_id,
        source=CaseSource.WATCH,
        message_ts=of.ts,
        author_id=of.author_id,
        question_ts=question_ts,
        probability=probability,
    )


@pytest.mark.on("sqlite")
async def test_what_is_used_up_is_that_of_the_replys_day_channel_author_and_question(
    log: Store, orders: WatchOrders, replies: Replies
) -> None:
    next_day = a_reply(86_400)
    others = [a_reply(3, author_id="U2"), a_reply(4, channel_id="C2"), a_reply(5, team_id="T2")]
    for each in (a_reply(0), a_reply(1), a_reply(-86_400), next_day, *others):
        await log.add(drawn(each))
    await log.add(drawn(a_reply(6), "2.2"))
    await log.add(drawn(a_reply(7), probability=None))  # somebody asked for it
    for reply, that_day, of_question in (
        (a_reply(9), 3, 2),
        (a_reply(1), 2, 1),
        (a_reply(9, author_id="U3"), 0, 0),
        (replace(next_day, ts=a_reply(86_401).ts), 1, 1),
    ):
        assert await replies.scored_that_day(WATCH, reply) == that_day
        assert await replies.scored_of_question(reply, "1.1") == of_question
    # Those of an order have one limit a day together.
    of_order = replace(WATCH, is_derived=True)
    await orders.derive([of_order, replace(of_order, channel_id="C2")], [])
    assert await replies.scored_that_day(of_order, a_reply(9)) == 4


async def test_each_watch_has_five_replies_at_a_turn(replies: Replies) -> None:
    for number in range(8):
        await replies.note(a_reply(number), WATCH, NOW + timedelta(seconds=number))
    last = replace(a_reply(9), channel_id="C2")
    await replies.note(last, replace(WATCH, channel_id="C2"), NOW + HOUR)
    found = await replies.due("T1", NOW + HOUR)
    assert sorted(found[:2], key=lambda each: each.ts) == [a_reply(0), last]
    assert found[2:] == [a_reply(number) for number in range(1, 5)]
    assert await replies.due("T1", NOW + HOUR, {"C1"}) == [last]


@pytest.mark.on("sqlite")
async def test_old_replies_are_dropped_by_their_day(log: Store, replies: Replies) -> None:
    await replies.note(a_reply(0), WATCH, NOW)
    for before, left in ((NOW - timedelta(days=90), 1), (NOW + timedelta(days=900), 0)):
        await log.forgetting.forget_older(before)
        assert len(await settled(replies)) == left


async def test_one_process_looks_and_goes_on_from_the_last_success(
    log: Store, orders: WatchOrders
) -> None:
    await orders.save(WATCH, "U9")
    begun = await log.database.value(select(watches.c.look_at))
    looks = [(-1, None), (0, begun), (0, None), (3599, None), (3600, begun)]
    for later, found in looks:
        at = begun + timedelta(seconds=later)
        assert await orders.begin_look("T1", "C1", at, HOUR) == found
    assert await orders.begin_look("T1", "C2", begun, HOUR) is None
    await orders.note_not_read("T1", "C1", "internal_error", begun + HOUR / 2)
    assert await orders.begin_look("T1", "C1", begun + HOUR / 2, HOUR) == begun
    await orders.note_read("T1", "C1", begun + HOUR / 2)
    assert await orders.begin_look("T1", "C1", begun + 2 * HOUR, HOUR) == begun + HOUR / 2


async def test_what_follows_from_an_order_leaves_a_channels_own_alone(orders: WatchOrders) -> None:
    order = replace(WATCH, channel_id="", share=0.5)
    await orders.save(order, "U9")
    await orders.save(WATCH, "U9")  # in C1
    derived = [replace(order, channel_id=name, is_derived=True) for name in ("C1", "C2")]
    await orders.derive(derived, [])
    found = await orders.of("T1")
    assert [(watch.channel_id, watch.share) for watch in found] == [("C1", 1.0), ("C2", 0.5)]
    told_of = await orders.told_of("T1")
    assert [(watch.channel_id, watch.channels) for watch in told_of] == [("C1", ()), ("", ("C2",))]
    assert await orders.leave_out(order, "C2", "U9")
    assert not await orders.leave_out(order, "C2", "U9")
    await orders.derive([], derived)
    assert [watch.channel_id for watch in await orders.of("T1")] == ["C1"]
    assert [watch.except_in for watch in await orders.everywhere("T1")] == [("C2",)]


async def test_a_release_is_announced_and_so_is_that_it_is_taken_back(log: Store) -> None:
    releases = Releases(log.database)
    place = Place("T1", "C1")
    release = await releases.add(Subject("T1", "C1", "U1"), "note", "U9", NOW, NOW.date())
    assert await releases.find(place, release.id) == release
    for found in (releases.to_announce("T1"), releases.to_compare("T1", NOW), releases.of(place)):
        assert await found == [release]
    await releases.note_announced(release, NOW)
    assert await releases.to_announce("T1") == []
    assert await releases.take_back(release, "U8", NOW)
    assert not await releases.take_back(release, "U7", NOW)
    # A process that was still telling of the mark does not stand for this.
    await releases.note_announced(release, NOW)
    (undone,) = await releases.to_announce("T1")
    assert undone.taken_back_by == "U8"
    assert await releases.to_compare("T1", NOW) == await releases.of(place) == []


@pytest.mark.on("sqlite")
async def test_a_release_in_public_channels_is_seen_in_each_that_watches_the_assistant(
    log: Store, orders: WatchOrders
) -> None:
    await orders.save(replace(WATCH, is_private=False), "U9")
    await orders.save(replace(WATCH, channel_id="C2"), "U9")
    releases = Releases(log.database)
    for channel_id in ("", "C2"):
        await releases.add(Subject("T1", channel_id, "U1"), "", "U9", NOW, NOW.date())
    for place, seen in (
        (Place("T1", "C1"), [""]),
        (Place("T1", "C2"), ["C2"]),
        (Place("T1", "C3"), []),
        (Place("T1", "C1", "U2"), []),
    ):
        assert [release.channel_id for release in await releases.of(place)] == seen
