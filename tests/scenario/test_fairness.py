"""A channel that asks for much does not keep the others waiting."""

import asyncio

from prometheus_client import REGISTRY

from bot.slack import ids
from tests.model_server import Held
from tests.scenario.conftest import CHANNEL, GOOD, Stage, StageFactory

MANY = 500


async def test_a_single_case_waits_for_one_model_call_of_five_hundred(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(judge_concurrency=1)
    workspace = stage.slack.workspace
    other = workspace.add_channel("other", [workspace.user("ann"), workspace.bot])
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD), GOOD)
    for number in range(MANY):
        stage.ann.command(CHANNEL, ids.COMMAND, f"What is {number}? | It is {number}.")
    await stage.slack.until(lambda: len(stage.ours()) == 2 * MANY, 60)  # the texts and a placeholder each
    stage.ann.command("other", ids.COMMAND, "And what is this? | This is another channel.")
    # One is in front of the model, and all others wait for it: then the order is decided.
    await stage.slack.until(lambda: len(other.messages) == 2, 60)
    async with asyncio.timeout(60):
        while REGISTRY.get_sample_value("slack_judge_queue_length") != MANY:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    gate.set()
    await stage.slack.until(lambda: any(m.text.startswith("Score 4 of 5") for m in other.messages.values()), 60)
    asked = [str(request["messages"]) for request in stage.model.requests]
    assert next(place for place, prompt in enumerate(asked) if "This is another channel." in prompt) <= 2
