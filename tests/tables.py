"""Tables of cases: one test for all rows of a table, which reports each row that fails."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

_MOST_SHOWN = 300


def each(
    names: str | tuple[str, ...], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize`, but one test for all rows: a test for each takes longer to
    set up than to run.

    For tests whose rows can share their fixtures.
    """
    parts = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
    table = [row if len(parts) > 1 else (row,) for row in rows]
    assert table, "a table without rows tests nothing"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @wraps(test)
        def test_all(**others: Any) -> None:
            failed = []
            for row in table:
                try:
                    test(**dict(zip(parts, row, strict=True)), **others)
                except (Exception, pytest.fail.Exception) as exc:  # noqa: BLE001 - the other rows run too
                    failed.append(f"{repr(row)[:_MOST_SHOWN]}:\n    {type(exc).__name__}: {exc}")
            if failed:
                pytest.fail(
                    f"{len(failed)} of {len(table)} rows:\n" + "\n".join(failed), pytrace=False
                )

        left = [value for name, value in signature.parameters.items() if name not in parts]
        test_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        del test_all.__wrapped__  # pytest would look for the table's names as fixtures
        return test_all

    return decorate
