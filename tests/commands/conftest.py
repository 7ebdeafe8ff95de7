"""A store beside which commands run, and the demo's past, written once for all tests that only read
it.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.commands.demo_past import demo_workspace, write_past
from bot.store import Store
from pocket_slack import ManualClock, Workspace
from tests.cases import url

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


@pytest.fixture
async def log(log_file: None, tmp_path: Path) -> AsyncIterator[Store]:
    """The store that a command finds in the test's folder."""
    async with await Store.open(url(tmp_path)) as opened:
        yield opened
