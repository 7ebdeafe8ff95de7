"""The list of all messages and windows that `judge-bot doctor` has Slack check is that of the code."""

import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from bot.commands import screens as shipped
from bot.errors import SlackError
from pocket_slack.blocks import find_wrong, find_wrong_in_view, is_too_long
from tests import screens
from tests.screens import CONTENTS, ROOT, Recorder, shape
from tests.stage import Stage, StageFactory

FILE = Path(shipped.__file__).with_name("screens.json.gz")


@pytest.fixture
async def recorded(open_stage: StageFactory, empty_log: Path, tmp_path: Path) -> Recorder:
    found = Recorder()
    found.add_constants()
    for content, words in CONTENTS.items():
        file = shutil.copy(empty_log, tmp_path / f"{content}.db")
        stage = await open_stage(database_url=f"sqlite+aiosqlite:///{file}")
        for module in screens.modules():
            with found.of(content):
                if hasattr(module, "make"):
                    module.make(words)
                if hasattr(module, "make_with_app"):
                    await module.make_with_app(stage, words)
        await stage.stop_bot()
    return found


@pytest.mark.needs("watch")  # of which the listed Home tab has a section
async def test_the_list_has_every_message_and_window_that_the_code_makes(
    recorded: Recorder, request: pytest.FixtureRequest
) -> None:
    """`make texts` writes it anew."""
    forgotten = screens.places() - recorded.sites
    assert forgotten == set(), (
        "make them in `screens.py` beside the tests of the feature, then run `make texts`"
    )
    made = [
        {"name": name, "content": content, **each} for (name, content), each in recorded.different()
    ]
    if request.config.getoption("update_snapshots", default=False):
        FILE.write_bytes(gzip.compress(json.dumps(made).encode(), mtime=0))
    known = [
        each for each in shipped.load() if (ROOT / "bot" / each["name"].partition(":")[0]).exists()
    ]
    assert [(each["name"], each["content"]) for each in known] == [
        (each["name"], each["content"]) for each in made
    ]
    for each, other in zip(known, made, strict=True):
        assert shape(each) == shape(other), "run `make texts`"


def wrong(screen: dict[str, Any]) -> list[tuple[str, str]]:
    if view := screen.get("view"):
        return find_wrong_in_view(view, view["type"])
    blocks = screen["message"]["blocks"]
    return find_wrong(blocks) or [("too long", "")] * is_too_long(blocks)


def test_the_pocket_slack_takes_each_of_them() -> None:
    found = {f"{screen['name']}, {screen['content']}": wrong(screen) for screen in shipped.load()}
    assert {name: why for name, why in found.items() if why} == {}


async def test_what_slack_does_not_take_is_named_with_its_place(stage: Stage) -> None:
    error = {
        "pointer": "/blocks/0/text",
        "message": "must be shorter",
        "constraint": {"type": "max_length"},
    }
    refused = {
        "ok": False,
        "error": "invalid_message",
        "errors": [error | {"code": "failed_constraint"}],
    }
    client = stage.services.client
    settings = stage.services.settings
    number = len(shipped.load())
    stage.slack.fail("blocks.validate", changes=lambda _: refused)
    where = "contents: /blocks/0/text must be shorter, {'type': 'max_length'}"
    with pytest.raises(SlackError, match=re.escape(where)):
        await shipped.check(client, settings)
    for fault, why in (
        ({"error": "unknown_method"}, "unknown_method"),
        ({"drop": True}, "no answer"),
    ):
        stage.slack.fail("blocks.validate", **fault)
        said = (
            f"0 of {number} messages and windows are accepted by Slack; it checks no more of "
            f"them ({why})"
        )
        assert await shipped.check(client, settings) == said
