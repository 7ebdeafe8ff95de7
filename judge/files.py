"""Files that nobody but their owner may read, since prompts and responses are in them."""

import os
import stat
from pathlib import Path

_OWNERS_ALONE = 0o600


def private(path: str, flags: int) -> int:
    """An `opener` for `open`: a file that it makes is its owner's alone, whatever the umask."""
    return os.open(path, flags, _OWNERS_ALONE)


def private_and_new(path: str, flags: int) -> int:
    """The same for a file beside another, in place of whatever has its name: one of a run that was killed, or a link.

    Others may have made those; what is written there would be theirs to read, or go elsewhere.
    """
    Path(path).unlink(missing_ok=True)
    return private(path, flags | os.O_EXCL)


def put_in_place(beside: Path, target: Path) -> None:
    """Puts a file into the place of `target`, with the permissions that it had; a new one is its owner's alone."""
    beside.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else _OWNERS_ALONE)
    beside.replace(target)
