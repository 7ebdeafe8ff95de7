"""What the store keeps of rubrics that were made in channels, how a case finds its judge; on both
databases.
"""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import IntegrityError

from bot.pipeline.judges import Judges, RubricChoice
from bot.store import Store
from bot.store.audit import Action
from bot.store.rubrics import (
    MOST_RUBRICS,
    ChannelJudge,
    RubricGoneError,
    RubricInUseError,
    SavedBeforeError,
    SavedRubric,
    TooManyRubricsError,
)
from judge import Judge, Rubric, list_rubrics, load_rubric
from tests.cases import TONE, a_case

pytestmark = pytest.mark.on("sqlite")

FIRST = SavedRubric("T1", "C1", "tone", 1, TONE, "U1", datetime(2026, 11, 22, tzinfo=UTC))
SECOND = replace(FIRST, number=2, prompt=f"Be strict. {TONE}", saved_by="U2")
VERSIONS = [saved.rubric.version for saved in (FIRST, SECOND)]
SHIPPED = {name: load_rubric(name) for name in list_rubrics()}


async def test_each_saved_version_is_kept_and_the_last_is_the_rubric(log: Store) -> None:
    for saved in (FIRST, SECOND, replace(FIRST, channel_id="C2"), replace(FIRST, team_id="T2")):
        await log.rubrics.save(saved)
    await log.rubrics.save(replace(FIRST, name="brevity"))
    assert await log.rubrics.newest("T1", "C1") == [replace(FIRST, name="brevity"), SECOND]
    assert await log.rubrics.find("T1", "C1", "tone") == SECOND
    assert await log.rubrics.find("T1", "C1", "tone", VERSIONS[0]) == FIRST
    assert await log.rubrics.find("T1", "C2", "tone", VERSIONS[1]) is None
    assert await log.rubrics.find("T1", "C3", "tone") is None


@pytest.mark.on("sqlite", "postgres")
async def test_one_of_two_saves_at_the_same_moment_is_refused(log: Store) -> None:
    results = await asyncio.gather(
        *(log.rubrics.save(replace(FIRST, saved_by=f"U{number}")) for number in range(5)),
        return_exceptions=True,
    )
    assert [type(each) for each in results if each is not None] == [SavedBeforeError] * 4
    assert len(await log.audit.since()) == 1


async def test_a_save_that_the_database_refuses_is_not_taken_for_an_earlier_one(log: Store) -> None:
    with pytest.raises(IntegrityError):
        await log.rubrics.save(replace(FIRST, saved_by=None))  # refused as NULL


@pytest.mark.on("sqlite", "postgres")
async def test_saves_at_the_same_moment_keep_the_limit_of_rubrics(log: Store) -> None:
    names = [f"tone-{number}" for number in range(MOST_RUBRICS + 2)]
    results = await asyncio.gather(
        *(log.rubrics.save(replace(FIRST, name=name)) for name in names), return_exceptions=True
    )
    assert [type(each) for each in results if each is not None] == [TooManyRubricsError] * 2
    (kept, *_) = await log.rubrics.newest("T1", "C1")
    await log.rubrics.save(replace(SECOND, name=kept.name))  # another version is no other rubric


async def test_a_chosen_rubric_leaves_the_channels_other_settings_alone(log: Store) -> None:
    assert await log.rubrics.chosen("T1", "C1") == ChannelJudge()
    await log.channels.save("T1", "C1", "U1", score_reaction="eyes")
    await log.rubrics.use("T1", "C1", ChannelJudge("code", None, "large"), "U2")
    await log.channels.save("T1", "C1", "U1", labels_per_week=3)
    assert await log.rubrics.chosen("T1", "C1") == ChannelJudge("code", None, "large")
    assert (await log.channels.of("T1", "C1")).score_reaction == "eyes"
    assert (
        await log.rubrics.chosen("T1", "C2")
        == await log.rubrics.chosen("T2", "C1")
        == ChannelJudge()
    )
    assert [(act.what, act.who) for act in await log.audit.since()][1] == (
        Action.JUDGE_CHANGED,
        "U2",
    )


@pytest.mark.on("sqlite", "postgres")
async def test_one_of_two_presses_switches_a_channel(log: Store) -> None:
    for judge in (ChannelJudge("code", None, "large"), ChannelJudge("code")):
        presses = await asyncio.gather(
            *(log.rubrics.use("T1", "C1", judge, "U1") for _ in range(2))
        )
        assert sorted(presses) == [False, True]
    assert len(await log.audit.since()) == 2


@pytest.mark.on("sqlite", "postgres")
async def test_a_rubric_that_is_used_is_not_deleted_and_one_that_is_gone_not_used(
    log: Store,
) -> None:
    own = ChannelJudge("tone", VERSIONS[0])
    with pytest.raises(RubricGoneError):
        await log.rubrics.use("T1", "C1", own, "U1")
    for saved in (FIRST, SECOND, replace(FIRST, channel_id="C2")):
        await log.rubrics.save(saved)
    await log.rubrics.use("T1", "C1", own, "U1")
    with pytest.raises(RubricInUseError):
        await log.rubrics.delete("T1", "C1", "tone", "U1")
    assert await log.rubrics.newest("T1", "C1") == [SECOND]
    await log.rubrics.use("T1", "C1", ChannelJudge(), "U1")
    await log.rubrics.delete("T1", "C1", "tone", "U1")
    with pytest.raises(RubricGoneError):
        await log.rubrics.delete("T1", "C1", "tone", "U1")
    assert await log.rubrics.newest("T1", "C1") == []
    assert len(await log.rubrics.newest("T1", "C2")) == 1
    assert [act.what for act in await log.audit.since()].count(Action.RUBRIC_DELETED) == 1


async def test_a_judge_is_found_in_the_store_and_kept(log: Store) -> None:
    made: list[tuple[str, str, str | None]] = []

    def make(rubric: Rubric, model: str | None, _: str | None) -> Judge:
        made.append((rubric.name, rubric.version, model))
        return Judge(model or "small", rubric)

    judges = Judges(RubricChoice(log.rubrics, SHIPPED), make, ["large"])
    case = a_case(channel_id="C1")
    tone = a_case(channel_id="C1", rubric="tone")
    assert await judges.of(case) is judges.default
    assert await judges.of(tone) is None
    await log.rubrics.save(FIRST)
    assert (await judges.of(tone)).rubric == FIRST.rubric
    await log.rubrics.use("T1", "C1", ChannelJudge("tone", VERSIONS[0], "large"), "U1")
    await log.rubrics.save(SECOND)
    first = await judges.of(tone)
    assert (first.rubric, first.model) == (FIRST.rubric, "large")
    assert await judges.of(tone) is first
    await log.rubrics.use("T1", "C1", ChannelJudge("tone", VERSIONS[1], "huge"), "U1")
    second = await judges.of(tone)
    assert (second.rubric, second.model) == (SECOND.rubric, "small")
    assert made == [
        ("additive-5", SHIPPED["additive-5"].version, None),
        ("tone", VERSIONS[0], None),
        ("tone", VERSIONS[0], "large"),
        ("tone", VERSIONS[1], None),
    ]


async def test_a_channels_own_goes_before_one_of_its_name_that_came_later(log: Store) -> None:
    await log.rubrics.save(replace(FIRST, name="code"))
    choice = RubricChoice(log.rubrics, SHIPPED)
    assert await choice.find("T1", "C1", "code") == Rubric("code", TONE)
    assert await choice.find("T1", "C2", "code") == SHIPPED["code"]
    assert await choice.find("T1", "C1", "code", SHIPPED["code"].version) == SHIPPED["code"]
    assert await choice.find("T1", "C1", "code", "00000000") is None


async def test_a_rubric_chosen_from_the_app_stays_the_apps(log: Store) -> None:
    await log.rubrics.save(replace(FIRST, name="code"))
    choice = RubricChoice(log.rubrics, SHIPPED)
    own = Rubric("code", TONE)
    shipped = SHIPPED["code"]
    assert await choice.in_force("T1", "C1", "code", ChannelJudge()) == own
    assert await choice.in_force("T1", "C1", "code", ChannelJudge("code")) == shipped
    assert await choice.in_force("T1", "C1", "code", ChannelJudge("code", own.version)) == own
    assert await choice.in_force("T1", "C1", "code", ChannelJudge("additive-5")) == own


@pytest.mark.on("sqlite", "postgres")
async def test_a_name_in_other_letters_finds_a_rubric_of_the_app_and_the_name_itself_goes_before(
    log: Store,
) -> None:
    own = Rubric("Code", TONE)
    choice = RubricChoice(log.rubrics, {own.name: own} | SHIPPED)
    assert await choice.find("T1", "C1", "Code") == own
    assert await choice.find("T1", "C1", "code") == SHIPPED["code"]
    assert await choice.find("T1", "C1", "REFUSAL") == SHIPPED["refusal"]
    assert await choice.find("T1", "C1", "refusals") is None
