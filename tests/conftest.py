"""Fixtures that several packages' tests share."""

import asyncio
import gc
import inspect
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from croniter import croniter
from hypothesis import HealthCheck, settings
from pgqueuer.core.executors import AbstractScheduleExecutor
from slack_bolt.listener.async_listener import AsyncCustomListener
from slack_bolt.util import utils as bolt_utils
from sqlalchemy.engine import Engine as DatabaseEngine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache
from structlog.dev import ConsoleRenderer, plain_traceback

from bot.pipeline.pipeline import CasePipeline
from bot.slack.incoming import Traffic
from bot.store import Store
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.postgres import ABSENT, Cluster, cluster, find_binaries, new_database

pytest_plugins = ["pytester", "tests.stage"]
FEATURES = Path(__file__).parents[1] / "bot" / "features"


def pytest_configure() -> None:
    """Prepares the process for slow machines, and for processes that the tests interrupt.

    A shell's background process ignores SIGINT, and the processes that it starts would ignore it
    too.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Bolt drops an answer that takes the app more than 3 s, but the tests' pocket Slack waits
    # longer.
    AsyncCustomListener.ack_timeout = property(lambda _: ONLY_A_HANG_S, lambda *_: None)  # type: ignore[assignment]
    Traffic.longest_wait_s = Traffic.accept_within_s = ONLY_A_HANG_S
    # Tests run periodic jobs themselves; the app of the stage must not run them in between.
    a_year_on = datetime.now(UTC) + timedelta(days=365)
    AbstractScheduleExecutor.get_next = lambda _: a_year_on  # type: ignore[method-assign]
    # Engines of one kind of database share what SQLAlchemy has compiled; each compiling anew took a
    # fifth of the time.
    compiled: LRUCache[Any, Any] = LRUCache(2000)
    DatabaseEngine._compiled_cache = property(lambda _: compiled, lambda *_: None)  # type: ignore[assignment]
    DefaultDialect.__eq__ = lambda self, other: type(self) is type(other)  # type: ignore[method-assign]
    DefaultDialect.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]
    # Each app registers the same hundred listeners and periodic jobs, of which the libraries
    # studied each one's signature and cron expression anew; both took 7% of the time.
    bolt_utils.inspect = SimpleNamespace(**vars(inspect) | {"getfullargspec": _arguments_of})  # type: ignore[attr-defined]
    croniter._expand = staticmethod(cache(croniter._expand))
    # Hypothesis tests have no deadline, because the machine may be busy.
    settings.register_profile(
        "without a clock", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("without a clock")
    # By default structlog draws the values of all variables in a traceback, which takes a second
    # for each.
    renderer = ConsoleRenderer(exception_formatter=plain_traceback)
    structlog.configure([*structlog.get_config()["processors"][:-1], renderer])


def _arguments_of(function: Any) -> Any:
    """What Bolt asks of `inspect.getfullargspec`, read from the function's code."""
    code = getattr(function, "__code__", None)
    if code is None:
        return inspect.getfullargspec(function)
    return SimpleNamespace(args=list(code.co_varnames[: code.co_argcount]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, Any]:
    """Reports a failed test even if Python 3.11 cannot parse its source, which would end the whole
    run.

    Source: https://github.com/python/cpython/issues/106905
    """
    try:
        return (yield)
    except SystemError as exc:
        lines: list[str] = []
        if (
            call.excinfo
        ):  # without the module traceback, which parses the source as well since Python 3.13
            lines = [
                *(f"{each.path}:{each.lineno + 1}" for each in call.excinfo.traceback),
                call.excinfo.exconly(),
            ]
        where = item.location
        keywords = dict.fromkeys(item.keywords, 1)
        report = pytest.TestReport(
            item.nodeid, where, keywords, "failed", "\n".join([*lines, str(exc)]), call.when
        )
        return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out tests that need a deleted feature (see `tools/without`), or are not for their
    database.
    """
    without = {
        item
        for item in items
        for mark in item.iter_markers("needs")
        if not all(map(_is_there, mark.args))
    }
    without |= {item for item in items if not _is_for_its_database(item)}
    config.hook.pytest_deselected(items=[*without])
    items[:] = [item for item in items if item not in without]
    # The simulations take longest, so they start first; otherwise one process runs them alone at
    # the end.
    items.sort(key=lambda item: not item.nodeid.startswith("tests/slow/judge/"))


def pytest_collection_finish() -> None:
    """Freezes all objects so far, which stay to the end: searching them for garbage took a sixth of
    the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def _is_there(feature: str) -> bool:
    return (FEATURES / feature).is_dir()


def _is_for_its_database(item: pytest.Item) -> bool:
    """Without a mark a test is for both; the mark of a test goes before its module's."""
    mark = item.get_closest_marker("on")
    call = getattr(item, "callspec", None)
    database = (
        call.params.get("database_url", call.params.get("new_database_url")) if call else None
    )
    return not mark or database in mark.args or database not in {"sqlite", "postgres"}


@pytest.fixture
async def model_server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
def no_placeholder(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is: no verdict takes so long that it is announced."""
    monkeypatch.setattr(CasePipeline, "quick_s", ONLY_A_HANG_S)


@pytest.fixture
def let_pass(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Has so many seconds gone by at once; asyncio, too, reads `time.monotonic`."""
    clock = time.monotonic
    gone_s = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock() + sum(gone_s))
    return gone_s.append


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A running PostgreSQL, for as long as the tests run."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(ABSENT)
    with cluster(binaries) as made:
        yield made


@pytest.fixture
def mortal_postgres() -> Iterator[Cluster]:
    """A running PostgreSQL for one test, which may kill it."""
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
def new_postgres_url(postgres: Cluster) -> str:
    """A new database for one test, without a log in it."""
    return new_database(postgres.server)


@pytest.fixture(scope="session")
def log_on_postgres(postgres: Cluster) -> str:
    """A migrated database for one test after the other: to make one for each took a tenth of the
    time.
    """
    url = new_database(postgres.server)
    _migrate(url)
    return url


@pytest.fixture
def postgres_url(postgres: Cluster, log_on_postgres: str) -> Iterator[str]:
    """An empty log in PostgreSQL. A test that changes its tables takes `new_postgres_url`."""
    yield log_on_postgres
    postgres.empty(log_on_postgres.rpartition("/")[2])


@pytest.fixture(scope="session")
def empty_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated log in SQLite to copy, because the migrations take longer than most tests of a
    log.
    """
    file = tmp_path_factory.mktemp("empty") / "log.db"
    _migrate(f"sqlite+aiosqlite:///{file}")
    return file


@pytest.fixture
def log_file(empty_log: Path, tmp_path: Path) -> None:
    """An empty log in the test's folder, migrated already."""
    shutil.copy(empty_log, tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def new_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Runs the test on both databases, without a log in them."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path}/log.db"
    return str(request.getfixturevalue("new_postgres_url"))


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Runs the test on both databases, with an empty log in them."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("empty_log"), tmp_path)
        return f"sqlite+aiosqlite:///{tmp_path}/log.db"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def log(database_url: str) -> AsyncIterator[Store]:
    """The same test on both databases, with their log opened."""
    async with await Store.open(database_url) as opened:
        yield opened


def _migrate(url: str) -> None:
    async def open_and_close() -> None:
        await (await Store.open(url)).close()

    asyncio.run(open_and_close())
