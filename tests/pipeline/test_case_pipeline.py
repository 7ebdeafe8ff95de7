"""The case pipeline alone, without Bolt: settling may be asked for any number of times."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from bot.domain.case import Case, CaseSource, CaseStatus, QuestionSource
from bot.domain.limits import Limits
from bot.domain.watch import Shows
from bot.pipeline.delivery import Delivery
from bot.pipeline.judges import Judges, RubricChoice
from bot.pipeline.judging import Judging
from bot.pipeline.lookup import Lookup
from bot.pipeline.names import Names
from bot.pipeline.pipeline import CasePipeline
from bot.pipeline.retries import RetryError
from bot.pipeline.slots import ModelSlots
from bot.slack.client import web_client
from bot.slack.manifest import load_manifest
from bot.slack.members import Members
from bot.slack.messenger import Messenger
from bot.store import Store, TakenError
from judge import Judge
from pocket_slack import Sandbox, Workspace
from tests.cases import a_case, held
from tests.model_server import ModelServer
from tests.patience import UNHURRIED
from tests.stage import CHANNEL, make_settings

pytestmark = pytest.mark.usefixtures("log_file", "no_placeholder")


@dataclass
class Desk:
    pipeline: CasePipeline
    delivery: Delivery
    log: Store
    case: Case
    slack: Sandbox

    def posts(self) -> int:
        calls = [each.data["method"] for each in self.slack.workspace.journal.of("call")]
        return len([method for method in calls if method.startswith("chat.")])


def the_case(workspace: Workspace) -> Case:
    channel = workspace.add_channel(CHANNEL, [workspace.add_user("ann"), workspace.bot])
    return a_case(
        team_id=workspace.team_id,
        channel_id=channel.id,
        question="Why is the sky blue?",
        question_source=QuestionSource.TYPED,
        response="Air scatters blue light more than red light.",
    )


@asynccontextmanager
async def open_desk(judge: Judge, model_server: ModelServer, folder: Path) -> AsyncIterator[Desk]:
    workspace = Workspace(load_manifest(), limits=UNHURRIED)
    case = the_case(workspace)
    async with Sandbox(workspace) as slack:
        settings = make_settings(slack, model_server, folder)
        async with web_client(settings.slack_bot_token, settings.slack_api_url) as client, judge:
            log = await Store.open(settings.database_url)
            delivery = Delivery(client, Messenger(client), log, "https://pocket.slack.com/")
            rubrics = RubricChoice(log.rubrics, {judge.rubric.name: judge.rubric})
            members = Members(client)
            pipeline = CasePipeline(
                log,
                Judging(log, Judges(rubrics, lambda *_: judge), ModelSlots(1), Limits()),
                Lookup(client, frozenset(), members),
                delivery,
                Names(client, members, log.names),
            )
            yield Desk(pipeline, delivery, log, case, slack)
            await log.close()


@pytest.fixture
async def desk(model_server: ModelServer, tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(Judge(model="offline"), model_server, tmp_path) as opened:
        yield opened


async def test_of_attempts_at_the_same_moment_one_goes_on_and_settling_again_changes_nothing(
    desk: Desk,
) -> None:
    case, _ = await desk.log.add(desk.case)
    await asyncio.gather(*(desk.pipeline.settle(case.id) for _ in range(5)))
    assert desk.posts() == 2  # the texts, the verdict
    await desk.pipeline.settle(case.id)
    assert (await desk.log.cases.get(case.id)).status is CaseStatus.DELIVERED
    assert desk.posts() == 2


async def test_a_case_of_typed_texts_costs_three_transactions(desk: Desk) -> None:
    written: list[str] = []
    engine = desk.log.database.engine.sync_engine
    event.listen(engine, "commit", lambda _: written.append("commit"))
    case, _ = await desk.log.add(desk.case)
    await desk.pipeline.settle(case.id)
    assert len(written) == 3  # added and held, judged, delivered


async def test_a_rubric_that_is_gone_leaves_the_case_unscored(desk: Desk) -> None:
    case, _ = await desk.log.add(desk.case.model_copy(update={"rubric": "tone"}))
    await desk.pipeline.settle(case.id)
    verdict = await desk.log.cases.verdict(case.id)
    assert verdict.score is None
    assert verdict.unscored.detail == "The rubric 'tone' is no longer there."


async def test_a_watched_reply_is_not_scored_late_as_if_it_were_fresh(desk: Desk) -> None:
    watched = {"source": CaseSource.WATCH, "probability": 0.5, "shows": Shows.NOTHING}
    for hours, is_late in ((23, False), (25, True)):
        ts = f"{(datetime.now(UTC) - timedelta(hours=hours)).timestamp():.6f}"
        reply = watched | {"key": ts, "message_ts": ts}
        case, _ = await desk.log.add(desk.case.model_copy(update=reply))
        await desk.pipeline.settle(case.id)
        verdict = await desk.log.cases.verdict(case.id)
        assert (hours, verdict.score is None) == (hours, is_late)
    assert desk.posts() == 0


class BrokenClient:
    """A client that fails as nobody foresaw."""

    def with_options(self, **_: Any) -> "BrokenClient":
        return self


async def test_an_unexpected_error_is_not_tried_for_ever(
    model_server: ModelServer, tmp_path: Path
) -> None:
    client: Any = BrokenClient()
    failed = 0
    async with open_desk(Judge(model="m", client=client), model_server, tmp_path) as desk:
        case, _ = await desk.log.add(desk.case)
        while case.status is not CaseStatus.DELIVERED and failed < 100:
            try:
                await desk.pipeline.settle(case.id)
            except RetryError:
                failed += 1
            case = await desk.log.cases.get(case.id)
        verdict = await desk.log.cases.verdict(case.id)
    assert (verdict.unscored_reason, verdict.unscored.detail) == ("fault", "AttributeError")
    assert failed == 10


async def test_trouble_with_slack_uses_up_nothing_of_the_models(desk: Desk) -> None:
    """Each has a counter of its own: a case that Slack kept waiting twenty times is still asked for
    again.
    """
    case, _ = await desk.log.add(desk.case)
    for _ in range(20):
        desk.slack.fail("chat.postMessage", status=500)
        with pytest.raises(RetryError):
            await desk.pipeline.settle(case.id)
    await desk.pipeline.settle(case.id)
    settled = await desk.log.cases.get(case.id)
    assert settled.status is CaseStatus.DELIVERED
    assert (settled.slack_tries, settled.model_tries, settled.internal_errors) == (20, 0, 0)


async def test_an_attempt_that_froze_before_a_post_checks_that_it_still_holds_the_case(
    desk: Desk,
) -> None:
    case, _ = await desk.log.add(desk.case)
    frozen = await held(desk.log, case)
    frozen = frozen.model_copy(update={"asked_at_s": frozen.asked_at_s - 60})
    assert (await desk.delivery.announce(frozen)).reply_ts  # no other has begun
    await held(desk.log, case)
    with pytest.raises(TakenError):
        await desk.delivery.announce(frozen)
    assert desk.posts() == 2
