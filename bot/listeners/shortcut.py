"""The message shortcut "Score this reply"."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.recipient import requester_of
from bot.extract.payloads import shortcut_case, to_invocation
from bot.listeners.desk import Desk
from bot.slack import ids
from bot.views import messages


def register(app: AsyncApp, desk: Desk) -> None:
    """Connects the shortcut."""

    @app.shortcut(ids.SHORTCUT_SCORE_REPLY)
    async def score_reply(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = to_invocation(body)
        asked = shortcut_case(body, await desk.choice(invocation), desk.own_ids)
        if refusal := await desk.refusal(invocation):
            await ack()
            await desk.teller.tell(requester_of(asked), messages.sentence(refusal))
            return
        case, is_new = await desk.take(asked)
        await ack()
        await desk.proceed(case, is_new, invocation)
