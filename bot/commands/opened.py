"""Opens the store for commands; each error becomes one plain sentence."""

import getpass
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from bot.errors import BotError, StoreError
from bot.settings import StoreSettings, load
from bot.store import Store
from bot.store.audit import Act, Action, Audit
from bot.store.database import Database
from bot.store.errors import STORE_ERRORS, reason_of


@asynccontextmanager
async def opened_database() -> AsyncIterator[Database]:
    async with await Store.open_existing(load(StoreSettings).database_url) as store:
        yield store.database


@contextmanager
def reading(consequence: str = "; the export is not complete") -> Iterator[None]:
    """A context that raises StoreError if the store cannot be read within it."""
    try:
        yield
    except STORE_ERRORS as exc:
        raise StoreError(f"the database cannot be read ({reason_of(exc)}){consequence}") from exc


async def note(database: Database, what: Action, teams: Sequence[str], **about: Any) -> None:
    """Records the coming export in the audit; raises StoreError if it cannot, and then nothing must
    be exported.
    """
    try:
        await Audit(database).note([Act(team_id, operator(), what, **about) for team_id in teams])
    except STORE_ERRORS as exc:
        raise StoreError(
            f"the database cannot be written ({reason_of(exc)}); nothing was exported"
        ) from exc


def one_team(option: str, teams: Sequence[str], given: str, unknown: str) -> str:
    """The team that `given` means, an id that may follow a team's id and a slash; raises BotError
    if it is not one.
    """
    team_id, _, its_id = given.rpartition("/")
    found = [each for each in teams if team_id in {"", each}]
    if not found:
        raise BotError(f"{option} {given[:40]!r}: {unknown}")
    if len(found) > 1:
        names = ", ".join(f"{option} {each}/{its_id}" for each in found)
        raise BotError(
            f"{option} {given!r}: there is one in each of {len(found)} workspaces; say "
            f"which: {names}"
        )
    return found[0]


def operator() -> str:
    """The operating system's user of this process, by name, or by number if it has none, as in many
    containers.
    """
    if os.name == "nt":
        return f"os:{getpass.getuser()}"
    import pwd  # Windows has none; unlike getpass, it does not trust USER and LOGNAME

    try:
        return f"os:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"os:{os.getuid()}"
