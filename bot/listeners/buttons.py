"""The buttons under a verdict, and the one that asks for a question."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import LoggedCase
from bot.extract.payloads import Invocation, again_case, clicked_case_id, to_invocation
from bot.listeners.desk import Desk
from bot.slack import ids
from bot.views import messages
from bot.views.modals import NO_QUESTION, question_modal
from bot.views.refusals import BUTTON_TOO_SLOW, FOREIGN

_WHICH = "The question that you type here replaces the one that was scored."


def register(app: AsyncApp, desk: Desk) -> None:
    """Connects the buttons."""

    @app.action(ids.ACTION_AGAIN)
    async def score_again(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = to_invocation(body)
        earlier = await desk.readable(invocation, clicked_case_id(body))
        if refusal := await desk.refusal(invocation):
            await ack()
            await desk.teller.tell(invocation.recipient_at(earlier), messages.sentence(refusal))
            return
        case, is_new = await desk.add(again_case(invocation, earlier, await desk.choice_again(invocation, earlier)))
        await ack()
        await desk.proceed(case, is_new, invocation)

    @app.action(ids.ACTION_WRONG_QUESTION)
    async def wrong_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        await _open(desk, ack, body, ids.VIEW_CORRECT, _WHICH)

    @app.action(ids.ACTION_ASK)
    async def type_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        await _open(desk, ack, body, ids.VIEW_ANSWER, NO_QUESTION)


async def _open(desk: Desk, ack: AsyncAck, body: dict[str, Any], callback_id: str, reason: str) -> None:
    invocation = to_invocation(body)
    case = await desk.readable(invocation, clicked_case_id(body))
    if await _refused(desk, ack, invocation, case):
        return
    await ack()
    if callback_id == ids.VIEW_ANSWER and not case.lacks_question:
        await desk.proceed(case, False, invocation)
        return
    view = question_modal(case, callback_id, reason, invocation.to_state(case.id))
    if not await desk.teller.open_modal(invocation.trigger_id, view):
        await desk.teller.tell(invocation.recipient_at(case), messages.sentence(BUTTON_TOO_SLOW))


async def _refused(desk: Desk, ack: AsyncAck, invocation: Invocation, case: LoggedCase) -> bool:
    if invocation.is_foreign:
        await ack()
        await desk.teller.tell(invocation.recipient_at(case), messages.sentence(FOREIGN))
    return invocation.is_foreign
