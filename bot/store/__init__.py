"""The store: every case and verdict, durable before anyone is told.

It is the outbox that the pipeline works from.
"""

from bot.store.store import KeyTakenError, Store, TakenError

__all__ = ["KeyTakenError", "Store", "TakenError"]
