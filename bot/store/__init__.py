"""The store: every case and verdict, durable before anyone is told.

It is the outbox that the pipeline works from.
"""

from bot.store.steps import KeyTakenError, TakenError
from bot.store.store import Store

__all__ = ["KeyTakenError", "Store", "TakenError"]
