"""When the rows of a batch are synced to the disk; the journal takes the sync call and the clock as arguments."""

import inspect
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge import Judge
from judge.errors import SetupError
from judge.rows.batch import Journal
from judge.rows.row_file import Item, parse_item, to_added


class Disk:
    """Records the inode and the size of the file at each sync."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []
        self.now_s = 100.0

    def sync(self, descriptor: int) -> None:
        state = os.fstat(descriptor)
        self.seen.append((state.st_ino, state.st_size))

    def clock(self) -> float:
        return self.now_s


@pytest.fixture
async def added() -> dict[str, Any]:
    async with Judge("offline") as judge:
        return to_added(await judge.score("Why?", "Because it is so."), 1)


def row(line: int) -> Item:
    parsed = parse_item(line, b'{"prompt": "Why?", "completion": "Because."}')
    assert isinstance(parsed, Item)
    return parsed


def opened(path: Path, disk: Disk, added: dict[str, Any], sync: Callable[[int], None] | None = None) -> Journal:
    identity = {name: added[name] for name in ("model", "rubric_version", "samples")}
    return Journal(path, 9, identity, sync=sync or disk.sync, clock=disk.clock)


async def test_rows_are_synced_every_5_seconds(tmp_path: Path, added: dict[str, Any]) -> None:
    path, disk = tmp_path / "out.jsonl", Disk()
    with opened(path, disk, added) as journal:
        journal.append(row(1), added)
        assert disk.seen == []  # a sync for each row would cost more than its verdict
        disk.now_s += 5.1
        journal.append(row(2), added)
        assert disk.seen == [(path.stat().st_ino, path.stat().st_size)]
        disk.now_s += 4.9
        journal.append(row(3), added)
        assert len(disk.seen) == 1


async def test_all_rows_are_synced_when_the_journal_is_closed(tmp_path: Path, added: dict[str, Any]) -> None:
    path, disk = tmp_path / "out.jsonl", Disk()
    with opened(path, disk, added) as journal:
        journal.append(row(1), added)
    assert disk.seen == [(path.stat().st_ino, path.stat().st_size)]


async def test_sorted_rows_are_synced_before_they_replace_the_file(tmp_path: Path, added: dict[str, Any]) -> None:
    path, disk = tmp_path / "out.jsonl", Disk()
    there: list[int] = []

    def sync(descriptor: int) -> None:
        disk.sync(descriptor)
        there.append(path.stat().st_ino)

    with opened(path, disk, added, sync) as journal:
        journal.append(row(2), added)
        journal.append(row(1), added)
        before = path.stat().st_ino
        journal.sort()
        assert disk.seen == [(path.stat().st_ino, path.stat().st_size)]
        assert there == [before]


async def test_a_sync_that_fails_at_the_end_is_reported(tmp_path: Path, added: dict[str, Any]) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    journal = opened(tmp_path / "out.jsonl", Disk(), added, fail)
    journal.append(row(1), added)
    with pytest.raises(SetupError, match=r"cannot be written to the disk \(input/output error\)"):
        journal.close()


def test_a_journal_uses_the_systems_fsync_and_clock_by_default() -> None:
    parameters = inspect.signature(Journal).parameters
    assert (parameters["sync"].default, parameters["clock"].default) == (os.fsync, time.monotonic)
