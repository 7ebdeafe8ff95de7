"""What happens when a window with a question is submitted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.refusal import RefusedError
from bot.extract.cases import corrected_case, modal_case
from bot.extract.invocation import to_invocation
from bot.extract.submissions import to_submission
from bot.listeners.case_access import CaseAccess
from bot.listeners.choices import Choices
from bot.listeners.intake import Intake
from bot.slack import ids
from bot.views.modals import NOT_IN_ANY_MORE, question_errors, text_errors
from bot.views.refusals import refusal_text


def register(app: AsyncApp, intake: Intake, choices: Choices, access: CaseAccess) -> None:
    """Connects the submissions."""

    @app.view(ids.VIEW_TEXTS)
    async def score_texts(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission, invocation = to_submission(body), to_invocation(body)
        if errors := text_errors(submission.question, submission.response):
            await ack(response_action="errors", errors=errors)
            return
        if await access.has_left_window(invocation):
            await ack(response_action="errors", errors={ids.BLOCK_RESPONSE: NOT_IN_ANY_MORE})
            return
        async with _refusals_at(ids.BLOCK_RESPONSE, ack):
            case, is_new = await intake.take(modal_case(invocation, submission, choices.rubrics.default), invocation)
            await ack()
            await intake.proceed(case, is_new, invocation)

    @app.view(ids.VIEW_ANSWER)
    async def answer_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission, invocation = to_submission(body), to_invocation(body)
        if errors := question_errors(submission.question):
            await ack(response_action="errors", errors=errors)
            return
        case = await access.known(invocation, submission.state.case_id)
        async with _refusals_at(ids.BLOCK_QUESTION, ack):
            await intake.answer(case, submission.question, invocation)
            await ack()

    @app.view(ids.VIEW_CORRECT)
    async def correct_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission, invocation = to_submission(body), to_invocation(body)
        earlier = await access.readable(invocation, submission.state.case_id)
        if errors := question_errors(submission.question, earlier):
            await ack(response_action="errors", errors=errors)
            return
        choice, aside = (
            await choices.again(invocation, earlier),
            await intake.aside(invocation, earlier, has_typed=True),
        )
        asked = corrected_case(invocation, earlier, submission, choice, aside)
        async with _refusals_at(ids.BLOCK_QUESTION, ack):
            case, is_new = await intake.add(asked, invocation)
            await ack()
            await intake.proceed(case, is_new, invocation)


@asynccontextmanager
async def _refusals_at(block_id: str, ack: AsyncAck) -> AsyncIterator[None]:
    """Says in the window, at this input, why something was refused; the window stays open."""
    try:
        yield
    except RefusedError as exc:
        await ack(response_action="errors", errors={block_id: refusal_text(exc.refusal)})
