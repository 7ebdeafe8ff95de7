"""The demo's made-up weeks: what they hold, and that nothing of them passes for a verdict."""

import asyncio
import random
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.commands.demo_past import PAST_CHANNEL as CHANNEL
from bot.commands.demo_past import WEEKS, demo_workspace, make_up, write_past
from bot.domain.label import Label
from bot.domain.verdict import MADE_UP
from bot.domain.week import Schedule
from bot.figures.week import Figures, read_figures
from bot.store import Store
from bot.store.assignments import Assignments
from bot.store.figures import Place
from bot.store.schema import cases, labels, ratings
from pocket_slack import ManualClock, Workspace
from tests.cases import a_case, url

SATURDAY = 1_768_641_060.0
MONDAY = 1_768_784_520.0  # 01:02


def workspace_at(now: float) -> Workspace:
    return demo_workspace(ManualClock(now))


@pytest.fixture(scope="module")
def pasts(tmp_path_factory: pytest.TempPathFactory) -> dict[float, tuple[Path, Workspace]]:
    """The past at each moment, written once, and the workspace that it stands in, which tests only read."""
    found = {}
    for now in (SATURDAY, MONDAY):
        file, workspace = tmp_path_factory.mktemp("past") / "log.db", workspace_at(now)
        assert asyncio.run(write_past(f"sqlite+aiosqlite:///{file}", workspace))
        found[now] = file, workspace
    return found


@pytest.fixture(params=[SATURDAY, MONDAY])
def now(request: pytest.FixtureRequest) -> float:
    return float(request.param)


@pytest.fixture
def workspace(pasts: dict[float, tuple[Path, Workspace]], now: float) -> Workspace:
    return pasts[now][1]


@pytest.fixture
async def log(pasts: dict[float, tuple[Path, Workspace]], now: float, tmp_path: Path) -> AsyncIterator[Store]:
    shutil.copy(pasts[now][0], tmp_path)
    async with await Store.open(url(tmp_path)) as opened:
        yield opened


async def figures_of(log: Store, workspace: Workspace) -> Figures:
    now = datetime.fromtimestamp(workspace.clock.now(), UTC)
    place = Place(workspace.team_id, workspace.channel(CHANNEL).id)
    return await read_figures(log.tallies, place, Schedule.parse("monday", "09:00", "UTC").current(now), now)


async def test_a_digest_of_the_week_so_far_has_all_its_parts(log: Store, workspace: Workspace) -> None:
    figures = await figures_of(log, workspace)
    assert figures.quality is not None
    assert figures.quality.mean.missing == 0
    assert len([point for point in figures.trend if point.mean is not None]) == WEEKS
    assert len(figures.authors) == 2
    assert figures.unscored
    assert figures.blind
    assert figures.blind.kappa


async def test_the_verdicts_of_the_lowest_stand_in_their_threads_and_say_that_they_are_made_up(
    log: Store, workspace: Workspace
) -> None:
    channel = workspace.channel(CHANNEL)
    lowest = (await figures_of(log, workspace)).lowest
    assert [low.score for low in lowest] == [0, 1, 1]
    for low in lowest:
        assert channel.messages[low.message_ts or ""].author.bot_id
        case = await log.cases.get(low.id)
        verdict = channel.messages[case.reply_ts or ""]
        assert (verdict.author, verdict.thread_ts) == (workspace.bot, low.thread_ts)
        assert verdict.text == f"Score {low.score} of 5: No judge read this reply: the score is made up for the demo."
        assert f"{MADE_UP} · case {low.id}" in str(verdict.blocks)
        assert "Details" in str(verdict.blocks)


@pytest.mark.parametrize(("name", "number"), [("ann", 3), ("ben", 4)])
async def test_some_of_its_replies_wait_to_be_scored_blind(
    log: Store, workspace: Workspace, now: float, name: str, number: int
) -> None:
    channel, user = workspace.channel(CHANNEL), workspace.user(name)
    answers = {message.text for message in channel.messages.values() if message.is_reply}
    log.assignments = Assignments(log.database, keeps_text=True, clock=lambda: datetime.fromtimestamp(now, UTC))
    for _ in range(number):
        shown = await log.assignments.draw(workspace.team_id, user.id, [channel.id])
        assert shown.response in answers
        await log.assignments.record(workspace.team_id, user.id, shown, Label(3, None))
    assert await log.assignments.draw(workspace.team_id, user.id, [channel.id]) is None


@pytest.mark.needs("digest")
async def test_the_digest_says_that_its_scores_are_made_up(log: Store, workspace: Workspace) -> None:
    from bot.features.digest.text import digest_message

    figures = await figures_of(log, workspace)
    digest = digest_message(figures, [], {}, "https://pocket.slack.com/", workspace.channel(CHANNEL).id)
    number = figures.usage.cases
    for blocks in (digest.blocks, digest.plain_blocks or []):
        said = f":warning: {number} of {number} cases made up for the demo."
        assert blocks[1]["elements"][0]["text"] == said


async def test_every_case_and_rating_says_that_it_is_made_up(log: Store, workspace: Workspace) -> None:
    rows = await log.database.all(select(cases))
    models = {row.model for row in await log.database.all(select(ratings.c.model))}
    assert {row.channel_id for row in rows} == {workspace.channel("made-up-weeks").id}
    assert {row.model for row in rows} == models == {MADE_UP}
    assert all("made up for the demo" in row.justification for row in rows if row.score is not None)


def test_nothing_is_judged_before_it_was_written_or_after_now(now: float) -> None:
    made_up = make_up(workspace_at(now), random.Random(1))
    assert made_up == sorted(made_up, key=lambda each: each["judged_at"])
    assert made_up[-1]["judged_at"].timestamp() <= now
    assert all(each["judged_at"].timestamp() > float(each["message_ts"]) for each in made_up if each["message_ts"])


async def test_two_demos_begin_with_the_same_past(log: Store, now: float, tmp_path: Path) -> None:
    again = f"sqlite+aiosqlite:///{tmp_path}/again.db"
    assert await write_past(again, workspace_at(now))
    async with await Store.open(again) as other:
        for table in (cases, labels):
            assert await log.database.all(select(table)) == await other.database.all(select(table))


async def test_a_log_with_cases_is_left_alone(tmp_path: Path) -> None:
    async with await Store.open(url(tmp_path)) as log:
        await log.add(a_case())
        assert not await write_past(url(tmp_path), workspace_at(SATURDAY))
        assert await log.cases.counts() == {"received": 1}
