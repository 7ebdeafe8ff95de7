"""What a DATABASE_URL is taken for; whether it works is tried in
tests/commands/test_database_url.py.
"""

from typing import Any

import pytest

from bot.errors import StoreError
from bot.store.address import to_address
from tests.tables import each

SECRET = "hunter2-Tr0ub4dor"


def told(url: str) -> dict[str, Any]:
    """What asyncpg is told, without what is always the same."""
    arguments = to_address(url).arguments
    assert arguments.pop("timeout") == 10
    return arguments | {"dsn": arguments["dsn"].replace("application_name=slack-judge", "")}


@each("scheme", ["postgres", "postgresql", "postgresql+asyncpg", "postgres+asyncpg"])
def test_postgresql_has_several_names(scheme: str) -> None:
    url = f"{scheme}://ann@acme:p%40s%2F@db.example:5433/judge?connect_timeout=3"
    address = to_address(url)
    assert address.url.render_as_string() == "postgresql+asyncpg://"
    assert address.arguments == {
        "user": "ann@acme",
        "password": "p@s/",
        "database": "judge",
        "dsn": "postgresql://db.example:5433/?application_name=slack-judge",
        "timeout": 3,
    }


@each("password", ["50%", "a@b/c?d#e:f%g h@", "[::1", "a&b=c", "+"])
@each("place", ["db.example/judge", "[::1]:5433/judge?sslmode=require"])
def test_a_password_may_be_written_as_it_is(password: str, place: str) -> None:
    assert told(f"postgres://ann:{password}@{place}")["password"] == password


def test_what_is_not_given_is_left_to_the_environment() -> None:
    assert told("postgresql://") == {"dsn": "postgresql:///?"}


@each(
    ("options", "dsn", "tls"),
    [
        # Heroku, Render, DigitalOcean: a certificate that is not verified
        ("sslmode=require", "&sslmode=require", None),
        # Neon
        ("sslmode=require&channel_binding=require", "", True),
        # Supabase, with its own authority
        (
            "sslmode=require&channel_binding=require&sslrootcert=/ca.crt",
            "&sslmode=verify-full&sslrootcert=%2Fca.crt",
            None,
        ),
        ("sslmode=verify-full&sslrootcert=system", "", True),
        ("channel_binding=prefer", "", None),
        ("ssl=true", "&sslmode=require", None),
        # Google Cloud SQL, through a socket
        ("host=/cloudsql/a:b:c", "&host=%2Fcloudsql%2Fa%3Ab%3Ac", None),
    ],
)
def test_the_options_of_providers_are_translated(options: str, dsn: str, tls: bool | None) -> None:
    found = told(f"postgres://ann:pw@db/judge?{options}")
    assert (found["dsn"], found.get("ssl")) == (f"postgresql://db/?{dsn}", tls)


@each("url", ["sqlite:///log.db", "sqlite+aiosqlite:///log.db", " sqlite:///log.db\n"])
def test_a_file_is_a_path(url: str) -> None:
    address = to_address(url)
    assert (address.url.database, address.shown) == ("log.db", "sqlite+aiosqlite:///log.db")


def test_what_is_shown_has_no_login_and_no_options() -> None:
    address = to_address(
        f"postgres://ann:{SECRET}@db:5433/judge?sslmode=require&options=-c%20x.y={SECRET}"
    )
    assert address.shown == "postgresql://db:5433/judge"


LOGIN = f"postgres://ann:{SECRET}"


@each(
    ("url", "part"),
    [
        (f"postgresql+psycopg://ann:{SECRET}@db/judge", "no driver for 'postgresql+psycopg'"),
        (f"postgres://ann:a@{SECRET}/@db:port/judge", "the port is a number"),
        (f"{LOGIN}@db:99999/judge", "the port is a number"),
        (f"{LOGIN}@[::1/judge", "an IPv6 address stands in brackets"),
        (LOGIN, "cannot be read"),
        (f"ann:x://{SECRET}", "expected a URL such as"),
        (SECRET, "expected a URL such as"),
        ("sqlite:///file:log.db", "the path of a file"),
        ("sqlite:///log.db?timeout=5", "the path of a file"),
        ("sqlite://", "the path of a file"),
        ("sqlite:///:memory:", "the path of a file"),
    ],
)
def test_what_is_wrong_is_one_sentence_without_a_piece_of_the_password(url: str, part: str) -> None:
    with pytest.raises(StoreError) as error:
        to_address(url)
    said = str(error.value)
    assert part in said
    pieces = [SECRET[at : at + 4] for at in range(len(SECRET) - 3)]
    assert not [piece for piece in pieces if piece in said]
