"""What a visitor may try, and what ticks it."""

from pathlib import Path

import pytest

from pocket_slack import Workspace
from pocket_slack.people import Person
from pocket_slack.steps import is_part
from pocket_slack.stream import to_events, to_snapshot
from pocket_slack.workspace_file import open_workspace
from sandbox.tests.conftest import MANIFEST
from sandbox.tests.test_workspace_file import FILE, written

STEPS = """
[[steps]]
text = "Say *hello* in #help"
done = { kind = "message", message = { text = "(?i)hello.*" } }

[[steps]]
text = "Type `/echo`"
done = { kind = "envelope", payload = { command = "/echo" } }
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_workspace(MANIFEST, written(tmp_path, FILE + STEPS))


def test_a_step_is_ticked_once_it_was_done_and_the_page_is_told(
    workspace: Workspace, help_id: str, ann: Person
) -> None:
    before = workspace.journal.entries[-1].id
    said, typed = to_snapshot(ann)["steps"]
    assert said == {"text": f"Say *hello* in <#{help_id}|>", "is_done": False}
    ann.post("help", "Hello, all")
    ann.post("help", "Hello again")
    news = [
        event
        for entry in workspace.journal.entries
        if entry.id > before
        for event in to_events(ann, entry)
    ]
    assert [data for kind, data in news if kind == "steps"] == [[said | {"is_done": True}, typed]]


@pytest.mark.parametrize(
    ("wanted", "is_in"),
    [
        ({"actions": [{"action_id": "agree|disagree"}]}, True),
        ({"actions": [{"action_id": "agree", "value": "1"}]}, False),
        ({"actions": {"action_id": "agree"}}, False),
        ({"shown_to": None}, True),
        ({"gone": None}, False),
        ({"actions": [{"action_id": "gre"}]}, False),
    ],
)
def test_an_entry_shows_it_if_all_that_is_named_is_in_it(
    wanted: dict[str, object], is_in: bool
) -> None:
    found = {"actions": [{"action_id": "more"}, {"action_id": "agree"}], "shown_to": None}
    assert is_part(wanted, found) is is_in
