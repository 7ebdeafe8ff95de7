"""The list of the app's calls, for `pocket-slack compare`."""

import re
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

import bot
from bot.slack.manifest import load_manifest
from pocket_slack import Sandbox, Workspace
from pocket_slack.compare import Slack, compare
from pocket_slack.compare.calls import UPLOAD, read_calls
from tests.patience import UNHURRIED

SOURCES = Path(bot.__file__).parent
CALLS = SOURCES / "slack" / "calls.yml"
# A Slack that has no organisation cannot answer the first; every run itself makes the second; the
# third needs a click in an open window, which nobody is asked for.
NOT_LISTED = {"auth_teams_list", "apps_connections_open", "views_push"}


async def test_all_calls_and_what_people_do_can_be_compared() -> None:
    manifest = load_manifest(parts=["files"])
    calls = read_calls(CALLS)
    workspace = Workspace(manifest, limits=UNHURRIED)
    workspace.add_channel("judge-test", [workspace.add_user("ann"), workspace.bot])
    async with Sandbox(workspace) as slack:
        real = Slack(slack.api_url, slack.bot_token, slack.app_token, "judge-test")
        steps = await compare(real, manifest, calls, patience_s=0)
    assert [step for step in steps if step.differences or step.error] == []
    done = [step.name for step in steps if step.outcome == "equal"]
    assert done == [call.name for call in calls.calls]


@pytest.mark.needs("watch")  # which alone calls conversations.members
def test_each_method_that_the_app_calls_is_in_the_list() -> None:
    called = set()
    for file in SOURCES.rglob("*.py"):
        for name in re.findall(r"\.([a-z]+_\w+)\b", file.read_text(encoding="utf-8")):
            if hasattr(AsyncWebClient, name) and name != "api_call":
                called.add(name)
    if "files_upload_v2" in called:  # slack-sdk's word for these two
        called.remove("files_upload_v2")
        called |= {"files_getUploadURLExternal", "files_completeUploadExternal"}
    calls = read_calls(CALLS)
    asked = [*calls.calls, *(call for act in calls.people for call in act.then)]
    listed = {call.method.replace(".", "_") for call in asked}
    assert called - NOT_LISTED == listed - {UPLOAD}
