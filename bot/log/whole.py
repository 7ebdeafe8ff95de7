"""Database work that is done as a whole, whatever happens to the task that asked for it."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def whole(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Lets a cancelled caller go only once the transaction is through.

    aiosqlite works in a thread: cancelled within `BEGIN IMMEDIATE` or before `COMMIT`, it would leave the file locked
    (https://github.com/omnilib/aiosqlite/issues/259, https://github.com/sqlalchemy/sqlalchemy/issues/11760).
    """

    @wraps(method)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        task = asyncio.ensure_future(method(*args, **kwargs))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            task.cancelled() or task.exception()  # looked at, so that asyncio does not complain of it
            raise

    return run
