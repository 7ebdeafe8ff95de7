"""Watches as the store has them, for the tests of all features that go by them."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert

from bot.domain.watch import Watch
from bot.store.schema import watches
from tests.stage import Stage


async def watch_helper(stage: Stage, **terms: Any) -> Watch:
    """A watch on the assistant in the public channel, as if somebody had just set it."""
    team_id, channel_id = stage.place
    now = datetime.now(UTC)
    watch = Watch(team_id, channel_id, stage.helper.id, now, is_private=False, **terms)
    row = asdict(watch) | {"look_at": now, "read_until": now}
    del row["channels"]
    await stage.log.database.execute(insert(watches).values(row))
    return watch


async def only(stage: Stage) -> Watch:
    """The one watch that there is."""
    (watch,) = await stage.log.watches.of(stage.slack.workspace.team_id)
    return watch
