"""`judge-bot manifest`: what it prints is what Slack is given."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.slack.manifest import MINIMAL, load_manifest
from tests.bot_command import run


async def printed(folder: Path, *options: str) -> Any:
    code, out, err = await run("judge-bot", ("manifest", *options), {}, folder)
    assert (code, err) == (0, "")
    return yaml.safe_load(out)


async def test_alone_it_is_the_manifest_of_the_file(tmp_path: Path) -> None:
    assert await printed(tmp_path) == load_manifest()
    assert await printed(tmp_path, "--minimal") == load_manifest(MINIMAL)


async def test_each_part_adds_what_it_needs_and_nothing_else(tmp_path: Path) -> None:
    made = await printed(tmp_path, "--with", "message-events")
    for event in ("message.channels", "message.groups"):
        made["settings"]["event_subscriptions"]["bot_events"].remove(event)
    assert made == load_manifest()


async def test_a_part_may_be_named_beside_another_or_alone(tmp_path: Path) -> None:
    both = await printed(tmp_path, "--with", "message-events,files")
    assert both == await printed(tmp_path, "--with", "message-events", "--with", "files")
    assert both != await printed(tmp_path, "--with", "files")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--with", "steps"), "--with steps: unknown; expected message-events"),
        (("--minimal", "--with", "message-events"), "the minimal manifest may read no messages"),
    ],
)
async def test_what_it_cannot_print_is_said_in_a_sentence(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    code, out, err = await run("judge-bot", ("manifest", *options), {}, tmp_path)
    assert (code, out) == (2, "")
    assert said in err
