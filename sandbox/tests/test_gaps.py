"""What a manifest asks for and the sandbox does not have."""

import inspect
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from slack_sdk.web import client

from pocket_slack import gaps, methods
from pocket_slack.manifest import Manifest

SOCKETS = {"socket_mode_enabled": True}
REMOTE = SOCKETS | {"org_deploy_enabled": True, "function_runtime": "remote"}
STEP = {"title": "Tell", "input_parameters": {"properties": {"day": {"type": "slack#/types/date"}}}}


def test_this_projects_own_manifests_ask_for_nothing_that_is_not_there() -> None:
    for manifest in Path(__file__).parents[2].glob("manifest*.yml"):
        assert Manifest.from_dict(yaml.safe_load(manifest.read_text(encoding="utf-8"))).gaps == ()


@pytest.mark.parametrize(
    ("manifest", "gap"),
    [
        (
            {"settings": SOCKETS | {"event_subscriptions": {"bot_events": ["star_added"]}}},
            "star_added is never sent",
        ),
        (
            {"features": {"workflow_steps": [{"name": "Tell"}]}},
            "features.workflow_steps has no effect",
        ),
        (
            {"settings": SOCKETS | {"token_rotation_enabled": True}},
            "settings.token_rotation_enabled has no effect",
        ),
        (
            {"settings": {"incoming_webhooks": {"on": False}, "is_hosted": False}},
            "payloads come over Socket Mode unless there is a --request-url",
        ),
        (
            {"functions": {"tell": STEP}, "settings": REMOTE},
            "slack#/types/date are not checked: day of the step tell",
        ),
    ],
)
def test_each_gap_has_a_sentence_and_what_is_off_is_none(
    manifest: dict[str, Any], gap: str
) -> None:
    (found,) = Manifest.from_dict(manifest).gaps
    assert gap in found


def test_each_method_of_slacks_sdk_is_here_or_among_those_that_are_not() -> None:
    called = re.findall(r'self\.api_call\(\s*"([\w.]+)"', inspect.getsource(client))
    absent = set(called) - methods.METHODS.keys()
    is_named = {name: any(fnmatch(name, each) for each in methods.NOT_HERE) for name in called}
    assert {name for name, is_there in is_named.items() if is_there} == absent


def test_every_scope_of_a_method_is_known() -> None:
    needed = {
        scope
        for method in methods.METHODS.values()
        if method.takes == "bot"
        for scope in method.scopes
    }
    assert needed <= set(gaps.NEEDED)
