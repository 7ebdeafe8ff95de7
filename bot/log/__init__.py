"""The log: every case and verdict, durable before anybody is told. It is the outbox that the docket works from."""

from bot.log.presence import LapsedError
from bot.log.store import Log, TakenError

__all__ = ["LapsedError", "Log", "TakenError"]
