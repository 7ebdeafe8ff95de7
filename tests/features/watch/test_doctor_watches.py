"""What `judge-bot doctor` says of watches: scopes for events, and channels that the app cannot read."""

from datetime import UTC, datetime
from pathlib import Path

from bot.domain.watch import Watch
from bot.features.watch.queries import WatchOrders
from bot.store import Store
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


async def test_events_have_their_scopes_with_their_manifest(model_server: ModelServer, tmp_path: Path) -> None:
    async with Sandbox(workspace_of()) as slack:
        code, out = await doctor(model_server, tmp_path, slack, WATCH_BY="events")
    assert (code, "ok     WATCH_BY=events: the scopes are there; Slack does not say" in out) == (0, True)


async def test_events_without_a_history_scope_are_wrong(model_server: ModelServer, tmp_path: Path) -> None:
    async with Sandbox(workspace_of("groups:history")) as slack:
        code, out = await doctor(model_server, tmp_path, slack, WATCH_BY="events")
    assert code != 0
    assert "wrong  WATCH_BY=events: scopes are missing: groups:history; paste " in out


async def test_without_events_and_watches_nothing_is_said_of_either(model_server: ModelServer, tmp_path: Path) -> None:
    async with Sandbox(workspace_of()) as slack:
        code, out = await doctor(model_server, tmp_path, slack)
    assert (code, "WATCH_BY" in out, "watches" in out) == (0, False, False)


async def test_channels_with_watches_are_looked_at(model_server: ModelServer, tmp_path: Path) -> None:
    workspace = workspace_of()
    ann = workspace.add_user("ann")
    read, left, gone, refused = (
        workspace.add_channel("read", [ann, workspace.bot]),
        workspace.add_channel("left", [ann]),
        workspace.add_channel("gone", [ann, workspace.bot]),
        workspace.add_channel("refused", [ann], is_private=True),
    )
    log = await Store.open(f"sqlite+aiosqlite:///{tmp_path}/log.db")
    for each in (read, left, gone, refused):
        await WatchOrders(log.database).save(Watch(workspace.team_id, each.id, "U9", datetime.now(UTC)), ann.id)
    await log.close()
    async with Sandbox(workspace) as slack:
        slack.person("ann").archive("gone")
        code, out = await doctor(model_server, tmp_path, slack)
    assert code == 0
    assert f"ok     watches in {read.id}: replies can be read\n" in out
    invite = "type /invite @Slack Judge in it, also to end them there with /judge watch off"
    assert f"note   watches in {left.id}: the app is not in the channel, so nothing is scored there; {invite}\n" in out
    rest = "so nothing is scored there; they go on if it is unarchived"
    assert f"note   watches in {gone.id}: the channel is archived, {rest}\n" in out
    assert f"note   watches in {refused.id}: Slack does not let the app read (channel_not_found)" in out
