"""Whose payload it is: the workspace that has the app, although other ids in the payload may be
another company's.
"""

from typing import Any

from bot.slack.invocation import workspace_of
from tests.tables import each

OURS = {"id": "T1"}
THEIRS = {"id": "T2"}
GRANTED = {"enterprise_id": None, "team_id": "T1", "is_enterprise_install": False}


@each(
    ("body", "expected"),
    [
        ({"team_id": "T1", "command": "/judge", "enterprise_id": "E1"}, ("E1", "T1")),
        (
            {"team_id": "T2", "enterprise_id": "E2", "authorizations": [GRANTED], "event": {}},
            (None, "T1"),
        ),
        ({"team": None, "enterprise": {"id": "E1"}, "user": {"team_id": "T1"}}, ("E1", "T1")),
        # A window of a person of another company, whose organisation is not ours.
        (
            {"team": THEIRS, "enterprise": {"id": "E2"}, "view": {"app_installed_team_id": "T1"}},
            (None, "T1"),
        ),
        # An organisation's installation: the view names it, and no team.
        (
            {"team": OURS, "enterprise": {"id": "E1"}, "view": {"app_installed_team_id": "E1"}},
            ("E1", "T1"),
        ),
        ({"type": "url_verification"}, (None, None)),
    ],
)
def test_the_installation_counts_and_not_the_person(
    body: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert workspace_of(body) == expected
