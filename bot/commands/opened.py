"""The log as commands open it: what goes wrong with it is one sentence."""

import getpass
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from bot.errors import LogError
from bot.settings import load_log_settings
from bot.store.audit import Act, Audit
from bot.store.database import Database
from bot.store.errors import STORE_ERRORS, reason_of
from bot.store.opening import open_engine, require_log


@asynccontextmanager
async def opened_database() -> AsyncIterator[Database]:
    """The database of the log that the settings name, migrated."""
    url = load_log_settings().database_url
    await require_log(url)
    database = Database(await open_engine(url))
    try:
        yield database
    finally:
        await database.close()


@contextmanager
def reading(consequence: str = "; the export is not complete") -> Iterator[None]:
    """Whatever is read within; LogError where it cannot be."""
    try:
        yield
    except STORE_ERRORS as exc:
        raise LogError(f"the log cannot be read ({reason_of(exc)}){consequence}") from exc


async def note(database: Database, acts: Sequence[Act]) -> None:
    """Notes in the audit what is about to be exported; LogError where it cannot be, and then nothing is to be."""
    try:
        await Audit(database).note(acts)
    except STORE_ERRORS as exc:
        raise LogError(f"the log cannot be written ({reason_of(exc)}); nothing was exported") from exc


def operator() -> str:
    """The operating system's user that this process belongs to: by name, else, as in many containers, by number."""
    if os.name == "nt":
        return f"os:{getpass.getuser()}"
    import pwd  # there is none elsewhere; it does not believe USER and LOGNAME, as getpass does

    try:
        return f"os:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"os:{os.getuid()}"
