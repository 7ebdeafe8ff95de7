"""Who uses the database: one process for each file, files that only their owner may read, and signs
of life.
"""

import asyncio
import math
import os
import shlex
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from filelock import FileLock, Timeout
from sqlalchemy import Row, delete, select

from bot.domain.clock import utc_now
from bot.errors import StoreError
from bot.store.database import Database, upsert
from bot.store.schema import processes


def make_folder(folder: Path) -> None:
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def make_file(file: Path) -> None:
    """Creates an empty file, if there is none; SQLite gives its permissions to the files that it
    creates beside it.
    """
    with suppress(FileExistsError):
        # Never opens an existing file: closing it would drop SQLite's locks on it for the whole
        # process.
        os.close(os.open(file.resolve(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def beside(file: Path) -> Sequence[Path]:
    """All files of the database in `file`; behind a link, those that it leads to."""
    file = file.resolve()
    return [file.with_name(f"{file.name}{ending}") for ending in ("", "-wal", "-shm", ".lock")]


def open_to_others(files: Sequence[Path]) -> Sequence[Path]:
    """Those of the files that others than their owner may read or write.

    Files mounted read-only are left out. Docker, Kubernetes and systemd hand secrets to only one
    container or service in this way, with permissions (often 0444) that cannot be changed there and
    do not matter.
    """
    if os.name == "nt":  # Windows has no such permissions
        return []
    group_and_others = 0o077
    exposed = [each for each in files if each.exists() and each.stat().st_mode & group_and_others]
    return [each for each in exposed if not os.statvfs(each).f_flag & os.ST_RDONLY]


def to_mend(exposed: Sequence[Path]) -> str:
    return f"chmod 600 {shlex.join(map(str, exposed))}"


logger = structlog.get_logger(__name__)


@contextmanager
def owned(database: Database) -> Iterator[None]:
    """Holds an SQLite file for this process alone, until it ends in any way; PostgreSQL's is shared
    by any number.
    """
    if not database.is_sqlite:
        yield
        return
    file = Path(database.engine.url.database or "").resolve()  # a link to it is the same database
    path = file.with_name(f"{file.name}.lock")
    lock = FileLock(path, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout as exc:
        raise _in_use(database, path) from exc
    try:
        path.write_text(f"{os.getpid()}\n", encoding="ascii")
        if exposed := open_to_others(beside(file)):
            logger.warning("others_may_read_the_database", mend=to_mend(exposed))
        yield
    finally:
        lock.release()


def _in_use(database: Database, lock: Path) -> StoreError:
    owner = ""
    with suppress(OSError, ValueError):
        owner = lock.read_text(encoding="ascii").strip()
    return StoreError(
        f"DATABASE_URL {database.engine.url}: another judge-bot (process {owner or 'unknown'}) "
        "uses this file; stop it, give each its own file, or use PostgreSQL for both"
    )


SILENT_S = 20.0
"""A process that has given no sign for this long is taken to be gone or stuck."""
_FORGOTTEN = timedelta(days=1)
_PATIENCE_S = 3.0


class Processes:
    """The processes at work: each signs in the database every few seconds, which shows that it can
    be written.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._signed_at = -math.inf
        self._name = uuid.uuid4().hex

    async def sign(self, *, is_connected: bool) -> None:
        values = {
            "id": self._name,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "is_connected": is_connected,
            "seen_at": utc_now(),
        }
        await self._database.execute(upsert(self._database, processes, values))
        self._signed_at = self._clock()

    async def has_signed(self) -> bool:
        """Whether this process has recently written to the database."""
        return self._clock() - self._signed_at < SILENT_S

    async def leave(self) -> None:
        """Removes this process from the list, and those that were killed long ago, if the database
        answers soon.
        """
        is_over = processes.c.seen_at < utc_now() - _FORGOTTEN
        statement = delete(processes).where((processes.c.id == self._name) | is_over)
        signing_off = asyncio.ensure_future(self._database.execute(statement))
        await asyncio.wait([signing_off], timeout=_PATIENCE_S)
        if not signing_off.done() or signing_off.exception():
            logger.warning("not_signed_off", left="it is forgotten in a day")

    async def latest_here(self) -> Row[Any] | None:
        """The last sign of a process on this machine, as it is stored."""
        here = select(processes).filter_by(host=socket.gethostname())
        return await self._database.one(here.order_by(processes.c.seen_at.desc()).limit(1))
