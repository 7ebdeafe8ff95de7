"""What a file of lines keeps, and when it reaches the disk; the sync call and the clock are
arguments.
"""

import os
import resource
from pathlib import Path

import pytest

from judge.errors import SetupError
from judge.rows.line_file import LineFile


class Disk:
    """Records the inode and the size of the file at each sync."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen: list[tuple[int, int]] = []
        self.inodes: list[int] = []  # of the file in its place, at each sync
        self.now_s = 100.0

    def sync(self, descriptor: int) -> None:
        state = os.fstat(descriptor)
        self.seen.append((state.st_ino, state.st_size))
        self.inodes.append(self.path.stat().st_ino)

    def clock(self) -> float:
        return self.now_s

    def open(self) -> LineFile:
        return LineFile(self.path, lambda *_: None, sync=self.sync, clock=self.clock)

    @property
    def state(self) -> tuple[int, int]:
        return self.path.stat().st_ino, self.path.stat().st_size


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def opened(path: Path, *lines: bytes, head: bytes = b"") -> list[tuple[int, int, bytes]]:
    """The lines that are found in the file; then appends `lines`."""
    found: list[tuple[int, int, bytes]] = []
    with LineFile(path, lambda *line: found.append(line), head) as file:
        for line in lines:
            file.append(line)
    return found


def test_an_incomplete_last_line_is_cut_off(path: Path) -> None:
    path.write_bytes(b"one\ntw")
    assert [raw for _, _, raw in opened(path, b"two\n")] == [b"one\n"]
    assert path.read_bytes() == b"one\ntwo\n"


def test_an_incomplete_last_line_that_is_not_ours_is_kept(path: Path) -> None:
    path.write_bytes(b"notes")
    assert [raw for _, _, raw in opened(path, head=b"one")] == [b"notes"]
    assert path.read_bytes() == b"notes"
    path.write_bytes(b"on")
    assert opened(path, head=b"one") == []
    assert path.read_bytes() == b""


def test_a_line_that_a_full_disk_cuts_off_spoils_no_other(path: Path) -> None:
    with LineFile(path, lambda *_: None) as file:
        file.append(b"one\n")
        # A limit on the size of files simulates the full disk.
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, hard))
        try:
            with pytest.raises(SetupError, match=r"cannot continue writing \(file too large\)"):
                file.append(b"a line of more than ten bytes\n")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        file.append(b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"


def test_a_second_opening_is_refused_until_the_first_is_closed(path: Path) -> None:
    with (
        LineFile(path, lambda *_: None),
        pytest.raises(
            SetupError, match="is writing it; wait for its end, or choose another output"
        ),
    ):
        opened(path)
    assert opened(path) == []


def test_a_file_whose_lines_are_refused_can_be_opened_again(path: Path) -> None:
    def refuse(*_: object) -> None:
        raise SetupError("no")

    path.write_bytes(b"one\n")
    with pytest.raises(SetupError, match="no"):
        LineFile(path, refuse)
    assert len(opened(path)) == 1


def test_lines_are_synced_every_5_seconds_and_at_the_end(path: Path) -> None:
    disk = Disk(path)
    with disk.open() as file:
        file.append(b"one\n")
        assert disk.seen == []  # a sync for each line would cost more than what it keeps
        disk.now_s += 5.1
        file.append(b"two\n")
        assert disk.seen == [disk.state]
        file.append(b"three\n")
    assert disk.seen[1:] == [disk.state]


def test_a_new_order_is_synced_before_it_replaces_the_file(path: Path) -> None:
    disk = Disk(path)
    with disk.open() as file:
        places = [file.append(line) for line in (b"one\n", b"three\n")]
        before = path.stat().st_ino
        file.rewrite(reversed(places), "it cannot be sorted")
        assert (disk.seen, disk.inodes) == ([disk.state], [before])
    assert path.read_bytes() == b"three\none\n"


def test_a_sync_that_fails_at_the_end_is_reported(path: Path) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    file = LineFile(path, lambda *_: None, sync=fail)
    with pytest.raises(SetupError, match=r"cannot be written to the disk \(input/output error\)"):
        file.close()
