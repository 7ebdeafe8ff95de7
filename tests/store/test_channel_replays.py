"""Replays of labelled cases before a channel's judge changes: which cases, each once, and what comes of it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from sqlalchemy import func, select, update

from bot.domain.label import Label
from bot.domain.rubric import ChannelJudge
from bot.features.rubrics.figures import ReplayFigures, replay_figures
from bot.features.rubrics.text import comparison
from bot.store import Store
from bot.store.rubrics import MOST, ChannelReplay, ReplayedCase, RubricGoneError
from bot.store.schema import labels, replay_scores, replayed, replays, spent
from judge.rubric import Scale
from tests.store.test_store import a_case, a_verdict, held

NEW = ChannelJudge("code", None, "large")
SCALE = Scale(0, 5)
BOTH = ("v1", "v2")
"""The versions of the judge in use and of the one to be."""


@pytest.fixture
async def log(database_url: str) -> AsyncIterator[Store]:
    opened = await Store.open(database_url)
    yield opened
    await opened.close()


async def labelled(
    log: Store, number: int, *, is_blind: bool = False, is_labelled: bool = True, version: str = "v1", **fields: object
) -> int:
    """A case with a score of 4 and a label of 3; gives its number."""
    verdict = a_verdict().model_copy(update={"judge_version": version, "lowest": 0, "highest": 5})
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
    assert await log.channel_replays.begin("T1", "C1", "U1", judge)
    row = await log.database.one(select(func.max(replays.c.id).label("number")))
    assert row is not None
    replay = await log.channel_replays.find(row.number)
    assert replay is not None
    return replay


async def test_a_change_and_its_decision_are_one(log: Store) -> None:
    await labelled(log, 1)
    gone = await begun(log, ChannelJudge("tone", "12345678"))
    with pytest.raises(RubricGoneError):
        await log.rubrics.use("T1", "C1", gone.judge, "U1", decides=gone.id)
    assert await log.channel_replays.find(gone.id) == gone
    replay = await begun(log)
    assert await log.rubrics.use("T1", "C1", NEW, "U1", decides=replay.id)
    assert await log.channel_replays.find(replay.id) is None
    assert not await log.rubrics.use("T1", "C1", ChannelJudge("refusal"), "U1", decides=replay.id)
    assert await log.rubrics.chosen("T1", "C1") == NEW


async def test_of_people_who_ask_for_a_change_at_once_all_are_heard_and_one_change_is_left(log: Store) -> None:
    await labelled(log, 1)
    names = ["code", "refusal"] * 5
    asked = [log.channel_replays.begin("T1", "C1", f"U{n}", ChannelJudge(name)) for n, name in enumerate(names)]
    assert await asyncio.gather(*asked) == [True] * len(names)
    assert len(await log.database.all(select(replays))) == 1


async def test_a_change_that_is_being_compared_and_asked_for_again_goes_on(log: Store) -> None:
    await labelled(log, 1)
    replay = await begun(log)
    assert await begun(log) == replay
    others = await begun(log, ChannelJudge("code"))
    assert others.id > replay.id
    assert await log.channel_replays.begin("T1", "C1", "U2", others.judge)
    assert await log.channel_replays.find(others.id) is None
    bens = await log.channel_replays.find(others.id + 1)
    assert bens is not None
    await log.channel_replays.note_told(bens)
    assert await log.channel_replays.begin("T1", "C1", "U2", others.judge)
    assert await log.channel_replays.find(bens.id) is None


async def test_what_is_asked_for_is_a_channels_own(log: Store) -> None:
    for number, channel_id in enumerate(("C2", "C1"), 1):
        await labelled(log, number, channel_id=channel_id)
    assert await log.channel_replays.begin("T1", "C2", "U1", NEW)
    assert await log.channel_replays.of("T1", "C1") is None
    replay = await begun(log)
    assert await log.channel_replays.of("T1", "C1") == replay
    assert await log.channel_replays.of("T2", "C1") is None


async def test_without_a_label_there_is_nothing_to_replay(log: Store) -> None:
    await labelled(log, 1, is_labelled=False)
    assert not await log.channel_replays.begin("T1", "C1", "U1", NEW)
    await labelled(log, 2, channel_id="C2")
    assert not await log.channel_replays.begin("T1", "C1", "U1", NEW)
    await labelled(log, 3)
    assert await log.channel_replays.begin("T1", "C1", "U1", NEW)


async def test_blind_labels_come_first_then_what_one_of_the_two_has_scored_then_the_newest(log: Store) -> None:
    old_blind = await labelled(log, 1, is_blind=True, version="v0")
    seen = [await labelled(log, number, version=BOTH[number % 2]) for number in range(2, MOST)]
    await labelled(log, 50, version="v0")
    newest = await labelled(log, 51, version="v0")
    await labelled(log, 101, is_blind=True, visibility="me")
    await labelled(log, 102, is_blind=True, channel_id="C2")
    replay = await begun(log)
    await log.channel_replays.plan(replay, BOTH, Scale(1, 10))
    assert await log.channel_replays.cases(replay) == []
    await log.channel_replays.plan(replay, BOTH, SCALE)
    chosen = await log.channel_replays.cases(replay)
    assert [case.id for case in chosen] == [old_blind, *seen, newest]
    assert [case.logged_by for case in chosen] == ["v0", *["v1", "v2"] * 14, "v0"]
    assert [case.is_blind for case in chosen] == [True] + [False] * (MOST - 1)
    await labelled(log, 103, is_blind=True)
    await log.channel_replays.plan(replay, BOTH, SCALE)
    assert await log.channel_replays.cases(replay) == chosen


async def test_each_case_has_one_score_of_each_judge_and_each_that_was_asked_for_counts_once_in_the_limits(
    log: Store,
) -> None:
    first, second = await labelled(log, 1), await labelled(log, 2, version="v0")
    replay = await begun(log)
    await log.channel_replays.plan(replay, BOTH, SCALE)
    for score in (2, 5):
        await log.channel_replays.record(replay, first, "v2", score, 100)
        await log.channel_replays.record(replay, second, "v1", None, 100)
        await log.channel_replays.record(replay, 99, "v1", score, 100)
    cases = await log.channel_replays.cases(replay)
    assert [(case.id, case.scores) for case in cases] == [
        (first, {"v1": 4, "v2": 2}),
        (second, {"v0": 4, "v1": None}),
    ]
    row = await log.database.one(select(func.count().label("n"), func.sum(spent.c.tokens).label("tokens")))
    assert row is not None
    assert (row.n, row.tokens) == (2, 200)


async def test_the_next_wish_takes_the_place_of_the_last_and_a_forgotten_case_goes(log: Store) -> None:
    number = await labelled(log, 1)
    first = await begun(log)
    await log.channel_replays.plan(first, BOTH, SCALE)
    second = await begun(log, ChannelJudge())
    assert await log.channel_replays.find(first.id) is None
    assert second.judge == ChannelJudge()
    await log.channel_replays.plan(second, BOTH, SCALE)
    await log.channel_replays.plan(first, BOTH, SCALE)
    await log.channel_replays.record(second, number, "v2", 2, 100)
    await log.forgetting.forget([number], "U1")
    assert await log.database.all(select(replayed.c.case_id)) == []
    assert await log.database.all(select(replay_scores.c.case_id)) == []


async def test_blind_labels_count_alone_where_there_are_any(log: Store) -> None:
    number = await labelled(log, 1, is_blind=True)
    case = await log.cases.get(number)
    assert case is not None
    await log.labels.put(case, "U8", Label(5, None))
    replay = await begun(log)
    await log.channel_replays.plan(replay, BOTH, SCALE)
    (only,) = await log.channel_replays.cases(replay)
    assert (only.labels, only.is_blind) == ([3], True)


def a_replayed(
    number: int, before: int | None, now: int | None, *labels: int, is_blind: bool = True, logged_by: str = "v1"
) -> ReplayedCase:
    scores = {logged_by: 1} | dict(zip(BOTH, (before, now), strict=True))
    return ReplayedCase(number, "Why?", "So.", logged_by, scores, labels, is_blind, str(number))


def figures(*cases: ReplayedCase) -> ReplayFigures | None:
    return replay_figures(cases, *BOTH, SCALE)


def test_figures_are_paired_by_case() -> None:
    found = figures(
        a_replayed(1, 5, 3, 3, logged_by="v0"),  # 2 off before, 0 now: 2 closer
        a_replayed(2, 4, 4, 3, 4),  # people 3.5; 0.5 off both times: 0 closer
        a_replayed(3, 3, 1, 3, is_blind=False),  # 0 off before, 2 now: 2 farther
        a_replayed(4, 2, 4, 5, logged_by="v2"),  # 3 off before, 1 now: 2 closer
        a_replayed(5, 1, None, 1),
        a_replayed(6, None, 1, 1, logged_by="v0"),
        replace(a_replayed(7, 1, 1, 1), scores={"v2": 1}),  # the judge in use could not be asked
    )
    assert found is not None
    assert (found.n, found.blind, found.of_others, found.unscored) == (4, 3, 1, 3)
    assert (found.same_before, found.same_now) == (1, 1)
    assert found.off_before == pytest.approx((2 + 0.5 + 0 + 3) / 4)
    assert found.off_now == pytest.approx((0 + 0.5 + 2 + 1) / 4)
    assert found.closer.mean == pytest.approx((2 + 0 - 2 + 2) / 4)
    assert (found.mean_before, found.mean_now, found.mean_people) == pytest.approx((3.5, 3.0, (3 + 3.5 + 3 + 5) / 4))
    assert figures(a_replayed(1, 3, None, 3)) is None
    assert figures() is None


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ([(5, 3, 3)] * 12, "2.0 in use, 0.0 with the new one: 2.0 closer (95% between +1.8 and +2.2)"),
        ([(3, 5, 3)] * 12, "0.0 in use, 2.0 with the new one: 2.0 farther away (95% between -2.2 and -1.8)"),
        ([(5, 3, 3), (3, 5, 3)] * 6, "no closer, and that may be chance (95% between"),
        ([(3, 4, 3), *[(3, 3, 3)] * 24], "no closer, and that may be chance (95% between"),
        ([(5, 4, 3), (3, 3, 3)] * 2, "0.5 closer, and that may be chance (95% between"),
        ([(3, 4, 3), (3, 3, 3)] * 2, "0.5 farther away, and that may be chance (95% between"),
        ([(5, 3, 3)], "2.0 in use, 0.0 with the new one: too few to say more"),
    ],
)
def test_what_is_said_is_what_the_interval_allows(cases: list[tuple[int, int, int]], said: str) -> None:
    rows = [a_replayed(number, before, now, label) for number, (before, now, label) in enumerate(cases)]
    post = comparison(7, "`code`", figures(*rows), len(rows))
    assert said in post.text
    assert "lean towards it" not in post.text
    assert [element["value"] for element in post.blocks[-1]["elements"]] == ["7", "7"]


def test_labels_of_those_who_had_seen_the_score_are_said_to_lean() -> None:
    rows = [a_replayed(1, 5, 3, 3, logged_by="v0"), a_replayed(2, 5, 3, 3, is_blind=False), a_replayed(3, 5, None, 3)]
    text = comparison(7, "`code`", figures(*rows), len(rows)).text
    assert "on the same 2 labelled replies of this channel, 1 labelled blind. " in text
    assert "Both were asked about 1 that other judges had scored. 1 more got no score by one of the two." in text
    assert "lean towards it" in text
    assert "Nothing compares `code` with the judge in use" in comparison(7, "`code`", None, 0).text
