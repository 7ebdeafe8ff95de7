"""Messages that were edited or deleted after they were scored, for apps that subscribe to message events."""

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.extract.events import to_change
from bot.upkeep.edits import EditsUpkeep


def register(app: AsyncApp, edits: EditsUpkeep, own_ids: frozenset[str]) -> None:
    """Connects the event, which never comes without a subscription; messages of `own_ids` are our own."""

    # As middleware, because Bolt acknowledges an event before its listener runs: what is not in the log by then would
    # be lost with the process, while Slack sends an event again that was not acknowledged.
    async def note_change(body: dict[str, Any], next: Callable[[], Awaitable[None]]) -> None:  # noqa: A002 - Bolt's name
        change = to_change(body, own_ids)
        if change:
            await edits.note(change)
        await next()

    @app.event("message", middleware=[note_change])
    async def message_is_noted() -> None:
        """New messages are nothing to us; without a listener Bolt would warn of each."""
