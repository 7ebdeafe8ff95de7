"""One process owns a log in a file: a second one is told so, and leaves."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from filelock import FileLock, Timeout

from bot.errors import LogError
from bot.log.database import Database
from bot.log.private import beside, open_to_others, to_mend

logger = structlog.get_logger(__name__)


@contextmanager
def owned(database: Database) -> Iterator[None]:
    """The log, this process's alone; the operating system gives it back however the process ends.

    With PostgreSQL any number of processes share the log, and nothing is locked.

    Raises:
        LogError: Another process works on the file, or it cannot be locked.
    """
    if not database.is_sqlite:
        yield
        return
    file = Path(database.engine.url.database or "").resolve()  # a link to it is the same log
    path = file.with_name(f"{file.name}.lock")
    lock = FileLock(path, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout as exc:
        raise LogError(
            f"DATABASE_URL {database.engine.url}: another judge-bot (process {_owner(path)}) works on this file; "
            "stop it, or give each its own, or let both use PostgreSQL"
        ) from exc
    except OSError as exc:
        raise LogError(
            f"DATABASE_URL {database.engine.url}: {path} cannot be locked ({exc.strerror}); delete it, or mend its "
            "permissions"
        ) from exc
    try:
        path.write_text(f"{os.getpid()}\n", encoding="ascii")
        if exposed := open_to_others(beside(file)):
            logger.warning("others_may_read_the_log", mend=to_mend(exposed))
        yield
    finally:
        lock.release()


def _owner(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip() or "unknown"
    except (OSError, ValueError):
        return "unknown"
