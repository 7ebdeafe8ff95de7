"""Reads DATABASE_URL: what the driver is told, and what people are shown, which never includes a
secret.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from bot.errors import StoreError

_CONNECT_TIMEOUT_S = 10.0  # asyncpg's default is a minute
_SQLITE = ("sqlite", "sqlite+aiosqlite")
_POSTGRESQL = ("postgres", "postgresql", "postgres+asyncpg", "postgresql+asyncpg")
_HOST = r"(?:\[[\w:.%]+\]|[\w.%~-]*)(?::\d{0,5})?"
# What may follow the login.
_PLACE = re.compile(
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)(?:/(?P<database>[^@/?#]*))?(?:\?(?P<options>[^#]*))?"
)

_EXPECTED = (
    "expected a URL such as sqlite:///slack-judge.db or postgresql://USER:PASSWORD@HOST:5432/NAME"
)
_HOW_TO_WRITE_IT = (
    "the port is a number, an IPv6 address stands in brackets, and a password has %40 for @, %3A "
    "for :, %2F for /, %3F for ?, %23 for # and %25 for %"
)


@dataclass(frozen=True)
class Address:
    """Where the database is: SQLAlchemy's URL (the file, or only the dialect and driver), and
    arguments for the driver.

    `shown` is for people: without user, password and options.
    """

    url: URL
    arguments: dict[str, Any]
    shown: str

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def file(self) -> Path | None:
        """SQLite's file, which links lead to, too."""
        return Path(self.url.database or "").resolve() if self.is_sqlite else None


def to_address(database_url: str) -> Address:
    """The address in DATABASE_URL.

    Raises StoreError if it is wrong; the message quotes at most a driver's name.
    """
    scheme, _, rest = database_url.strip().partition("://")
    if scheme in _SQLITE:
        return _to_file(f"sqlite+aiosqlite://{rest}")
    if scheme in _POSTGRESQL:
        return _to_server(rest)
    if rest and re.fullmatch(r"\w+(\+\w+)?", scheme):
        raise StoreError(f"DATABASE_URL: there is no driver for {scheme!r}; {_EXPECTED}")
    raise StoreError(f"DATABASE_URL: {_EXPECTED}")


def _to_file(text: str) -> Address:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as exc:
        raise StoreError(f"DATABASE_URL: {_EXPECTED}") from exc
    is_path = not (url.query or url.host or url.username or url.port)
    if not is_path or not url.database or url.database.startswith((":memory:", "file:")):
        raise StoreError(
            "DATABASE_URL: SQLite needs the path of a file after three slashes, without options: a "
            f"database in memory would be lost when the process ends; {_EXPECTED}"
        )
    return Address(url, {}, str(url))


def _to_server(rest: str) -> Address:
    # A password may contain an @ as it is, an option %40.
    login, _, place = rest.rpartition("@")
    found = _PLACE.fullmatch(place)
    if found is None or any(
        int(port) > 65_535 for port in re.findall(r":(\d+)(?=,|$)", found["hosts"])
    ):
        raise StoreError(f"DATABASE_URL: cannot be read; {_EXPECTED}, where {_HOW_TO_WRITE_IT}")
    pairs = (part.partition("=") for part in (found["options"] or "").split("&") if part)
    options = {name: unquote(value) for name, _, value in pairs}
    return _to_address(login, found["hosts"], unquote(found["database"] or ""), options)


def _to_address(login: str, hosts: str, database: str, options: dict[str, str]) -> Address:
    user, _, password = login.partition(":")
    # If they are not given, asyncpg looks for them: PGUSER, PGPASSWORD, PGPASSFILE, ~/.pgpass,
    # PGDATABASE.
    who = {"user": unquote(user), "password": unquote(password), "database": database}
    arguments = {name: value for name, value in who.items() if value} | _to_arguments(
        hosts, options
    )
    return Address(URL.create("postgresql+asyncpg"), arguments, f"postgresql://{hosts}/{database}")


def _to_arguments(hosts: str, options: dict[str, str]) -> dict[str, Any]:
    """The connection arguments of asyncpg.

    SQLAlchemy would pass libpq's names, which asyncpg reads only in a DSN.
    """
    options = {"application_name": "slack-judge"} | options
    timeout = options.pop("connect_timeout", "")
    timeout_s = float(timeout) if re.fullmatch(r"\d{1,4}", timeout) else 0.0
    arguments: dict[str, Any] = {"timeout": timeout_s or _CONNECT_TIMEOUT_S}
    if mode := options.pop("ssl", ""):
        options["sslmode"] = "require" if mode in ("true", "1") else mode
    if options.pop("channel_binding", "prefer") == "require":
        # asyncpg has no channel binding. The certificate serves its purpose: no one in between can
        # pose as the server.
        options["sslmode"] = "verify-full"
    if options.get("sslmode") == "verify-full" and options.get("sslrootcert", "system") == "system":
        arguments["ssl"] = (
            True  # asyncpg's value for verify-full with the authorities that the system trusts
        )
        options = {name: value for name, value in options.items() if not name.startswith("ssl")}
    return arguments | {"dsn": f"postgresql://{hosts}/?{urlencode(options, quote_via=quote)}"}
