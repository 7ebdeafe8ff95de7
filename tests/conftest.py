"""Fixtures that several packages' tests share."""

import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.model_server import ModelServer
from tests.postgres import ABSENT, Cluster, cluster, find_binaries, new_database


def pytest_configure() -> None:
    """What a shell runs in the background ignores SIGINT, and so would the processes that the tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # No property depends on a clock: the machine may be busy with other things.
    settings.register_profile("without a clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("without a clock")


@pytest.fixture
async def model_server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A running PostgreSQL, for as long as the tests run."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(ABSENT)
    with cluster(binaries) as made:
        yield made.server


@pytest.fixture
def mortal_postgres() -> Iterator[Cluster]:
    """A running PostgreSQL of the test's own, which it may kill."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(ABSENT)
    with cluster(binaries) as made:
        yield made


@pytest.fixture(scope="session")
def guarded_postgres() -> Iterator[Cluster]:
    """A running PostgreSQL that asks for passwords and speaks TLS."""
    binaries = find_binaries()
    if binaries is None or shutil.which("openssl") is None:
        pytest.skip(f"{ABSENT}, or openssl is not")
    with cluster(binaries, is_guarded=True) as made:
        yield made


@pytest.fixture
def postgres_url(postgres: str) -> str:
    """A database of the test's own."""
    binaries = find_binaries()
    assert binaries is not None
    return new_database(postgres, binaries)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same test on both databases."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path}/log.db"
    return str(request.getfixturevalue("postgres_url"))
