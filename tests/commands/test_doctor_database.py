"""What `judge-bot doctor` says of a database that it cannot write or migrate, and what it leaves
behind: nothing.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from bot.store import Store
from tests.cases import a_case, url
from tests.model_server import ModelServer
from tests.postgres import Cluster
from tests.programs import environment, pocket_slack, run
from tests.stage import GOOD, PASSWORD

EVERYTHING = (
    "GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}",
    "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}",
)


async def database_line(model: ModelServer, folder: Path, database_url: str) -> str:
    """The doctor's line on the database."""
    model.script(GOOD)
    async with pocket_slack() as slack:
        env = environment(slack, model, folder) | {"DATABASE_URL": database_url}
        _, out, err = await run("doctor", env, folder)
    assert err == ""
    (line,) = [line for line in out.splitlines() if "DATABASE_URL" in line]
    return line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rights", "part"),
    [
        (
            ("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}",),
            "cannot be written: permission denied for table",
        ),
        (
            (*EVERYTHING, "ALTER ROLE {role} SET default_transaction_read_only = on"),
            "in a read-only transaction",
        ),
    ],
)
async def test_a_role_that_may_not_do_all_is_told_what(
    model_server: ModelServer,
    database_server: Cluster,
    database_name: str,
    tmp_path: Path,
    rights: Sequence[str],
    part: str,
) -> None:
    place = f"127.0.0.1:{database_server.port}/{database_name}"
    await (await Store.open(f"postgres://ann:{PASSWORD}@{place}")).close()
    role = f"role_{database_name}"
    database_server.sql(
        f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'",
        *(each.format(role=role) for each in rights),
        database=database_name,
    )
    line = await database_line(model_server, tmp_path, f"postgres://{role}:{PASSWORD}@{place}")
    assert line.startswith(f"wrong  DATABASE_URL postgresql://{place}: ")
    assert part in line


@pytest.mark.slow
async def test_a_try_leaves_nothing_behind_in_postgresql(
    model_server: ModelServer, database_server: Cluster, database_name: str, tmp_path: Path
) -> None:
    database_url = f"postgres://ann:{PASSWORD}@127.0.0.1:{database_server.port}/{database_name}"
    log = await Store.open(database_url)
    await log.add(a_case())
    await log.close()
    database_server.sql("COMMENT ON TABLE cases IS 'a remark'", database=database_name)
    before = database_server.dump(database_name)
    line = await database_line(model_server, tmp_path, database_url)
    assert line == "ok     DATABASE_URL: can be written, 1 case"
    assert database_server.dump(database_name) == before


async def test_a_file_that_cannot_be_written_is_named(
    model_server: ModelServer, tmp_path: Path
) -> None:
    log = await Store.open(url(tmp_path))
    await log.close()
    with closing(sqlite3.connect(tmp_path / "log.db")) as file:
        file.execute("ALTER TABLE processes RENAME TO others")
        file.execute("CREATE VIEW processes AS SELECT * FROM others")
    line = await database_line(model_server, tmp_path, url(tmp_path))
    why = "cannot modify processes because it is a view"
    assert line == f"wrong  DATABASE_URL {url(tmp_path)}: cannot be written: {why}"
