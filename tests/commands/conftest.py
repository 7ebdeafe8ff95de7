"""The demo's past, written once for all tests that only read it."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.commands.demo_past import demo_workspace, write_past
from pocket_slack import ManualClock, Workspace

THURSDAY = datetime(2026, 1, 22, 3, 2, tzinfo=UTC)
Past = tuple[Path, Workspace]


def written(folder: Path, now: datetime) -> Past:
    """The store of the past as of then, and the workspace that it stands in."""
    file = folder / "log.db"
    workspace = demo_workspace(ManualClock(now.timestamp()))
    asyncio.run(write_past(f"sqlite+aiosqlite:///{file}", workspace))
    return file, workspace


@pytest.fixture(scope="session")
def past(tmp_path_factory: pytest.TempPathFactory) -> Past:
    return written(tmp_path_factory.mktemp("past"), THURSDAY)
