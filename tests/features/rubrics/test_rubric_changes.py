"""Changes of a channel's rubrics and of its judge, in the store alone; on both databases."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from bot.features.rubrics.queries import (
    MOST_RUBRICS,
    ChangedMeanwhileError,
    RubricChanges,
    SavedBeforeError,
    TooManyRubricsError,
)
from bot.store import Store
from bot.store.audit import Action
from bot.store.rubrics import ChannelJudge, SavedRubric
from tests.cases import TONE, noted

pytestmark = pytest.mark.on("sqlite")

FIRST = SavedRubric("T1", "C1", "tone", 1, TONE, "U1", datetime(2026, 11, 22, tzinfo=UTC))
SECOND = replace(FIRST, number=2, prompt=f"Be strict. {TONE}", saved_by="U2")


@pytest.fixture
def changes(log: Store) -> RubricChanges:
    return RubricChanges(log.database)


@pytest.mark.on("sqlite", "postgres")
async def test_one_of_two_saves_at_the_same_moment_is_refused(
    log: Store, changes: RubricChanges
) -> None:
    results = await asyncio.gather(
        *(changes.save(replace(FIRST, saved_by=f"U{number}")) for number in range(5)),
        return_exceptions=True,
    )
    assert [type(each) for each in results if each is not None] == [SavedBeforeError] * 4
    assert len(await log.audit.since()) == 1


@pytest.mark.on("sqlite", "postgres")
async def test_saves_at_the_same_moment_keep_the_limit_of_rubrics(
    log: Store, changes: RubricChanges
) -> None:
    names = [f"tone-{number}" for number in range(MOST_RUBRICS + 2)]
    results = await asyncio.gather(
        *(changes.save(replace(FIRST, name=name)) for name in names), return_exceptions=True
    )
    assert [type(each) for each in results if each is not None] == [TooManyRubricsError] * 2
    (kept, *_) = await log.rubrics.newest("T1", "C1")
    await changes.save(replace(SECOND, name=kept.name))  # another version is no other rubric


async def test_a_chosen_rubric_leaves_the_channels_other_settings_alone(
    log: Store, changes: RubricChanges
) -> None:
    judge = ChannelJudge("code", None, "large")
    await log.channels.save("T1", "C1", "U1", score_reaction="eyes")
    await changes.use("T1", "C1", judge, "U2")
    await log.channels.save("T1", "C1", "U1", labels_per_week=3)
    assert await log.rubrics.chosen("T1", "C1") == judge
    assert (await log.channels.of("T1", "C1")).score_reaction == "eyes"
    for elsewhere in (("T1", "C2"), ("T2", "C1")):
        assert await log.rubrics.chosen(*elsewhere) == ChannelJudge()
    assert (await noted(log))[1] == ("U2", Action.JUDGE_CHANGED, "C1")


@pytest.mark.on("sqlite", "postgres")
async def test_one_of_two_presses_switches_a_channel(log: Store, changes: RubricChanges) -> None:
    for judge in (ChannelJudge("code", None, "large"), ChannelJudge("code")):
        presses = await asyncio.gather(*(changes.use("T1", "C1", judge, "U1") for _ in range(2)))
        assert sorted(presses) == [False, True]
    assert len(await log.audit.since()) == 2


@pytest.mark.on("sqlite", "postgres")
async def test_a_rubric_that_is_used_is_not_deleted_and_one_that_is_gone_not_used(
    log: Store, changes: RubricChanges
) -> None:
    use = partial(changes.use, "T1", "C1")
    own = ChannelJudge("tone", FIRST.rubric.version)
    with pytest.raises(ChangedMeanwhileError):
        await use(own, "U1")
    for saved in (FIRST, SECOND, replace(FIRST, channel_id="C2")):
        await changes.save(saved)
    await use(own, "U1")
    delete = partial(changes.delete, "T1", "C1", "tone", "U1")
    with pytest.raises(ChangedMeanwhileError):
        await delete()
    assert await log.rubrics.newest("T1", "C1") == [SECOND]
    await use(ChannelJudge(), "U1")
    for _ in range(2):
        await delete()
    assert await log.rubrics.newest("T1", "C1") == []
    assert len(await log.rubrics.newest("T1", "C2")) == 1
    assert [what for _, what, _ in await noted(log)].count(Action.RUBRIC_DELETED) == 1
