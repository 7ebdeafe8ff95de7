"""The shortcut "Score this reply", the window for two texts, and the buttons and windows of a
verdict.
"""

from collections.abc import Awaitable
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain import blocker
from bot.domain.case import LoggedCase, Recipient, requester_of
from bot.features.score import details
from bot.pipeline import text as words
from bot.services import Services
from bot.slack import ids
from bot.slack import invocation as payloads
from bot.slack.invocation import Invocation

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    details.register(app, services)
    intake = services.intake
    access = services.case_access

    @app.shortcut(ids.SHORTCUT_SCORE_REPLY)
    async def score_reply(ack: AsyncAck, body: dict[str, Any]) -> None:
        person = payloads.to_invocation(body)
        message = payloads.clicked_message(body, services.identity.own_ids)
        asked = await services.requests.of_message(person, message)
        await _take(services, ack, intake.take(asked, person), person, requester_of(asked))

    @app.action(ids.ACTION_AGAIN)
    async def score_again(ack: AsyncAck, body: dict[str, Any]) -> None:
        person = payloads.to_invocation(body)
        earlier = await access.repeatable(person, person.case_id)
        if earlier.message_ts is None and earlier.thread_ts is None:
            # Typed, and the thread is not known yet.
            await ack()
            await intake.proceed(earlier, False, person)
            return
        asked = await services.requests.again(person, earlier)
        taking = intake.add(asked, person)
        await _take(services, ack, taking, person, person.recipient_at(earlier))

    _register_texts(app, services)
    _register_questions(app, services)


def _register_texts(app: AsyncApp, services: Services) -> None:
    @payloads.on_click(app, ids.ACTION_OPEN_WINDOW)
    async def open_window(person: Invocation, _: dict[str, Any]) -> None:
        await open_texts_window(services, person)

    @app.view(ids.VIEW_TEXTS)
    async def score_texts(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = payloads.to_submission(body)
        person = payloads.to_invocation(body)
        errors = words.text_errors(submission.question, submission.response)
        if not errors and await services.case_access.has_left_window(person):
            errors = {ids.BLOCK_RESPONSE: words.NOT_IN_ANY_MORE}
        if errors:
            await ack(response_action="errors", errors=errors)
            return
        asked = services.requests.of_window(person, submission)
        taking = services.intake.take(asked, person)
        await _take(services, ack, taking, person, ids.BLOCK_RESPONSE)


def _register_questions(app: AsyncApp, services: Services) -> None:
    intake = services.intake
    access = services.case_access

    @app.action(ids.ACTION_WRONG_QUESTION)
    @app.action(ids.ACTION_ASK)
    async def open_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        person = payloads.to_invocation(body)
        case = await access.repeatable(person, person.case_id)
        await ack()
        state = person.to_state(case.id)
        if person.action == ids.ACTION_WRONG_QUESTION:
            said = (await services.store.cases.with_turns(case)).choosable
            reason = words.WRONG_QUESTION
            view = words.question_modal(case, ids.VIEW_CORRECT, reason, state, said)
        elif case.lacks_question:
            view = words.question_modal(case, ids.VIEW_ANSWER, blocker.NO_QUESTION, state)
        else:
            await intake.proceed(case, False, person)
            return
        refusal = await services.messenger.show(person, view)
        await services.messenger.tell(person.recipient_at(case), refusal)

    @app.view(ids.VIEW_ANSWER)
    async def answer_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = payloads.to_submission(body)
        person = payloads.to_invocation(body)
        errors = words.question_errors(submission.question)
        if not errors:
            case = await access.known(person, submission.state.case_id)
            try:
                await intake.answer(case, submission.question, person)
            except blocker.RefusedError as exc:
                errors = {ids.BLOCK_QUESTION: str(exc)}
        await (ack(response_action="errors", errors=errors) if errors else ack())

    @app.view(ids.VIEW_CORRECT)
    async def correct_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = payloads.to_submission(body)
        person = payloads.to_invocation(body)
        earlier = await access.repeatable(person, submission.state.case_id)
        said = (await services.store.cases.with_turns(earlier)).choosable
        chosen = submission.chosen
        may_choose = bool(said or chosen)
        errors = words.question_errors(submission.question, earlier, may_choose=may_choose)
        if errors and (submission.question or chosen not in said):
            await ack(response_action="errors", errors=errors)
            return
        asked = await services.requests.corrected(person, earlier, submission)
        await _take(services, ack, intake.add(asked, person), person, ids.BLOCK_QUESTION)


async def _take(
    services: Services,
    ack: AsyncAck,
    taking: Awaitable[tuple[LoggedCase, bool]],
    invocation: Invocation,
    refused_at: Recipient | str,
) -> None:
    """Acknowledges when the case is durable; a refusal is told to a person, or shown at an input of
    a window.
    """
    try:
        case, is_new = await taking
    except blocker.RefusedError as exc:
        if isinstance(refused_at, str):
            await ack(response_action="errors", errors={refused_at: str(exc)})
        else:
            await ack()
            await services.messenger.tell(refused_at, str(exc))
    else:
        await ack()
        await services.intake.proceed(case, is_new, invocation)


async def open_texts_window(services: Services, invocation: Invocation) -> None:
    """Opens the window for two texts where the person is, or tells them that it was too late to
    open it.
    """
    rubric, visibility = await services.requests.chosen(invocation, invocation.channel_id)
    names = await services.rubrics.names(invocation.team_id, invocation.channel_id)
    view = words.texts_modal(
        invocation.to_state(), names, rubric, None if invocation.is_direct else visibility
    )
    await services.messenger.tell(
        invocation.recipient, await services.messenger.show(invocation, view)
    )
