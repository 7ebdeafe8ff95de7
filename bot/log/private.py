"""Files and folders that nobody but their owner may read, since what people wrote is in them."""

import os
import shlex
import stat
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
    """Makes an empty file, if there is none, also where a link leads to none yet.

    SQLite gives its permissions to those that it makes beside it.
    """
    try:
        # Never opens one that is there: SQLite's locks on it would be lost with the closing, to the whole process.
        os.close(private(str(file.resolve()), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return


def beside(file: Path) -> Sequence[Path]:
    """All files of the log in `file`; behind a link, those that it leads to."""
    file = file.resolve()
    return [file.with_name(f"{file.name}{ending}") for ending in _BESIDE]


def open_to_others(files: Sequence[Path]) -> Sequence[Path]:
    """Which of the files others than their owner may read or write.

    What is mounted read-only is left out: so Docker, Kubernetes and systemd hand secrets to one container or service
    alone, with permissions (often 0444) that nobody can change there and that keep nobody out.
    """
    if os.name == "nt":  # knows no such permissions
        return []
    return [each for each in files if each.exists() and each.stat().st_mode & _OTHERS and not _is_read_only(each)]


def _is_read_only(file: Path) -> bool:
    return bool(os.statvfs(file).f_flag & os.ST_RDONLY)


def is_open_folder(folder: Path) -> bool:
    """Whether anybody may put files into a folder, and so change which one is the log."""
    return os.name != "nt" and bool(folder.stat().st_mode & stat.S_IWOTH)


def to_mend(exposed: Sequence[Path]) -> str:
    """The command that keeps these files to their owner."""
    return f"chmod 600 {shlex.join(map(str, exposed))}"
