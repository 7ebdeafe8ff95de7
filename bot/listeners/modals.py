"""What happens when a modal is submitted."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.extract.payloads import Submission, corrected_case, modal_case, to_invocation, to_submission
from bot.listeners.desk import Desk
from bot.slack import ids

_MISSING = "Please type something here; blanks alone cannot be scored."
_NOT_IN = "This window belongs to a channel that you are no longer in; type `/judge` where the verdict is to stand."
_SAME = "This is the question again. What was the answer?"


def register(app: AsyncApp, desk: Desk) -> None:
    """Connects the submissions."""

    @app.view(ids.VIEW_TEXTS)
    async def score_texts(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission, invocation = to_submission(body), to_invocation(body)
        if errors := _errors(submission):
            await ack(response_action="errors", errors=errors)
            return
        if refusal := await desk.refusal(invocation):
            await ack(response_action="errors", errors={ids.BLOCK_RESPONSE: refusal})
            return
        channel_id = invocation.window_channel_id
        if channel_id is None or await desk.memberships.keeps_out(invocation.user_id, channel_id):
            await ack(response_action="errors", errors={ids.BLOCK_RESPONSE: _NOT_IN})
            return
        case, is_new = await desk.take(modal_case(invocation, submission, desk.default), invocation.trigger_id)
        await ack()
        await desk.proceed(case, is_new, invocation)

    @app.view(ids.VIEW_ANSWER)
    async def answer_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission, invocation = to_submission(body), to_invocation(body)
        if not submission.question:
            await ack(response_action="errors", errors={ids.BLOCK_QUESTION: _MISSING})
            return
        case = await desk.known(invocation, submission.state.case_id)
        await desk.log.answer(case, submission.question)
        await ack()

    @app.view(ids.VIEW_CORRECT)
    async def correct_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission, invocation = to_submission(body), to_invocation(body)
        if not submission.question:
            await ack(response_action="errors", errors={ids.BLOCK_QUESTION: _MISSING})
            return
        if refusal := await desk.refusal(invocation):
            await ack(response_action="errors", errors={ids.BLOCK_QUESTION: refusal})
            return
        earlier = await desk.readable(invocation, submission.state.case_id)
        choice = await desk.choice_again(invocation, earlier)
        asked = corrected_case(invocation, earlier, submission, choice)
        case, is_new = await desk.log.add(asked, invocation.trigger_id)
        await ack()
        await desk.proceed(case, is_new, invocation)


def _errors(submission: Submission) -> dict[str, str]:
    texts = {ids.BLOCK_QUESTION: submission.question, ids.BLOCK_RESPONSE: submission.response}
    errors = {block_id: _MISSING for block_id, text in texts.items() if not text}
    if not errors and submission.question == submission.response:
        errors[ids.BLOCK_RESPONSE] = _SAME
    return errors
