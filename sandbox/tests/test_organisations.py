"""Several workspaces with the app, and an organisation of several: ids, tokens, and what a call
must name.
"""

from typing import Any

import pytest

from pocket_slack import Limits, Person, SlackError, Workspace, installing, methods
from sandbox.tests.conftest import MANIFEST, populated

ORGANISATION = "E00000001"


@pytest.fixture
def org() -> Workspace:
    return populated(Workspace(MANIFEST, limits=Limits.off(), organisation=ORGANISATION))


def call(workspace: Workspace, name: str, token: str | None = None, **args: Any) -> dict[str, Any]:
    return methods.call(workspace, name, token or workspace.bot_token, args)


@pytest.mark.parametrize(
    "method", ["bots.info", "conversations.list", "users.conversations", "users.list"]
)
def test_the_token_of_an_organisation_must_name_one_of_its_workspaces(
    org: Workspace, method: str
) -> None:
    its = {"bot": org.user("helper").bot_id} if method == "bots.info" else {}
    for args, error in (
        ({}, "missing_argument"),
        ({"team_id": "T0ELSEWHERE"}, "team_access_not_granted"),
    ):
        with pytest.raises(SlackError, match=error):
            call(org, method, **its, **args)
    assert call(org, method, **its, team_id=org.team_id)["ok"]


def test_a_bot_is_known_in_its_own_workspace_of_an_organisation_alone(org: Workspace) -> None:
    with pytest.raises(SlackError, match="bot_not_found"):
        call(org, "bots.info", bot=org.user("helper").bot_id, team_id=org.add_team())


def test_a_workspace_that_joins_an_organisation_keeps_its_token_which_knows_no_other(
    workspace: Workspace,
) -> None:
    before = workspace.bot_token
    workspace.join(ORGANISATION)
    workspace.add_team()
    who = [call(workspace, "auth.test", token) for token in (before, workspace.bot_token)]
    assert [each["team_id"] for each in who] == [workspace.team_id, ORGANISATION]
    assert [each["is_enterprise_install"] for each in who] == [False, True]
    assert call(workspace, "users.list", before)["ok"]
    teams = [
        call(workspace, "auth.teams.list", token)["teams"]
        for token in (before, workspace.bot_token)
    ]
    assert [len(each) for each in teams] == [1, 2]


def test_a_token_is_of_the_workspace_that_has_it_although_another_has_the_same_ids(
    workspace: Workspace,
    help_id: str,
) -> None:
    second = populated(Workspace(MANIFEST, limits=Limits.off(), beside=workspace, name="Second"))
    assert second.channel("help").id == help_id
    for each in (workspace, second):
        found = installing.workspace_of(workspace, each.bot_token)
        call(found, "chat.postMessage", channel=each.channel("help").id, text=each.name)
        assert [message.text for message in each.channel("help").messages.values()] == [each.name]


def test_a_persons_organisation_is_said_also_if_it_is_another_companys(
    workspace: Workspace,
) -> None:
    eve = workspace.add_user("eve", team_id="T0ELSEWHERE")
    eve.enterprise_id = "E0ELSEWHERE"
    said = [
        call(workspace, "users.info", user=Person(workspace, name).id)["user"]
        for name in ("ann", "eve")
    ]
    assert [each.get("enterprise_user", {}).get("enterprise_id") for each in said] == [
        None,
        "E0ELSEWHERE",
    ]
