"""DATABASE_URL as people have it, tried on a PostgreSQL that asks for passwords and speaks TLS."""

import os
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from bot.errors import StoreError
from bot.store import Store
from bot.store.opening import connect, open_engine
from tests.postgres import Cluster, free_port
from tests.programs import run
from tests.stage import PASSWORD

pytestmark = pytest.mark.slow

PIECES = [PASSWORD[at : at + 4] for at in range(len(PASSWORD) - 3)]
ROOT = Path(__file__).parents[2]


async def is_encrypted(database_url: str) -> bool:
    """Whether TLS is spoken over a connection; it has to come about first."""
    engine = connect(database_url)
    try:
        async with engine.connect() as connection:
            found = await connection.exec_driver_sql(
                "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            )
            return bool(found.scalar_one())
    finally:
        await engine.dispose()


async def refusal(database_url: str) -> str:
    with pytest.raises(StoreError) as error:
        await open_engine(database_url)
    return str(error.value)


@pytest.mark.parametrize(
    ("user", "options", "encrypted"),
    [
        ("ann", "sslmode=disable", False),
        (
            "tls_only",
            "sslmode=require&connect_timeout=5&application_name=judge&options=-c%20work_mem%3D5MB",
            True,
        ),
        ("tls_only", "sslmode=require&channel_binding=require&sslrootcert={certificate}", True),
    ],
)
async def test_tls_is_spoken_as_sslmode_says(
    database_server: Cluster, user: str, options: str, encrypted: bool
) -> None:
    options = options.format(certificate=database_server.certificate)
    url = f"postgres://{user}:{PASSWORD}@127.0.0.1:{database_server.port}/postgres?{options}"
    assert await is_encrypted(url) is encrypted


@pytest.mark.parametrize(
    ("host", "options", "part"),
    [
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=system", "with sslrootcert=FILE"),
        ("127.0.0.2", "sslmode=verify-full&sslrootcert={certificate}", "IP address mismatch"),
        ("127.0.0.1", "sslmode=sometimes", "must be one of: disable, allow, prefer, require, "),
    ],
)
async def test_a_connection_that_is_less_than_asked_for_is_refused(
    database_server: Cluster, host: str, options: str, part: str
) -> None:
    options = options.format(certificate=database_server.certificate)
    said = await refusal(
        f"postgres://tls_only:{PASSWORD}@{host}:{database_server.port}/postgres?{options}"
    )
    assert said.startswith(
        f"DATABASE_URL postgresql://{host}:{database_server.port}/postgres: cannot be "
        "opened and migrated: "
    )
    assert part in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("url", "part"),
    [
        (
            "postgres://{quoted}:ann@127.0.0.1:{port}/postgres",
            "password authentication failed for user …",
        ),
        ("postgres://ann:{password}@127.0.0.1:{port}/no_such", 'database "no_such" does not exist'),
        ("postgres://ann:{password}@127.0.0.1:{closed}/judge", "[Errno 111]"),
    ],
)
async def test_what_does_not_work_is_one_sentence_without_a_piece_of_the_password(
    database_server: Cluster, tmp_path: Path, url: str, part: str
) -> None:
    port = database_server.port
    closed = free_port()
    env = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": url.format(
            password=PASSWORD, quoted=quote(PASSWORD, safe=""), port=port, closed=closed
        ),
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_APP_TOKEN": "xapp-1",
        "JUDGE_MODEL": "offline",
    }
    code, out, err = await run("serve", env, tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert part in err
    assert not [piece for piece in PIECES if piece in err]


async def test_the_composed_app_reaches_a_database_with_such_a_password(
    database_server: Cluster, database_name: str, tmp_path: Path
) -> None:
    """As `docker compose` starts it, but for the place of the database, which only it knows."""
    place = f"127.0.0.1:{database_server.port}/{database_name}"
    composed = yaml.safe_load((ROOT / "compose.yml").read_text(encoding="utf-8"))
    given = {
        key: value.replace("${POSTGRES_PASSWORD}", PASSWORD)
        for key, value in composed["services"]["bot"]["environment"].items()
    }
    given["DATABASE_URL"] = given["DATABASE_URL"].replace("judge@postgres/judge", f"ann@{place}")
    await (await Store.open(f"postgres://ann:{PASSWORD}@{place}")).close()
    code, out, err = await run("export", {"PATH": os.environ["PATH"], **given}, tmp_path)
    assert (code, out, err.splitlines()[0]) == (0, "", "0 labels written")
