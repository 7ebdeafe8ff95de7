"""The log: every case and verdict, durable before anybody is told. It is the outbox that the docket works from."""

from bot.log.steps import TakenError
from bot.log.store import Store

__all__ = ["Store", "TakenError"]
