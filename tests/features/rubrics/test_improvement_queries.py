"""Improvements of a channel's judge: one at a time, what they learn from and remember, and what
becomes of them.
"""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from bot.domain.case import CaseTurn, LoggedCase, Part
from bot.domain.label import Label
from bot.features.rubrics.queries import JudgeRequest, JudgeRequests, Records
from bot.store import Store
from bot.store.examples import Aim, Progress
from bot.store.rubrics import ChannelJudge
from bot.store.schema import align_records, judge_requests, labels
from judge import Turn
from judge.evaluation.align.examples import examples_of
from judge.scoring.rubric import Scale
from tests.cases import ANN, delivered, put_back
from tests.features.rubrics.test_comparison_queries import NEW, labelled
from tests.store.test_examples import WAYS, Way, save, showing, use

SCALE = Scale(0, 5)


def requests(log: Store) -> JudgeRequests:
    return JudgeRequests(log.database)


async def begun(log: Store, channel_id: str = "C1") -> JudgeRequest:
    before = await requests(log).of(Aim.IMPROVE, "T1", channel_id)
    assert await requests(log).begin(Aim.IMPROVE, "T1", channel_id, "U1", NEW) == before
    improvement = await requests(log).of(Aim.IMPROVE, "T1", channel_id)
    assert improvement is not None
    return improvement


async def begun_with_an_example(log: Store) -> tuple[LoggedCase, JudgeRequest]:
    """A case that the channel's rubric shows as an example, and an improvement of that rubric."""
    case = await delivered(log)
    await save(log, showing(case.id))
    await use(log, showing(case.id))
    await requests(log).begin(Aim.IMPROVE, "T1", "C1", "U1", await log.rubrics.chosen("T1", "C1"))
    begins = await requests(log).of(Aim.IMPROVE, "T1", "C1")
    assert begins is not None
    return case, begins


async def keys(log: Store) -> list[str]:
    return [
        row.key
        for row in await log.database.all(select(align_records.c.key).order_by(align_records.c.key))
    ]


async def test_of_people_who_begin_at_once_one_does_and_the_others_are_told_of_it(
    log: Store,
) -> None:
    asked = [
        requests(log).begin(Aim.IMPROVE, "T1", "C1", f"U{number}", NEW) for number in range(10)
    ]
    found = await asyncio.gather(*asked)
    (row,) = await log.database.all(select(judge_requests))
    assert sorted(each.id if each else 0 for each in found) == [0] + [row.id] * 9
    assert (await begun(log, "C2")).judge == NEW


async def test_what_is_stopped_or_decided_gives_way_to_the_next(log: Store) -> None:
    first = await begun(log)
    assert await requests(log).stop(first.id)
    second = await begun(log)
    assert await requests(log).propose(second.id, "text")
    await requests(log).offer(second.id)
    assert not await requests(log).stop(second.id)
    third = await begun(log)
    assert [await requests(log).find(each.id) for each in (first, second, third)] == [
        None,
        None,
        third,
    ]


async def test_a_rubric_is_decided_about_once(log: Store) -> None:
    improvement = await begun(log)
    assert not await requests(log).leave(improvement.id)
    assert await requests(log).propose(improvement.id, "text")
    uses, back = requests(log).use(improvement.id), requests(log).go_back(improvement.id)
    assert not await log.rubrics.use("T1", "C1", NEW, "U1", back)
    other = ChannelJudge("refusal")
    used = await asyncio.gather(*(log.rubrics.use("T1", "C1", other, "U1", uses) for _ in range(3)))
    assert sorted(used) == [False, False, True]
    await requests(log).offer(improvement.id)
    assert not await requests(log).leave(improvement.id)
    assert [await log.rubrics.use("T1", "C1", NEW, "U1", back) for _ in range(2)] == [True, False]
    assert await log.rubrics.chosen("T1", "C1") == NEW


@pytest.mark.parametrize("ends", ["offer", "drop"])
async def test_what_models_wrote_goes_at_the_end_and_the_rest_stays(log: Store, ends: str) -> None:
    improvement = await begun(log)
    records, elsewhere = (Records(log.database, "T1", channel_id) for channel_id in ("C1", "C2"))
    for each in ("parts", "attempts", "proposal/1"):
        await records.put(each, {})
    await elsewhere.put("proposal/2", {})
    await getattr(requests(log), ends)(improvement.id)
    assert await keys(log) == ["attempts", "parts", "proposal/2"]


@pytest.mark.needs("privacy")
async def test_what_is_remembered_of_a_case_goes_with_it_or_with_its_texts(log: Store) -> None:
    from bot.features.privacy.queries import PersonalData

    gone, dropped, kept = [
        await labelled(log, number, requester_id=f"U{number}") for number in (1, 2, 3)
    ]
    records = Records(log.database, "T1", "C1")
    for number in (gone, dropped, kept, 99):
        await records.put(f"score/org/model, code 1234/{number}/abc", {"score": number})
    await records.put(f"score/org/model, code 1234/{kept}/abc", {"score": 5})
    await records.put("parts", {"abc": True})
    await log.forgetting.forget([gone], "U1")
    await PersonalData(log.database).forget("T1", "U2")
    for number in (gone, dropped):  # an answer that was under way
        await records.put(f"score/org/model, code 1234/{number}/abc", {"score": number})
    assert await keys(log) == ["parts", f"score/org/model, code 1234/{kept}/abc"]
    assert await records.get(f"score/org/model, code 1234/{kept}/abc") == {"score": 5}
    await log.forgetting.forget([kept], "U1")
    assert await keys(log) == ["parts"]


async def test_labels_are_those_of_people_who_had_not_seen_the_score_where_there_are_any(
    log: Store,
) -> None:
    said = CaseTurn(
        part=Part.CONVERSATION, ts="1.1", author_id="U2", role="Person 1", text="Hm.", text_hash=""
    )
    seen = await labelled(log, 1, turns=(said,), messages_before=1)
    blind = await labelled(log, 2, is_blind=True, version="v2")
    await labelled(log, 3, is_labelled=False)
    await labelled(log, 4, channel_id="C2")
    await labelled(log, 5, visibility="me")
    for number in (seen, blind):
        case = await log.cases.get(number)
        assert case is not None
        await log.labels.put(case, "U8", Label(5, "Too long."))
    await log.database.execute(update(labels).where(labels.c.user_id == "U9").values(reason="So."))
    found = await requests(log).labelled("T1", "C1", SCALE)
    assert found[1].case.conversation == (Turn("Person 1", "Hm."),)
    assert [each.case.id for each in found] == [str(blind), str(seen)]
    assert [(each.case.label, each.case.is_blind, each.judge_version) for each in found] == [
        (3, True, "v2"),
        (4, False, "v1"),
    ]
    assert [(each.case.people, each.case.reasons) for each in found] == [
        (("U9",), ("So.",)),
        (("U9", "U8"), ("So.", "Too long.")),
    ]
    assert found[0].scored.mean == 4
    assert await requests(log).labelled("T1", "C1", Scale(1, 10)) == []


@pytest.mark.parametrize(("way", "changes"), WAYS.values(), ids=WAYS)
async def test_what_has_read_words_that_are_forgotten_ends(
    log: Store, way: Way, changes: dict[str, Any]
) -> None:
    fields = dict(changes)
    age = fields.pop("age", timedelta())
    case = await log.cases.get(await labelled(log, 1, **fields))
    assert case is not None
    await log.labels.put(case, ANN, Label(3, "Too long."))
    await put_back(log, case, age)
    ours, others = [await begun(log, each) for each in ("C1", "C2")]
    for each in (ours, others):
        await requests(log).learn(each, SCALE, [])
        await Records(log.database, *each.place).put("proposal/1", {"text": "Because."})
        assert await requests(log).propose(each.id, "Because.")
    await way(log, case)
    ended, left = await requests(log).find(ours.id), await requests(log).find(others.id)
    assert ended is not None
    assert (ended.status, ended.prompt) == (Progress.FORGOTTEN, None)
    assert left is not None
    assert (left.status, left.prompt) == (Progress.RUNNING, "Because.")
    assert not await requests(log).propose(ours.id, "Because.")
    assert not await log.rubrics.use("T1", "C1", NEW, "U1", requests(log).use(ours.id))
    assert await requests(log).learn(ended, SCALE, []) is None
    assert "proposal/1" not in [row.key for row in await log.database.all(_OF_C1)]


async def test_what_was_offered_from_a_forgotten_reply_is_dropped_and_what_is_used_stays(
    log: Store,
) -> None:
    offered, used = await labelled(log, 1), await labelled(log, 2, channel_id="C2")
    first, second = [await begun(log, each) for each in ("C1", "C2")]
    for each in (first, second):
        await requests(log).learn(each, SCALE, [])
        await requests(log).propose(each.id, "text")
        await requests(log).offer(each.id)
    assert await log.rubrics.use("T1", "C2", NEW, "U1", requests(log).use(second.id))
    await log.forgetting.forget([offered, used], "U1")
    assert await requests(log).find(first.id) is None
    assert await requests(log).find(second.id) is not None


async def test_an_example_of_the_rubric_in_use_is_read_like_a_reply(log: Store) -> None:
    case, begins = await begun_with_an_example(log)
    assert await requests(log).learn(begins, Scale(1, 9), examples_of(showing(case.id))) == []
    await log.forgetting.forget([case.id], "U1")
    ended = await requests(log).find(begins.id)
    assert ended is not None
    assert ended.status == Progress.FORGOTTEN


async def test_a_rubric_that_lost_an_example_before_it_was_read_is_not_improved(log: Store) -> None:
    case, begins = await begun_with_an_example(log)
    await log.forgetting.forget([case.id], "U1")
    assert await requests(log).learn(begins, SCALE, examples_of(showing(case.id))) is None


async def test_what_a_killed_attempt_has_read_counts_for_the_next(log: Store) -> None:
    number = await labelled(log, 1)
    begins = await begun(log)
    await requests(log).learn(begins, SCALE, [])
    await log.database.execute(delete(labels))
    assert await requests(log).learn(begins, SCALE, []) == []
    await log.forgetting.forget([number], "U1")
    ended = await requests(log).find(begins.id)
    assert ended is not None
    assert ended.status == Progress.FORGOTTEN


_OF_C1 = select(align_records.c.key).where(align_records.c.channel_id == "C1")
