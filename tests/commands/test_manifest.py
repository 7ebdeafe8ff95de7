"""`judge-bot manifest`: what it prints is what Slack is given."""

from pathlib import Path
from typing import Any

import yaml

from bot.slack.manifest import OFF_WITHOUT, load_manifest
from tests.bot_command import run


async def printed(folder: Path, *options: str) -> Any:
    code, out, err = await run("judge-bot", ("manifest", *options), {}, folder)
    assert (code, err) == (0, "")
    return yaml.safe_load(out)


async def test_alone_it_is_the_manifest_of_the_file(tmp_path: Path) -> None:
    assert await printed(tmp_path) == load_manifest()


def test_what_is_off_without_a_scope_is_known_of_each_that_can_be_declined() -> None:
    scopes = load_manifest()["oauth_config"]["scopes"]
    assert scopes["bot_optional"] == sorted(OFF_WITHOUT)
    assert set(OFF_WITHOUT) < set(scopes["bot"])


async def test_parts_add_what_they_need_and_nothing_else(tmp_path: Path) -> None:
    both = await printed(tmp_path, "--with", "message-events,files")
    assert "files:write" in str(both)
    made = await printed(tmp_path, "--with", "message-events")
    for event in ("message.channels", "message.groups"):
        made["settings"]["event_subscriptions"]["bot_events"].remove(event)
    assert made == load_manifest()


async def test_what_it_cannot_print_is_said_in_a_sentence(tmp_path: Path) -> None:
    code, out, err = await run("judge-bot", ("manifest", "--with", "steps"), {}, tmp_path)
    assert (code, out) == (2, "")
    assert "--with steps: unknown; expected message-events" in err
