"""The message shortcut "Score this reply"."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.recipient import requester_of
from bot.domain.refusal import RefusedError
from bot.extract.cases import message_case
from bot.extract.clicks import clicked_message
from bot.extract.invocation import to_invocation
from bot.listeners.choices import Choices
from bot.listeners.intake import Intake
from bot.slack import ids
from bot.slack.teller import Teller
from bot.views.messages import sentence
from bot.views.obstacles import obstacle_text
from bot.views.refusals import refusal_text


def register(app: AsyncApp, intake: Intake, choices: Choices, teller: Teller, own_ids: frozenset[str]) -> None:
    """Connects the shortcut; messages of `own_ids` are our own, and not scored."""

    @app.shortcut(ids.SHORTCUT_SCORE_REPLY)
    async def score_reply(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation, message = to_invocation(body), clicked_message(body, own_ids)
        obstacle = obstacle_text(message.obstacle) if message.obstacle else None
        asked = message_case(invocation, message, await choices.of(invocation), obstacle)
        try:
            case, is_new = await intake.take(asked, invocation)
        except RefusedError as exc:
            await ack()
            await teller.tell(requester_of(asked), sentence(refusal_text(exc.refusal)))
            return
        await ack()
        await intake.proceed(case, is_new, invocation)
