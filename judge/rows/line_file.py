"""A file of lines that is only appended to: what one run wrote, the next goes on with, whatever
ended the first.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, Self

from judge.errors import SetupError
from judge.rows.files import explaining, private, replacing


class LineFile:
    """A file of lines, created readable only by its owner, that one process at a time can have
    open.

    A line is passed to the operating system at once, so that a killed process loses none, and
    reaches the disk within seconds. An incomplete last line, left by a killed process or a full
    disk, is cut off when the file is opened, if it begins with `head`.

    `take` gets the number (from 1), offset and text of each line that is already there; `otherwise`
    says what to do if the file cannot be used. All methods raise SetupError if the system reports
    an error; opening, also if another process has it.
    """

    def __init__(
        self,
        path: Path,
        take: Callable[[int, int, bytes], None],
        head: bytes = b"",
        otherwise: str = "choose another output",
        *,
        sync: Callable[[int], None] = os.fsync,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self._sync = sync
        self._clock = clock
        self._synced_at = clock()
        if path.exists() and not path.is_file():
            raise SetupError(f"{path}: not a plain file; {otherwise}.")
        with explaining(f"{path}: cannot read and write it"):
            self._file: BinaryIO = open(path, "a+b", buffering=0, opener=private)  # noqa: SIM115 - until `close`
            try:
                self._lock(otherwise)
                self._read(take, head)
            except BaseException:
                self._file.close()
                raise

    def append(self, raw: bytes) -> int:
        """Appends a line with its end, or on a full disk nothing, and returns its offset."""
        with explaining(f"{self.path}: cannot continue writing"):
            start = os.fstat(self._file.fileno()).st_size
            left = memoryview(raw)
            try:
                while left:
                    left = left[self._file.write(left) :]
            except OSError:
                self._file.truncate(start)
                raise
        if (
            self._clock() - self._synced_at > 5.0
        ):  # a crash of the machine costs no more than these seconds
            self.sync()
        return start

    def sync(self) -> None:
        """Returns once everything is on the disk."""
        with explaining(f"{self.path}: cannot be written to the disk"):
            self._sync(self._file.fileno())
        self._synced_at = self._clock()

    def rewrite(self, offsets: Iterable[int], failure: str) -> None:
        """Keeps the lines at `offsets`, in this order, in a second file that replaces the first
        when it is complete.
        """
        with replacing(self.path, failure) as copy, self.path.open("rb") as lines:
            for offset in offsets:
                lines.seek(offset)
                copy.write(lines.readline())
            copy.flush()
            self._sync(copy.fileno())

    def close(self) -> None:
        """Flushes everything to the disk, and lets other processes write."""
        try:
            self.sync()
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lock(self, otherwise: str) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Before we got the lock, another process may have replaced the file that we opened with
            # a sorted one.
            is_ours = os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        except OSError:  # a file system without locks
            return
        if not is_ours:
            raise SetupError(
                f"{self.path}: another process is writing it; wait for its end, or {otherwise}."
            )

    def _read(self, take: Callable[[int, int, bytes], None], head: bytes) -> None:
        end = 0
        with self.path.open("rb") as lines:
            for number, raw in enumerate(lines, start=1):
                if not raw.endswith(b"\n") and raw[: len(head)] == head[: len(raw)]:
                    self._file.truncate(end)
                    return
                take(number, end, raw)
                end += len(raw)
