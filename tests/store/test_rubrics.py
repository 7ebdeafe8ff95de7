"""What the store keeps of rubrics that were made in channels, how a case finds its judge; on both
databases.
"""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from bot.pipeline.judges import Judges, RubricChoice
from bot.store import Store
from bot.store.rubrics import ChannelJudge, SavedRubric
from judge import Judge, Rubric, list_rubrics, load_rubric
from tests.cases import TONE, a_case, choose_judge, keep_rubric

pytestmark = pytest.mark.on("sqlite")

FIRST = SavedRubric("T1", "C1", "tone", 1, TONE, "U1", datetime(2026, 11, 22, tzinfo=UTC))
SECOND = replace(FIRST, number=2, prompt=f"Be strict. {TONE}", saved_by="U2")
VERSIONS = [saved.rubric.version for saved in (FIRST, SECOND)]
SHIPPED = {name: load_rubric(name) for name in list_rubrics()}


async def test_each_saved_version_is_kept_and_the_last_is_the_rubric(log: Store) -> None:
    other = replace(FIRST, name="brevity")
    elsewhere = (replace(FIRST, channel_id="C2"), replace(FIRST, team_id="T2"))
    for saved in (FIRST, SECOND, other, *elsewhere):
        await keep_rubric(log, saved)
    assert await log.rubrics.newest("T1", "C1") == [other, SECOND]
    find = partial(log.rubrics.find, "T1")
    assert await find("C1", "tone") == SECOND
    assert await find("C1", "tone", VERSIONS[0]) == FIRST
    assert await find("C2", "tone", VERSIONS[1]) is None
    assert await find("C3", "tone") is None


async def test_a_judge_is_found_in_the_store_and_kept(log: Store) -> None:
    made: list[tuple[str, str, str | None]] = []

    def make(rubric: Rubric, model: str | None, *_: str | None) -> Judge:
        made.append((rubric.name, rubric.version, model))
        return Judge(model or "small", rubric)

    judges = Judges(RubricChoice(log.rubrics, SHIPPED), make, ["large"])
    tone = a_case(channel_id="C1", rubric="tone")
    assert await judges.of(a_case(channel_id="C1")) is judges.default
    assert await judges.of(tone) is None
    await keep_rubric(log, FIRST)
    await choose_judge(log, ChannelJudge("tone", VERSIONS[0], "large"))
    await keep_rubric(log, SECOND)
    assert await judges.of(tone) is await judges.of(tone)
    await choose_judge(log, ChannelJudge("tone", VERSIONS[1], "huge"))
    await judges.of(tone)
    default = ("additive-5", SHIPPED["additive-5"].version, None)
    assert made == [default, ("tone", VERSIONS[0], "large"), ("tone", VERSIONS[1], None)]


async def test_a_channels_own_goes_before_one_of_its_name_that_came_later(log: Store) -> None:
    await keep_rubric(log, replace(FIRST, name="code"))
    choice = RubricChoice(log.rubrics, SHIPPED)
    assert await choice.find("T1", "C1", "code") == Rubric("code", TONE)
    assert await choice.find("T1", "C2", "code") == SHIPPED["code"]
    assert await choice.find("T1", "C1", "code", SHIPPED["code"].version) == SHIPPED["code"]
    assert await choice.find("T1", "C1", "code", "00000000") is None


async def test_a_rubric_chosen_from_the_app_stays_the_apps(log: Store) -> None:
    await keep_rubric(log, replace(FIRST, name="code"))
    choice = RubricChoice(log.rubrics, SHIPPED)
    own = Rubric("code", TONE)
    for chosen, expected in (
        (ChannelJudge(), own),
        (ChannelJudge("code"), SHIPPED["code"]),
        (ChannelJudge("code", own.version), own),
        (ChannelJudge("additive-5"), own),
    ):
        assert await choice.in_force("T1", "C1", "code", chosen) == expected


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
