"""Functions of the app as workflow steps: what runs, what the app receives, and how a step can end."""

from copy import deepcopy
from typing import Any

import aiohttp
import pytest
from slack_bolt.app.async_app import AsyncApp

from pocket_slack import (
    Execution,
    Limits,
    ManualClock,
    Person,
    Sandbox,
    SandboxError,
    SlackError,
    Workspace,
    methods,
)
from sandbox.tests.conftest import MANIFEST, Wire, populated

STEP: dict[str, Any] = {
    "title": "Count words",
    "description": "Counts the words of a text",
    "input_parameters": {
        "properties": {
            "user_id": {"type": "slack#/types/user_id", "title": "Who asks"},
            "text": {"type": "string", "title": "Text"},
            "message": {"type": "slack#/types/message_context"},
            "least": {"type": "integer"},
        },
        "required": ["user_id"],
    },
    "output_parameters": {
        "properties": {
            "words": {"type": "integer", "title": "Words"},
            "is_long": {"type": "boolean"},
        },
        "required": ["words"],
    },
}
BY = {"user_id": "U1"}


def with_step(**changes: Any) -> dict[str, Any]:
    manifest = deepcopy(MANIFEST) | {"functions": {"count_words": STEP | changes}}
    manifest["settings"] |= {"org_deploy_enabled": True, "function_runtime": "remote"}
    return manifest


@pytest.fixture
def workspace(clock: ManualClock) -> Workspace:
    return populated(Workspace(with_step(), clock=clock, limits=Limits.off()))


@pytest.fixture
async def slack() -> Any:
    async with Sandbox(populated(Workspace(with_step(), limits=Limits.off()))) as running:
        yield running


@pytest.fixture
def execution(workspace: Workspace, wire: Wire) -> Execution:
    return Person(workspace, "ann").run_step("count_words", BY)


def test_the_app_gets_the_documented_event(
    workspace: Workspace, wire: Wire, execution: Execution
) -> None:
    (envelope,) = wire.sent
    assert envelope["type"] == "events_api"
    payload = envelope["payload"]
    event = envelope["payload"]["event"]
    assert (payload["type"], payload["team_id"]) == ("event_callback", workspace.team_id)
    assert event["type"] == "function_executed"
    assert event["inputs"] == BY
    assert event["function_execution_id"] == execution.id
    assert event["bot_access_token"] == execution.token
    assert event["function"]["callback_id"] == "count_words"
    assert event["function"]["input_parameters"][0] == {
        "type": "slack#/types/user_id",
        "name": "user_id",
        "description": "",
        "title": "Who asks",
        "is_required": True,
    }
    assert not event["function"]["output_parameters"][1]["is_required"]


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        ({}, "missing required parameter: user_id"),
        ({"user_id": "ann"}, "parameter user_id is not of type slack#/types/user_id"),
        (BY | {"least": True}, "parameter least is not of type integer"),
        (
            BY | {"message": {"channel_id": "C1"}},
            "parameter message is not of type slack#/types/message_context",
        ),
        (BY | {"colour": "red"}, "unknown parameter: colour"),
    ],
)
def test_inputs_must_match_the_manifest(
    workspace: Workspace, ann: Person, inputs: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(SandboxError, match=complaint):
        ann.run_step("count_words", inputs)
    assert workspace.executions.all == {}


def test_a_message_input_is_a_timestamp_with_an_optional_channel(
    workspace: Workspace, ann: Person, wire: Wire
) -> None:
    for message in (
        {"message_ts": "1.2"},
        {"message_ts": "1.2", "channel_id": "C1", "user_id": "U1"},
    ):
        ann.run_step("count_words", BY | {"message": message})
    assert len(workspace.executions.running) == 2


@pytest.mark.parametrize(
    ("manifest", "complaint"),
    [
        (with_step() | {"settings": {"function_runtime": "remote"}}, "org_deploy_enabled: true"),
        (with_step() | {"settings": {"org_deploy_enabled": True}}, "function_runtime: remote"),
        (
            with_step(input_parameters={"properties": {"x": {"type": "text"}}}),
            "there are text and none",
        ),
        (with_step(output_parameters={"required": ["x"]}), "there are none and x"),
    ],
)
def test_a_manifest_that_slack_would_not_accept_is_refused(
    manifest: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(SandboxError, match=complaint):
        Workspace(manifest)


def complete(workspace: Workspace, execution_id: str, token: str, **args: Any) -> dict[str, Any]:
    args = {"outputs": {"words": 3}} | args
    return methods.call(
        workspace,
        "functions.completeSuccess",
        token,
        {"function_execution_id": execution_id, **args},
    )


def refused(workspace: Workspace, execution_id: str, token: str, **args: Any) -> str:
    with pytest.raises(SlackError) as caught:
        complete(workspace, execution_id, token, **args)
    return caught.value.code


def test_what_is_not_declared_or_not_running_is_refused(
    workspace: Workspace, ann: Person, execution: Execution
) -> None:
    with pytest.raises(
        SandboxError, match="'other' is not a function of the manifest; it declares"
    ):
        ann.run_step("other", BY)
    assert refused(workspace, "Fx0", workspace.bot_token) == "function_execution_not_found"


@pytest.mark.parametrize("whose", ["bot", "workflow"])
def test_either_token_completes_a_step_and_only_once(
    workspace: Workspace, execution: Execution, whose: str
) -> None:
    token = workspace.bot_token if whose == "bot" else execution.token
    assert complete(workspace, execution.id, token) == {"ok": True}
    assert (execution.status, execution.outputs, workspace.executions.running) == (
        "completed",
        {"words": 3},
        [],
    )
    assert refused(workspace, execution.id, workspace.bot_token) == "execution_not_in_running_state"
    with pytest.raises(SlackError, match="execution_not_in_running_state"):
        methods.call(
            workspace,
            "functions.completeError",
            workspace.bot_token,
            {"function_execution_id": execution.id, "error": "No."},
        )
    assert execution.status == "completed"


def test_a_step_that_fails_says_why(workspace: Workspace, execution: Execution) -> None:
    args = {"function_execution_id": execution.id, "error": "There are no words."}
    assert methods.call(workspace, "functions.completeError", workspace.bot_token, args) == {
        "ok": True
    }
    assert (execution.status, execution.error) == ("failed", "There are no words.")
    assert refused(workspace, execution.id, workspace.bot_token) == "execution_not_in_running_state"


@pytest.mark.parametrize(
    "outputs",
    [
        {},
        {"words": "three"},
        {"words": 3, "score": 1},
    ],
)
def test_outputs_must_match_the_manifest(
    workspace: Workspace, execution: Execution, outputs: Any
) -> None:
    assert (
        refused(workspace, execution.id, workspace.bot_token, outputs=outputs)
        == "parameter_validation_failed"
    )
    assert execution.status == "running"


@pytest.mark.parametrize("outputs", [None, "", "[]", 3])
def test_outputs_must_be_an_object(
    workspace: Workspace, execution: Execution, outputs: Any
) -> None:
    assert (
        refused(workspace, execution.id, workspace.bot_token, outputs=outputs)
        == "invalid_arguments"
    )


def test_a_workflow_token_is_valid_only_for_its_own_run(
    workspace: Workspace, ben: Person, execution: Execution
) -> None:
    other = ben.run_step("count_words", BY)
    assert refused(workspace, execution.id, other.token) == "access_denied"
    assert execution.status == "running"


def test_a_workflow_token_ends_with_its_step(workspace: Workspace, execution: Execution) -> None:
    assert methods.call(workspace, "auth.test", execution.token, {})["user_id"] == workspace.bot.id
    complete(workspace, execution.id, execution.token)
    assert refused(workspace, execution.id, execution.token) == "token_revoked"


def test_a_workflow_token_lives_for_15_minutes(
    workspace: Workspace, execution: Execution, clock: ManualClock
) -> None:
    clock.advance(15 * 60)
    assert refused(workspace, execution.id, execution.token) == "token_expired"
    assert complete(workspace, execution.id, workspace.bot_token) == {"ok": True}


def test_no_token_is_in_the_journal(workspace: Workspace, execution: Execution) -> None:
    assert execution.token not in str([entry.to_json() for entry in workspace.journal.entries])
    assert execution.token not in repr(execution)


async def test_a_bolt_app_completes_a_step(slack: Sandbox, app: AsyncApp) -> None:
    @app.function("count_words")
    async def count_words(inputs: Any, complete: Any) -> None:
        await complete({"words": len(inputs["text"].split())})

    execution = slack.person("ann").run_step("count_words", BY | {"text": "one two three"})
    await slack.until(lambda: execution.status == "completed")
    assert execution.outputs == {"words": 3}
    assert execution.delivery.is_acked


async def test_another_process_runs_a_step_and_sees_it_run(slack: Sandbox) -> None:
    async with aiohttp.ClientSession(base_url=slack.url) as http:
        body = {"callback_id": "count_words", "inputs": BY}
        async with http.post("/sandbox/people/ann/run_step", json=body) as answer:
            started = await answer.json()
        async with http.get("/sandbox/executions") as answer:
            assert await answer.json() == [started]
    assert (started["status"], started["inputs"], started["outputs"]) == ("running", BY, None)
    assert "token" not in str(started)
