"""The demo's made-up weeks: what they hold, and that nothing of them passes for a verdict."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.app import identify, make_services
from bot.commands.demo_past import PAST_CHANNEL as CHANNEL
from bot.domain.outcome import Sign
from bot.domain.standing import subject_of
from bot.domain.verdict import MADE_UP
from bot.services import Services
from bot.settings import OFFLINE, load_settings
from bot.slack.client import web_client
from bot.slack.invocation import Invocation
from bot.store import Store, schema
from bot.store.schema import cases, ratings
from bot.store.standings import Standings
from judge.evaluation.standing import Direction
from pocket_slack import Person, Sandbox, Workspace
from tests.cases import url
from tests.commands.conftest import THURSDAY, Past, written
from tests.texts import read

MONDAY = datetime(2026, 1, 19, 1, 2, tzinfo=UTC)


@pytest.fixture
def workspace(past: Past) -> Workspace:
    return past[1]


@pytest.fixture
async def log(past: Past, tmp_path: Path) -> AsyncIterator[Store]:
    shutil.copy(past[0], tmp_path)
    async with await Store.open(url(tmp_path)) as opened:
        yield opened


async def test_causes_models_and_times_of_the_past_are_as_a_bot_would_have_stored_them(
    log: Store,
) -> None:
    low = select(cases.c.id).where(cases.c.score < 3, cases.c.probability == 1)
    found = await log.database.values(select(schema.causes.c.case_id))
    assert sorted(found) == sorted(await log.database.values(low))
    for table in (cases, ratings):
        assert set(await log.database.values(select(table.c.model).distinct())) == {MADE_UP}
    for row in await log.database.all(select(cases)):
        assert float(row.message_ts) <= row.judged_at.timestamp() <= THURSDAY.timestamp()


@pytest.mark.needs("watch")
async def test_one_assistant_is_lower_and_one_steady_with_one_mean_on_every_screen(
    past: Past, tmp_path: Path
) -> None:
    from bot.features.digest.poster import draft, this_week
    from bot.features.digest.stats import answer_stats
    from bot.features.watch.standing_text import first_line
    from bot.features.watch.standings import StandingLooks

    workspace = past[1]
    async with services_of(past, tmp_path) as services:
        await StandingLooks(services).look()
        team_id = workspace.team_id
        standings = (await Standings(services.store.database).of_team(team_id)).values()
        channel_id = workspace.channel(CHANNEL).id
        settings = await services.store.channels.of(team_id, channel_id)
        digest, _ = await draft(services, settings, this_week(services, settings).before())
        ann = workspace.user("ann").id
        person = Invocation(
            team_id, channel_id, ann, "ann", is_foreign=False, window_channel_id="D1"
        )
        now = await answer_stats(services, person, "")
        await services.show_home(person)
        tab = Person(workspace, ann).home
    assert tab is not None
    assert {workspace.users[each.author_id].name: each.direction for each in standings} == {
        "drafter": Direction.LOWER,
        "helper": Direction.STEADY,
    }
    for standing in standings:
        line = first_line(standing, workspace.users[standing.author_id].name)
        for blocks in (digest.blocks, now.blocks, tab.body["blocks"]):
            assert line in read(blocks)


@pytest.mark.needs("watch")
async def test_what_the_release_has_changed_is_known_at_the_start_of_a_week(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    from bot.features.watch.release_looks import ReleaseLooks
    from bot.features.watch.standing_queries import StandingSteps

    past = await asyncio.to_thread(written, tmp_path_factory.mktemp("monday"), MONDAY)
    async with services_of(past, tmp_path) as services:
        await ReleaseLooks(services).look()
        (effect,) = (await StandingSteps(services.store.database).of_releases([1])).values()
    assert effect.change is not None


@asynccontextmanager
async def services_of(past: Past, folder: Path) -> AsyncIterator[Services]:
    """The app's parts with a copy of this past, by the workspace's clock."""
    file, workspace = past
    shutil.copy(file, folder)
    tokens = {"slack_bot_token": workspace.bot_token, "slack_app_token": workspace.app_token}
    settings = load_settings(env_file=None, judge_model=OFFLINE, **tokens)
    async with (
        Sandbox(workspace) as slack,
        web_client(settings.slack_bot_token, slack.api_url) as client,
        await Store.open(url(folder)) as store,
    ):
        yield make_services(
            settings,
            store,
            client,
            await identify(client),
            clock=lambda: datetime.fromtimestamp(workspace.clock.now(), UTC),
        )


@pytest.mark.needs("outcome", "topics")
async def test_questions_have_outcomes_and_topics_and_one_waits(past: Past, tmp_path: Path) -> None:
    from bot.features.outcome.figures import OutcomeFigures
    from bot.features.topics.figures import TopicFigures

    workspace = past[1]
    async with services_of(past, tmp_path) as services:
        outcomes = OutcomeFigures(services)
        topics = TopicFigures(services)
        signs = {}
        for watch in await services.store.watches.of(workspace.team_id):
            subject = subject_of(watch)
            name = workspace.users[watch.author_id].name
            signs[name] = (await outcomes.of(subject)).outcomes.signs
            assert len((await topics.of(subject)).topics) >= 3
        waiting = await outcomes.waiting(workspace.team_id, {watch.channel_id})
    assert [len(questions) for questions in waiting.values()] == [1]
    assert signs["drafter"][Sign.UNANSWERED] == 1
    assert signs["drafter"][Sign.CONTESTED] > signs["helper"][Sign.CONTESTED]
    assert signs["helper"][Sign.CONFIRMED] > 5
