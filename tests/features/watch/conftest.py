"""What most tests of watches begin with."""

import pytest

from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from tests.stage import Stage, StageFactory


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    """The stage of an app that hears of each message."""
    manifest = load_manifest(parts=[MESSAGE_EVENTS])
    opened: Stage = await open_stage(manifest=manifest, watch_by="events")
    return opened
