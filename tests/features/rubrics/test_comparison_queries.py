"""Comparisons of a channel's judge with another: which labelled cases, and what comes of what was
asked for.
"""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select, update

from bot.domain.case import CaseTurn, Part
from bot.domain.label import Label
from bot.features.rubrics.queries import MOST, JudgeRequest, JudgeRequests, Records
from bot.store import Store
from bot.store.examples import Aim
from bot.store.rubrics import ChannelJudge, RubricGoneError
from bot.store.schema import judge_requests, labels
from judge import Turn
from judge.scoring.rubric import Scale
from tests.cases import a_case, a_verdict, held

NEW = ChannelJudge("code", None, "large")
SCALE = Scale(0, 5)
BOTH = ("v1", "v2")
"""The versions of the judge in use and of the one to be."""


async def labelled(
    log: Store,
    number: int,
    *,
    is_blind: bool = False,
    is_labelled: bool = True,
    version: str = "v1",
    **fields: object,
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
        await log.database.execute(
            update(labels).where(labels.c.case_id == case.id).values(is_blind=True)
        )
    return case.id


async def begun(log: Store, judge: ChannelJudge = NEW, user_id: str = "U1") -> JudgeRequest:
    requests = JudgeRequests(log.database)
    await requests.begin(Aim.COMPARE, "T1", "C1", user_id, judge)
    found = await requests.of(Aim.COMPARE, "T1", "C1")
    assert found is not None
    return found


async def test_a_change_and_its_decision_are_one(log: Store) -> None:
    requests = JudgeRequests(log.database)
    gone = await begun(log, ChannelJudge("tone", "12345678"))
    with pytest.raises(RubricGoneError):
        await log.rubrics.use("T1", "C1", gone.judge, "U1", decides=requests.decision(gone.id))
    assert await requests.find(gone.id) == gone
    wish = await begun(log)
    assert await log.rubrics.use("T1", "C1", NEW, "U1", decides=requests.decision(wish.id))
    assert await requests.find(wish.id) is None
    assert not await log.rubrics.use(
        "T1", "C1", ChannelJudge("refusal"), "U1", decides=requests.decision(wish.id)
    )
    assert await log.rubrics.chosen("T1", "C1") == NEW


async def test_of_people_who_ask_for_a_change_at_once_all_are_heard_and_one_change_is_left(
    log: Store,
) -> None:
    asked = [
        begun(log, ChannelJudge(name), f"U{n}") for n, name in enumerate(["code", "refusal"] * 5)
    ]
    await asyncio.gather(*asked)
    assert len(await log.database.all(select(judge_requests))) == 1


async def test_a_change_that_is_being_compared_and_asked_for_again_goes_on(log: Store) -> None:
    wish = await begun(log)
    assert await begun(log) == wish
    others = await begun(log, ChannelJudge("code"))
    bens = await begun(log, ChannelJudge("code"), "U2")
    assert wish.id < others.id < bens.id
    await JudgeRequests(log.database).offer(bens.id)
    assert (await begun(log, ChannelJudge("code"), "U2")).id > bens.id


async def test_what_is_asked_for_is_a_channels_own_and_an_improvement_goes_on_beside_it(
    log: Store,
) -> None:
    requests = JudgeRequests(log.database)
    await requests.begin(Aim.COMPARE, "T1", "C2", "U1", NEW)
    await requests.begin(Aim.IMPROVE, "T1", "C1", "U1", NEW)
    assert await requests.of(Aim.COMPARE, "T1", "C1") is None
    wish = await begun(log)
    await Records(log.database, "T1", "C1").put("proposal/1", {})
    await requests.offer(wish.id)
    assert await requests.drop(wish.id)
    assert not await requests.drop(wish.id)
    assert await requests.of(Aim.COMPARE, "T2", "C1") is None
    assert await requests.of(Aim.IMPROVE, "T1", "C1") is not None
    assert await Records(log.database, "T1", "C1").get("proposal/1") == {}


async def test_blind_labels_come_first_then_what_one_of_the_two_has_scored_then_the_newest(
    log: Store,
) -> None:
    old_blind = await labelled(log, 1, is_blind=True, version="v0")
    seen = [await labelled(log, number, version=BOTH[number % 2]) for number in range(2, MOST)]
    await labelled(log, 50, version="v0")
    newest = await labelled(log, 51, version="v0")
    await labelled(log, 52, is_labelled=False)
    await labelled(log, 101, is_blind=True, visibility="me")
    await labelled(log, 102, is_blind=True, channel_id="C2")
    requests = JudgeRequests(log.database)
    assert await requests.labelled("T1", "C1", Scale(1, 10), MOST, BOTH) == []
    chosen = await requests.labelled("T1", "C1", SCALE, MOST, BOTH)
    assert [int(each.case.id) for each in chosen] == [old_blind, *reversed(seen), newest]
    assert [each.judge_version for each in chosen] == ["v0", *["v2", "v1"] * 14, "v0"]
    assert [each.case.is_blind for each in chosen] == [True] + [False] * (MOST - 1)


async def test_a_stored_case_is_judged_again_with_what_was_said_before_its_question(
    log: Store,
) -> None:
    said = [
        CaseTurn(
            part=Part.CONVERSATION, ts=ts, author_id="U2", role="Person 1", text=text, text_hash=""
        )
        for ts, text in (("1.1", "First."), ("2.1", "Last."))
    ]
    await labelled(log, 1, turns=tuple(said), messages_before=5, left_out=3)
    expected = (
        Turn("Person 1", "First."),
        Turn("", "[3 messages left out]"),
        Turn("Person 1", "Last."),
    )
    (compared,) = await JudgeRequests(log.database).labelled("T1", "C1")
    assert compared.case.conversation == expected
