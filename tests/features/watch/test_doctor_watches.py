"""What `judge-bot doctor` says of the scopes for events."""

from pathlib import Path

from pocket_slack import Sandbox, Workspace
from tests.model_server import ModelServer
from tests.patience import UNHURRIED
from tests.programs import environment, run
from tests.stage import GOOD, manifest_without


async def doctor(model: ModelServer, folder: Path, slack: Sandbox, **env: str) -> tuple[int, str]:
    model.script(GOOD)
    code, out, err = await run("doctor", environment(slack, model, folder) | env, folder)
    assert err == ""
    return code, out


def workspace_of(without: str = "") -> Workspace:
    return Workspace(manifest_without(without), limits=UNHURRIED)


async def test_events_have_their_scopes_with_their_manifest(
    model_server: ModelServer, tmp_path: Path
) -> None:
    async with Sandbox(workspace_of()) as slack:
        code, out = await doctor(model_server, tmp_path, slack, WATCH_BY="events")
    assert (code, "ok     WATCH_BY=events: the scopes are there; Slack does not say" in out) == (
        0,
        True,
    )


async def test_events_without_a_history_scope_are_wrong(
    model_server: ModelServer, tmp_path: Path
) -> None:
    async with Sandbox(workspace_of("groups:history")) as slack:
        code, out = await doctor(model_server, tmp_path, slack, WATCH_BY="events")
    assert code != 0
    assert "wrong  WATCH_BY=events: scopes are missing: groups:history; paste " in out


async def test_without_events_nothing_is_said_of_them(
    model_server: ModelServer, tmp_path: Path
) -> None:
    async with Sandbox(workspace_of()) as slack:
        code, out = await doctor(model_server, tmp_path, slack)
    assert (code, "WATCH_BY" in out) == (0, False)
