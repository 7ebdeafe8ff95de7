"""Tables of cases: one test for all rows of a table, which reports each row that fails."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any

import pytest

_MOST_SHOWN = 300


def each(
    names: str | tuple[str, ...], rows: Iterable[Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Like `pytest.mark.parametrize`, but one test for all rows: a test for each takes longer to
    set up than to run.

    For tests, plain or async, whose rows can share their fixtures.
    """
    parts = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
    table = [row if len(parts) > 1 else (row,) for row in rows]
    assert table, "a table without rows tests nothing"

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(test)
        calls = [dict(zip(parts, row, strict=True)) for row in table]

        @wraps(test)
        def test_all(**others: Any) -> None:
            with _all_of(table) as noting:
                for row, call in zip(table, calls, strict=True):
                    with noting(row):
                        test(**call, **others)

        @wraps(test)
        async def async_test_all(**others: Any) -> None:
            with _all_of(table) as noting:
                for row, call in zip(table, calls, strict=True):
                    with noting(row):
                        await test(**call, **others)

        tests = async_test_all if inspect.iscoroutinefunction(test) else test_all
        left = [value for name, value in signature.parameters.items() if name not in parts]
        tests.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        del tests.__wrapped__  # type: ignore[attr-defined] # pytest would look for the table's names as fixtures
        return tests

    return decorate


@contextmanager
def _all_of(table: Sequence[Any]) -> Iterator[Callable[[Any], AbstractContextManager[None]]]:
    """Fails at the end for all rows that failed."""
    failed: list[str] = []

    @contextmanager
    def noting(row: Any) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as exc:  # noqa: BLE001 - the other rows run too
            failed.append(f"{repr(row)[:_MOST_SHOWN]}:\n    {type(exc).__name__}: {exc}")

    yield noting
    if failed:
        said = f"{len(failed)} of {len(table)} rows:\n" + "\n".join(failed)
        pytest.fail(said, pytrace=False)
