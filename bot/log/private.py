"""Files and folders that nobody but their owner may read, since what people wrote is in them."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

_OTHERS = 0o077
_BESIDE = ("", "-wal", "-shm", ".lock")


def private(path: str, flags: int) -> int:
    """An `opener` for `open`: a file that it makes is its owner's alone, whatever the umask."""
    return os.open(path, flags, 0o600)


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it that are missing, for their owner alone."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def make_file(file: Path) -> None:
    """Makes an empty file, if there is none. SQLite gives its permissions to those that it makes beside it."""
    try:
        # Never opens one that is there: SQLite's locks on it would be lost with the closing, to the whole process.
        os.close(private(str(file), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return


def open_to_others(file: Path) -> Sequence[Path]:
    """Which files of the log in `file` others than their owner may read or write."""
    if os.name == "nt":  # knows no such permissions
        return []
    beside = (file.with_name(f"{file.name}{ending}") for ending in _BESIDE)
    return [each for each in beside if each.exists() and each.stat().st_mode & _OTHERS]


def to_mend(exposed: Sequence[Path]) -> str:
    """The command that keeps these files to their owner."""
    return f"chmod 600 {shlex.join(map(str, exposed))}"
