"""The queue's own connection to PostgreSQL."""

from collections.abc import Callable

from asyncpg import Connection, InterfaceError, PostgresError  # type: ignore[import-untyped]
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver

_LOST = (PostgresError, InterfaceError, OSError)


class QueueConnection(AsyncpgDriver):
    """A connection that reports its loss: a queue that cannot read jobs ends, but would wait for
    running ones.
    """

    def __init__(self, connection: Connection, on_loss: Callable[[], None]) -> None:
        super().__init__(connection)
        self._on_loss = on_loss

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        """The rows; raises ConnectionError if the server is gone or does not answer, and the queue
        then ends.
        """
        try:
            return await super().fetch(query, *args)
        except _LOST as exc:
            self._on_loss()
            raise ConnectionError(str(exc) or "no answer in time") from exc
