"""The button "Details" under a verdict."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.extract.clicks import clicked_case_id
from bot.extract.invocation import to_invocation
from bot.listeners.case_access import CaseAccess, NoCaseError
from bot.slack import ids
from bot.slack.teller import Teller
from bot.store.assignments import Assignments as Draws
from bot.store.cases import Cases
from bot.views.details import details_modal
from bot.views.messages import sentence
from bot.views.refusals import BUTTON_TOO_SLOW


def register(app: AsyncApp, cases: Cases, draws: Draws, access: CaseAccess, teller: Teller) -> None:
    """Connects the button."""

    @app.action(ids.ACTION_DETAILS)
    async def show_details(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = to_invocation(body)
        case = await access.readable(invocation, clicked_case_id(body))
        await ack()
        verdict = await cases.verdict(case.id)
        if verdict is None:
            raise NoCaseError(f"case {case.id} has no verdict to show")
        await draws.note_told(case, invocation.user_id)
        if not await teller.open_modal(invocation.trigger_id, details_modal(case, verdict)):
            await teller.tell(invocation.recipient_at(case), sentence(BUTTON_TOO_SLOW))
