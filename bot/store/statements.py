"""Statements that are made once: making one takes longer than what a small channel's figures cost
the database.
"""

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import is_dataclass, replace
from enum import Enum
from functools import wraps
from typing import Any, Concatenate, cast

import sqlalchemy as sa

from bot.store.database import P, Queries, T

Make = Callable[Concatenate[Queries, P], sa.Executable]
Read = Callable[Concatenate[Queries, P], Awaitable[list[T]]]


def made_once(row: Callable[..., T]) -> Callable[[Make[Queries, P]], Read[Queries, P, T]]:
    """Makes a method that returns a statement return its rows, each as a `row` of its columns in
    their order.

    In the method, each argument, each field of a dataclass and each part of a sequence is a
    parameter of the statement, and so is a frozenset as a whole, for `in_`. Only None, booleans and
    enum members are themselves: each combination of them has a statement of its own.
    """

    def to_read(make: Make[Queries, P]) -> Read[Queries, P, T]:
        statements: dict[Hashable, sa.Executable] = {}

        @wraps(make)
        async def read(queries: Queries, *args: Any) -> list[T]:
            values: dict[str, Any] = {}
            _for_each("", args, values.__setitem__)
            key = tuple(
                name if _is_value(value) else (name, value) for name, value in values.items()
            )
            if key not in statements:
                statements[key] = cast("Any", make)(queries, *_for_each("", args, _to_parameter))
            its = (statements[key], values)
            over = queries._connection
            rows = (await over.execute(*its)).all() if over else await queries._database.all(*its)
            return [row(*each) for each in rows]

        return cast("Read[Queries, P, T]", read)

    return to_read


def _for_each(name: str, value: Any, do: Callable[[str, Any], Any]) -> Any:
    """The value, with what `do` makes of each of its parts; parts that are not there have no name."""
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{part: _for_each(f"{name}_{part}", each, do) for part, each in vars(value).items()},
        )
    if isinstance(value, (list, tuple)):
        return [_for_each(f"{name}_{number}", each, do) for number, each in enumerate(value)]
    return do(name, value)


def _is_value(value: object) -> bool:
    return value is not None and not isinstance(value, (bool, Enum))


def _to_parameter(name: str, value: object) -> Any:
    return sa.bindparam(name, expanding=isinstance(value, frozenset)) if _is_value(value) else value
