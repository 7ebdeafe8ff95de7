"""People and groups of them, as the app looks them up."""

from typing import Any

import pytest

from pocket_slack import Workspace, methods

Call = Any
Refused = Any


@pytest.mark.parametrize("email", ["ann@example.com", "Ann@Example.com"])
def test_a_person_is_found_by_their_address(workspace: Workspace, call: Call, email: str) -> None:
    found = call("users.lookupByEmail", email=email)["user"]
    assert (found["id"], found["profile"]["email"]) == (workspace.user("ann").id, "ann@example.com")


def test_an_address_is_only_for_apps_with_its_scope(clock: Any) -> None:
    scopes = ["users:read", "users.profile:read"]
    workspace = Workspace({"oauth_config": {"scopes": {"bot": scopes}}}, clock=clock)
    ann = {"user": workspace.add_user("ann").id}
    user = methods.call(workspace, "users.info", workspace.bot_token, ann)["user"]
    profile = methods.call(workspace, "users.profile.get", workspace.bot_token, ann)["profile"]
    assert (profile["display_name"], user["profile"]) == ("ann", profile)
    assert "email" not in profile


def test_a_profile_and_the_presence_are_the_bots_own_if_nobody_is_named(
    workspace: Workspace, call: Call
) -> None:
    assert call("users.profile.get")["profile"]["bot_id"] == workspace.bot.bot_id
    assert call("users.getPresence", user=workspace.user("ann").id)["presence"] == "active"
    assert call("users.getPresence")["presence"] == "active"


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("users.lookupByEmail", {"email": "nobody@example.com"}, "users_not_found"),
        ("users.lookupByEmail", {}, "invalid_arguments"),
        ("users.profile.get", {"user": "U0"}, "user_not_found"),
        ("users.getPresence", {"user": "U0"}, "user_not_found"),
        ("usergroups.users.list", {"usergroup": "S0"}, "no_such_subteam"),
    ],
)
def test_who_is_not_there_is_refused(
    refused: Refused, method: str, args: dict[str, str], error: str
) -> None:
    assert refused(method, **args).code == error


def test_groups_are_listed_with_their_members_if_asked(workspace: Workspace, call: Call) -> None:
    ann = workspace.user("ann")
    id_ = workspace.add_usergroup("support", [ann])["id"]
    [short] = call("usergroups.list")["usergroups"]
    assert (short["handle"], "users" in short, "user_count" in short) == ("support", False, False)
    [long] = call("usergroups.list", include_users=True, include_count=True)["usergroups"]
    assert (long["users"], long["user_count"]) == ([ann.id], 1)
    assert call("usergroups.users.list", usergroup=id_)["users"] == [ann.id]
