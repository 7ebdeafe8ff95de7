"""The store: every case and verdict, durable before anyone is told. It is the outbox that the pipeline works from."""

from bot.store.store import Store, TakenError

__all__ = ["Store", "TakenError"]
