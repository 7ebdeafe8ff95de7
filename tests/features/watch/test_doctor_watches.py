"""What `judge-bot doctor` says of the scopes for events."""

from pathlib import Path

from bot.commands.doctor import event_scopes
from bot.slack.client import web_client
from pocket_slack import Sandbox, Workspace
from tests.model_server import ModelServer
from tests.patience import UNHURRIED
from tests.programs import environment, run
from tests.stage import make_settings, manifest_without


async def test_events_have_their_scopes_with_their_manifest(
    model_server: ModelServer, tmp_path: Path
) -> None:
    async with Sandbox(Workspace(manifest_without(), limits=UNHURRIED)) as slack:
        settings = make_settings(slack, model_server, tmp_path)
        async with web_client(settings.slack_bot_token, slack.api_url) as client:
            said = await event_scopes(client, settings)
    assert said.startswith("WATCH_BY=events: the scopes are there; Slack does not say whether")


async def test_events_without_a_history_scope_are_wrong(
    model_server: ModelServer, tmp_path: Path
) -> None:
    workspace = Workspace(manifest_without("groups:history"), limits=UNHURRIED)
    async with Sandbox(workspace) as slack:
        env = environment(slack, model_server, tmp_path) | {"WATCH_BY": "events"}
        code, out, err = await run("doctor", env, tmp_path)
    assert (code != 0, err) == (True, "")
    assert "wrong  WATCH_BY=events: scopes are missing: groups:history; paste " in out
