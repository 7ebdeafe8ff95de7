"""Requests for a step that come over HTTP, or from another workspace that has the same app."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.features.workflow.handlers import FUNCTION_SCORE_REPLY
from bot.pipeline.text import NOT_SERVED
from bot.slack import ids as slack_ids
from bot.slack.incoming import Traffic
from bot.slack.manifest import load_manifest
from tests.features.workflow.test_workflow import WORKFLOW_STEP
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.slack.test_http_mode import open_front
from tests.stage import Stage, StageFactory

ELSEWHERE = "T0ELSEWHERE"


@pytest.mark.parametrize("accept_within_s", [ONLY_A_HANG_S, -1.0], ids=["in time", "however late"])
async def test_a_step_that_comes_over_http_is_ended(
    accept_within_s: float,
    model_server: ModelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Traffic, "accept_within_s", accept_within_s)  # which is nothing to an event
    async with open_front(model_server, tmp_path, WORKFLOW_STEP) as front:
        ann = front.slack.person("ann")
        inputs = {
            "user_id": ann.id,
            "question": "What is 2 + 2?",
            "response": "Four, since two and two make four.",
        }
        execution = ann.run_step(FUNCTION_SCORE_REPLY, inputs)
        assert execution.delivery is not None
        assert await front.send(json.dumps(execution.delivery.payload)) == (200, "")
        await front.slack.until(lambda: execution.status == "completed")


async def test_a_step_of_another_workspace_fails_and_does_not_wait_for_ever(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(manifest=load_manifest(parts=[WORKFLOW_STEP]))
    workspace = stage.slack.workspace
    function = workspace.manifest.function(FUNCTION_SCORE_REPLY)
    execution = workspace.executions.start(function, {"user_id": stage.ann.id}, stage.ann.id)
    granted = [{"enterprise_id": None, "team_id": ELSEWHERE, "user_id": "U1", "is_bot": True}]
    event = {
        "type": "function_executed",
        "function": {"callback_id": function.callback_id},
        "inputs": execution.inputs,
        "function_execution_id": execution.id,
        "bot_access_token": execution.token,
    }
    ours = workspace.bot_token, workspace.manifest
    theirs = replace(workspace.manifest, bot_scopes=frozenset({"chat:write"}))
    workspace.bot_token, workspace.manifest = "xoxb-another-one", theirs
    sent = {"type": "event_callback", "event_id": "Ev1", "team_id": ELSEWHERE, "event": event}
    await stage.slack.settled(
        workspace.deliveries.send("events_api", sent | {"authorizations": granted})
    )
    assert (execution.error or "").startswith(NOT_SERVED)
    assert await stage.log.cases.newest(1) == []
    workspace.bot_token, workspace.manifest = ours
    parent, answer = stage.ask_and_answer()  # what that token may do says nothing of ours
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.verdict(parent)
    assert (await stage.log.cases.get(1)).question_ts == parent.ts
