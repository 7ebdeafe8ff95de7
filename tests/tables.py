"""Tables of cases: one test for all rows of a table, which reports each row that fails."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Self

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

        @wraps(test)
        def test_all(**others: Any) -> None:
            with _Rows(len(table)) as rows:
                for row in table:
                    with rows.noting(row):
                        test(**dict(zip(parts, row, strict=True)), **others)

        @wraps(test)
        async def async_test_all(**others: Any) -> None:
            with _Rows(len(table)) as rows:
                for row in table:
                    with rows.noting(row):
                        await test(**dict(zip(parts, row, strict=True)), **others)

        tests = async_test_all if inspect.iscoroutinefunction(test) else test_all
        left = [value for name, value in signature.parameters.items() if name not in parts]
        tests.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        del tests.__wrapped__  # type: ignore[attr-defined] # pytest would look for the table's names as fixtures
        return tests

    return decorate


class _Rows:
    """Fails at the end for all rows that failed."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._failed: list[str] = []

    @contextmanager
    def noting(self, row: Any) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as exc:  # noqa: BLE001 - the other rows run too
            shown = repr(row)[:_MOST_SHOWN]
            self._failed.append(f"{shown}:\n    {type(exc).__name__}: {exc}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._failed and kind is None:
            said = f"{len(self._failed)} of {self._number} rows:\n" + "\n".join(self._failed)
            pytest.fail(said, pytrace=False)
