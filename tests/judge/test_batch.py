"""When the rows of a batch reach the disk: the journal takes the call that sees to it, and the clock."""

import inspect
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge import Judge
from judge.batch import Journal
from judge.errors import SetupError
from judge.rows import Item, parse_item, to_added


class Disk:
    """Notes how much of which file was there each time it was to be put on the disk."""

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


async def test_a_row_is_on_the_disk_within_seconds(tmp_path: Path, added: dict[str, Any]) -> None:
    path, disk = tmp_path / "out.jsonl", Disk()
    with opened(path, disk, added) as journal:
        journal.append(row(1), added)
        assert disk.seen == []  # each row by itself would cost more than its verdict
        disk.now_s += 5.1
        journal.append(row(2), added)
        assert disk.seen == [(path.stat().st_ino, path.stat().st_size)]
        disk.now_s += 4.9
        journal.append(row(3), added)
        assert len(disk.seen) == 1


async def test_all_rows_are_on_the_disk_when_it_is_closed(tmp_path: Path, added: dict[str, Any]) -> None:
    path, disk = tmp_path / "out.jsonl", Disk()
    with opened(path, disk, added) as journal:
        journal.append(row(1), added)
    assert disk.seen == [(path.stat().st_ino, path.stat().st_size)]


async def test_sorted_rows_are_on_the_disk_before_they_take_the_others_place(
    tmp_path: Path, added: dict[str, Any]
) -> None:
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


async def test_a_disk_that_fails_at_the_end_is_said(tmp_path: Path, added: dict[str, Any]) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    journal = opened(tmp_path / "out.jsonl", Disk(), added, fail)
    journal.append(row(1), added)
    with pytest.raises(SetupError, match=r"cannot be written to the disk \(input/output error\)"):
        journal.close()


def test_what_a_journal_takes_by_default_is_the_systems_own() -> None:
    parameters = inspect.signature(Journal).parameters
    assert (parameters["sync"].default, parameters["clock"].default) == (os.fsync, time.monotonic)
