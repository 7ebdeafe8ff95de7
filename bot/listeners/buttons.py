"""The buttons under a verdict, and the one that asks for a question."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.refusal import RefusedError
from bot.extract.cases import again_case
from bot.extract.clicks import clicked_case_id
from bot.extract.invocation import to_invocation
from bot.listeners.case_access import CaseAccess
from bot.listeners.choices import Choices
from bot.listeners.intake import Intake
from bot.slack import ids
from bot.slack.teller import Teller
from bot.views.messages import sentence
from bot.views.modals import NO_QUESTION, WRONG_QUESTION, question_modal
from bot.views.refusals import BUTTON_TOO_SLOW, FOREIGN, refusal_text


def register(app: AsyncApp, intake: Intake, choices: Choices, access: CaseAccess, teller: Teller) -> None:
    """Connects the buttons."""

    @app.action(ids.ACTION_AGAIN)
    async def score_again(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = to_invocation(body)
        earlier = await access.readable(invocation, clicked_case_id(body))
        choice, aside = (
            await choices.again(invocation, earlier),
            await intake.aside(invocation, earlier, has_typed=False),
        )
        asked = again_case(invocation, earlier, choice, aside)
        try:
            case, is_new = await intake.add(asked, invocation)
        except RefusedError as exc:
            await ack()
            await teller.tell(invocation.recipient_at(earlier), sentence(refusal_text(exc.refusal)))
            return
        await ack()
        await intake.proceed(case, is_new, invocation)

    @app.action(ids.ACTION_WRONG_QUESTION)
    async def wrong_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        await open_window(ack, body, ids.VIEW_CORRECT, WRONG_QUESTION)

    @app.action(ids.ACTION_ASK)
    async def type_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        await open_window(ack, body, ids.VIEW_ANSWER, NO_QUESTION)

    async def open_window(ack: AsyncAck, body: dict[str, Any], callback_id: str, reason: str) -> None:
        invocation = to_invocation(body)
        case = await access.readable(invocation, clicked_case_id(body))
        await ack()
        if invocation.is_foreign:
            await teller.tell(invocation.recipient_at(case), sentence(FOREIGN))
            return
        if callback_id == ids.VIEW_ANSWER and not case.lacks_question:
            await intake.proceed(case, False, invocation)
            return
        view = question_modal(case, callback_id, reason, invocation.to_state(case.id))
        if not await teller.open_modal(invocation.trigger_id, view):
            await teller.tell(invocation.recipient_at(case), sentence(BUTTON_TOO_SLOW))
