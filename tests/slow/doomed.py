"""`judge-bot serve` that kills itself at one point. SIGUSR1 arms it, or ARMED in its environment.

The function of the step is wrapped, so the instant is exact. The process and the kill are real.
"""

import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from bot.store import Store
from judge import Judge
from tests import forked
from tests.slow.points import Point

PLACES: dict[str, tuple[object, str]] = {
    "Store.add": (Store, "add"),
    "Store.claim": (Store, "claim"),
    "Store.record": (Store, "record"),
    "Store.note_delivered": (Store, "note_delivered"),
    "Judge.score": (Judge, "score"),
    "ack": (AsyncAck, "__call__"),
    "chat_postMessage": (AsyncWebClient, "chat_postMessage"),
    "chat_update": (AsyncWebClient, "chat_update"),
    "files_completeUploadExternal": (AsyncWebClient, "files_completeUploadExternal"),
    "conversations_replies": (AsyncWebClient, "conversations_replies"),
}


def doom(point: Point) -> None:
    """Wraps the point's step.

    Once armed, the process kills itself before or after the given call of the step.
    """
    armed: list[int] = [0] if "ARMED" in os.environ else []
    owner, name = PLACES[point.step]
    original: Callable[..., Awaitable[Any]] = getattr(owner, name)
    signal.signal(signal.SIGUSR1, lambda *_: armed.append(0))

    async def last(*args: Any, **kwargs: Any) -> Any:
        if armed:
            armed[0] += 1
        is_last = bool(armed) and armed[0] == point.occurrence
        if is_last and point.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = await original(*args, **kwargs)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, last)


def serve(point: str) -> None:
    """Runs the bot, which kills itself at this point."""
    doom(Point.parse(point))
    forked.serve("serve")
