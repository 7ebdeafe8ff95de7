"""Replays of labelled cases before a channel's judge changes: which cases, each once, and what comes of it."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import func, select, update

from bot.domain.case import CaseTurn, Part
from bot.domain.label import Label
from bot.domain.limits import Limits
from bot.domain.rubric import ChannelJudge
from bot.features.rubrics.replay_queries import MOST, ChannelReplay, ChannelReplays
from bot.store import Store
from bot.store.rubrics import RubricGoneError
from bot.store.schema import labels, replay_scores, replayed, replays, spent
from judge import Turn
from judge.scoring.rubric import Scale
from tests.cases import a_case, a_verdict, held

NEW = ChannelJudge("code", None, "large")
SCALE = Scale(0, 5)
BOTH = ("v1", "v2")
"""The versions of the judge in use and of the one to be."""


async def labelled(
    log: Store, number: int, *, is_blind: bool = False, is_labelled: bool = True, version: str = "v1", **fields: object
) -> int:
    """A case with a score of 4 and a label of 3; gives its number."""
    verdict = replace(a_verdict(), judge_version=version, lowest=0, highest=5)
    fields = {"key": f"k{number}", "message_ts": f"1795339203.{number:06}"} | fields
    case, _ = await log.add(a_case(**fields))
    case = await log.record(await held(log, case), verdict)
    await log.note_delivered(case)
    if is_labelled:
        await log.labels.put(case, "U9", Label(3, None))
    if is_blind:
        await log.database.execute(update(labels).where(labels.c.case_id == case.id).values(is_blind=True))
    return case.id


async def begun(log: Store, judge: ChannelJudge = NEW) -> ChannelReplay:
    assert await ChannelReplays.from_store(log).begin("T1", "C1", "U1", judge)
    row = await log.database.one(select(func.max(replays.c.id).label("number")))
    assert row is not None
    replay = await ChannelReplays.from_store(log).find(row.number)
    assert replay is not None
    return replay


async def test_a_change_and_its_decision_are_one(log: Store) -> None:
    await labelled(log, 1)
    gone = await begun(log, ChannelJudge("tone", "12345678"))
    with pytest.raises(RubricGoneError):
        await log.rubrics.use("T1", "C1", gone.judge, "U1", decides=ChannelReplays.from_store(log).decision(gone.id))
    assert await ChannelReplays.from_store(log).find(gone.id) == gone
    replay = await begun(log)
    assert await log.rubrics.use("T1", "C1", NEW, "U1", decides=ChannelReplays.from_store(log).decision(replay.id))
    assert await ChannelReplays.from_store(log).find(replay.id) is None
    assert not await log.rubrics.use(
        "T1", "C1", ChannelJudge("refusal"), "U1", decides=ChannelReplays.from_store(log).decision(replay.id)
    )
    assert await log.rubrics.chosen("T1", "C1") == NEW


async def test_of_people_who_ask_for_a_change_at_once_all_are_heard_and_one_change_is_left(log: Store) -> None:
    await labelled(log, 1)
    names = ["code", "refusal"] * 5
    asked = [
        ChannelReplays.from_store(log).begin("T1", "C1", f"U{n}", ChannelJudge(name)) for n, name in enumerate(names)
    ]
    assert await asyncio.gather(*asked) == [True] * len(names)
    assert len(await log.database.all(select(replays))) == 1


async def test_a_change_that_is_being_compared_and_asked_for_again_goes_on(log: Store) -> None:
    await labelled(log, 1)
    replay = await begun(log)
    assert await begun(log) == replay
    others = await begun(log, ChannelJudge("code"))
    assert others.id > replay.id
    assert await ChannelReplays.from_store(log).begin("T1", "C1", "U2", others.judge)
    assert await ChannelReplays.from_store(log).find(others.id) is None
    bens = await ChannelReplays.from_store(log).find(others.id + 1)
    assert bens is not None
    await ChannelReplays.from_store(log).note_told(bens)
    assert await ChannelReplays.from_store(log).begin("T1", "C1", "U2", others.judge)
    assert await ChannelReplays.from_store(log).find(bens.id) is None


async def test_what_is_asked_for_is_a_channels_own(log: Store) -> None:
    for number, channel_id in enumerate(("C2", "C1"), 1):
        await labelled(log, number, channel_id=channel_id)
    assert await ChannelReplays.from_store(log).begin("T1", "C2", "U1", NEW)
    assert await ChannelReplays.from_store(log).of("T1", "C1") is None
    replay = await begun(log)
    assert await ChannelReplays.from_store(log).of("T1", "C1") == replay
    assert await ChannelReplays.from_store(log).of("T2", "C1") is None


async def test_without_a_label_there_is_nothing_to_replay(log: Store) -> None:
    await labelled(log, 1, is_labelled=False)
    assert not await ChannelReplays.from_store(log).begin("T1", "C1", "U1", NEW)
    await labelled(log, 2, channel_id="C2")
    assert not await ChannelReplays.from_store(log).begin("T1", "C1", "U1", NEW)
    await labelled(log, 3)
    assert await ChannelReplays.from_store(log).begin("T1", "C1", "U1", NEW)


async def test_blind_labels_come_first_then_what_one_of_the_two_has_scored_then_the_newest(log: Store) -> None:
    old_blind = await labelled(log, 1, is_blind=True, version="v0")
    seen = [await labelled(log, number, version=BOTH[number % 2]) for number in range(2, MOST)]
    await labelled(log, 50, version="v0")
    newest = await labelled(log, 51, version="v0")
    await labelled(log, 101, is_blind=True, visibility="me")
    await labelled(log, 102, is_blind=True, channel_id="C2")
    replay = await begun(log)
    await ChannelReplays.from_store(log).plan(replay, BOTH, Scale(1, 10))
    assert await ChannelReplays.from_store(log).cases(replay) == []
    await ChannelReplays.from_store(log).plan(replay, BOTH, SCALE)
    chosen = await ChannelReplays.from_store(log).cases(replay)
    assert [int(each.case.id) for each in chosen] == [old_blind, *seen, newest]
    assert [each.judge_version for each in chosen] == ["v0", *["v1", "v2"] * 14, "v0"]
    assert [each.case.is_blind for each in chosen] == [True] + [False] * (MOST - 1)
    await labelled(log, 103, is_blind=True)
    await ChannelReplays.from_store(log).plan(replay, BOTH, SCALE)
    assert await ChannelReplays.from_store(log).cases(replay) == chosen


async def test_each_case_has_one_score_of_each_judge_and_what_was_asked_for_counts_in_the_limits(log: Store) -> None:
    first, second = await labelled(log, 1), await labelled(log, 2, version="v0")
    replay = await begun(log)
    await ChannelReplays.from_store(log).plan(replay, BOTH, SCALE)
    limits = Limits(cases_per_day=7)  # two cases, and five of these
    for case_id, version, score in ((first, "v2", 2), (first, "v2", 5), (second, "v1", None), (99, "v1", 2)):
        reserved = await log.spending.reserve("T1", limits, 999)
        assert reserved is not None
        await log.spending.note(reserved, 100)
        await ChannelReplays.from_store(log).record(replay, case_id, version, score)
    cases = await ChannelReplays.from_store(log).cases(replay)
    assert [(int(each.case.id), each.scores) for each in cases] == [
        (first, {"v1": 4, "v2": 2}),
        (second, {"v0": 4, "v1": None}),
    ]
    row = await log.database.one(select(func.count().label("n"), func.sum(spent.c.tokens).label("tokens")))
    assert row is not None
    assert (row.n, row.tokens) == (4, 400)
    fifth = await log.spending.reserve("T1", limits, 1)
    assert fifth is not None
    assert await log.spending.reserve("T1", limits, 1) is None
    await log.spending.note(fifth, None)
    assert await log.spending.reserve("T1", limits, 1) is not None


async def test_the_next_wish_takes_the_place_of_the_last_and_a_forgotten_case_goes(log: Store) -> None:
    number = await labelled(log, 1)
    first = await begun(log)
    await ChannelReplays.from_store(log).plan(first, BOTH, SCALE)
    second = await begun(log, ChannelJudge())
    assert await ChannelReplays.from_store(log).find(first.id) is None
    assert second.judge == ChannelJudge()
    await ChannelReplays.from_store(log).plan(second, BOTH, SCALE)
    await ChannelReplays.from_store(log).plan(first, BOTH, SCALE)
    await ChannelReplays.from_store(log).record(second, number, "v2", 2)
    await log.forgetting.forget([number], "U1")
    assert await log.database.all(select(replayed.c.case_id)) == []
    assert await log.database.all(select(replay_scores.c.case_id)) == []


async def test_a_stored_case_is_judged_again_with_what_was_said_before_its_question(log: Store) -> None:
    said = [
        CaseTurn(part=Part.CONVERSATION, ts=ts, author_id="U2", role="Person 1", text=text, text_hash="")
        for ts, text in (("1.1", "First."), ("2.1", "Last."))
    ]
    await labelled(log, 1, turns=tuple(said), messages_before=5, left_out=3)
    expected = Turn("Person 1", "First."), Turn("", "[3 messages left out]"), Turn("Person 1", "Last.")
    replay = await begun(log)
    await ChannelReplays.from_store(log).plan(replay, BOTH, SCALE)
    (compared,) = await ChannelReplays.from_store(log).cases(replay)
    assert compared.case.conversation == expected
