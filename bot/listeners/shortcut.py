"""The message shortcut "Score this reply"."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.recipient import requester_of
from bot.extract.payloads import clicked_message, message_case, to_invocation
from bot.listeners.desk import Desk
from bot.slack import ids
from bot.views import messages
from bot.views.obstacles import obstacle_text


def register(app: AsyncApp, desk: Desk) -> None:
    """Connects the shortcut."""

    @app.shortcut(ids.SHORTCUT_SCORE_REPLY)
    async def score_reply(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = to_invocation(body)
        message = clicked_message(body, desk.own_ids)
        obstacle = obstacle_text(message.obstacle) if message.obstacle else None
        asked = message_case(invocation, message, await desk.choice(invocation), obstacle)
        if refusal := await desk.refusal(invocation):
            await ack()
            await desk.teller.tell(requester_of(asked), messages.sentence(refusal))
            return
        case, is_new = await desk.take(asked)
        await ack()
        await desk.proceed(case, is_new, invocation)
