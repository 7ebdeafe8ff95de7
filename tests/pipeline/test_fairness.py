"""A channel that asks for much does not keep the others waiting."""

import asyncio
from datetime import UTC, datetime

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseSource, CaseStatus, Visibility
from bot.slack import ids
from bot.store.jobs import submit_all
from bot.store.schema import cases
from tests.cases import a_row
from tests.model_server import Held
from tests.patience import ONLY_A_HANG_S
from tests.stage import CHANNEL, GOOD, Stage, StageFactory

pytestmark = pytest.mark.slow

MANY = 2_000
NO_LIMITS = {"max_cases_per_user_per_hour": 0, "max_cases_per_day": 0}


@pytest.mark.parametrize(
    ("person", "channel"), [("ann", "other"), ("ben", CHANNEL)], ids=["channel", "person"]
)
async def test_a_single_case_is_among_the_next_three_model_calls_before_two_thousand(
    open_stage: StageFactory, database_url: str, person: str, channel: str
) -> None:
    stage = await open_stage(judge_concurrency=1, database_url=database_url, **NO_LIMITS)
    workspace = stage.workspace
    workspace.add_channel("other", [workspace.user("ann"), workspace.bot])
    gates = [asyncio.Event() for _ in range(4)]  # the call that is under way, and three more
    stage.model.script(*(Held(gate, GOOD) for gate in gates), Held(asyncio.Event(), GOOD))
    begun = 1000 if stage.log.database.is_sqlite else 2
    await fill(stage, MANY)
    await all_wait_for_the_model(begun)
    stage.slack.person(person).command(
        channel, ids.COMMAND, "And what is this? | This is somewhere else."
    )
    await stage.slack.until(lambda: len(workspace.journal.of("ack")) == 1)
    for calls, gate in enumerate(gates, start=1):
        gate.set()
        await stage.model.asked(calls + 1)
        await all_wait_for_the_model(begun)
    asked = [str(request["messages"]) for request in stage.model.requests]
    assert any("This is somewhere else." in prompt for prompt in asked[: len(gates)])


async def test_while_slack_lets_a_channel_wait_its_people_take_turns(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage()
    gate = asyncio.Event()
    stage.slack.fail("chat.postMessage", held_until=gate)
    people = [stage.ann] * 5 + [stage.ben]
    for number, person in enumerate(people, start=1):
        await stage.slack.settled(
            person.command(CHANNEL, ids.COMMAND, f"What is {number}? | It is {number}.")
        )
        async with asyncio.timeout(
            ONLY_A_HANG_S
        ):  # until it is judged, and then stands in line or in front of Slack
            while not (case := await stage.log.cases.get(number)) or not case.judged_at:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await stage.log.cases.get(number)
    gate.set()
    await stage.slack.until(lambda: len(stage.ours()) == 2 * len(people))
    begun = [message.text for message in stage.ours() if not message.is_reply]
    assert (
        begun.index("ben asked for a score: What is 6?") == 2
    )  # ann's first was there, her second in line before


async def fill(stage: Stage, count: int) -> None:
    """Cases of one channel, in the store and in the queue, as if they had been asked for."""
    channel = stage.workspace.channel(CHANNEL)
    case = a_row(
        team_id=stage.workspace.team_id,
        channel_id=channel.id,
        requester_id=stage.workspace.user("ann").id,
        source=CaseSource.TEXT,
        visibility=Visibility.ME,
        question="What is it?",
        response="It is this.",
        status=CaseStatus.RECEIVED,
        created_at=datetime.now(UTC),
    )

    async def add(connection: AsyncConnection) -> None:
        await connection.execute(
            insert(cases), [case | {"key": f"k{number}"} for number in range(count)]
        )

    await stage.log.database.write(add)
    assert await submit_all(stage.log.database, stage.workspace.team_id) == count


async def all_wait_for_the_model(begun: int) -> None:
    """Returns once a case is in front of the model, and all others of those that a process begins
    wait for it.
    """
    names = ("slack_judge_cases_running", "slack_judge_queue_length")
    async with asyncio.timeout(ONLY_A_HANG_S):
        while [REGISTRY.get_sample_value(name) for name in names] != [begun, begun - 1]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
