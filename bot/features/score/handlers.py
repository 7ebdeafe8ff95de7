"""The shortcut "Score this reply", the window for two texts, and the buttons and windows of a
verdict.
"""

from collections.abc import Awaitable
from functools import partial
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
from bot.store.turns import read_said

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    intake = services.intake
    access = services.case_access

    @app.shortcut(ids.SHORTCUT_SCORE_REPLY)
    async def score_reply(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        message = payloads.clicked_message(body, services.identity.own_ids)
        asked = await services.requests.of_message(invocation, message)
        await _take(services, ack, intake.take(asked, invocation), invocation, requester_of(asked))

    @app.action(ids.ACTION_AGAIN)
    async def score_again(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        earlier = await access.repeatable(invocation, invocation.case_id)
        if (
            earlier.message_ts is None and earlier.thread_ts is None
        ):  # typed, and the thread is not known yet
            await ack()
            await intake.proceed(earlier, False, invocation)
            return
        asked = await services.requests.again(invocation, earlier)
        await _take(
            services,
            ack,
            intake.add(asked, invocation),
            invocation,
            invocation.recipient_at(earlier),
        )

    details.register(app, services)
    _register_window_buttons(app, services)
    _register_windows(app, services)


def _register_window_buttons(app: AsyncApp, services: Services) -> None:
    intake = services.intake
    access = services.case_access
    messenger = services.messenger

    @payloads.on_click(app, ids.ACTION_OPEN_WINDOW)
    async def open_window(invocation: Invocation, _: dict[str, Any]) -> None:
        await open_texts_window(services, invocation)

    @app.action(ids.ACTION_WRONG_QUESTION)
    @app.action(ids.ACTION_ASK)
    async def open_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        is_first = invocation.action == ids.ACTION_ASK
        case = await access.repeatable(invocation, invocation.case_id)
        await ack()
        if is_first and not case.lacks_question:
            await intake.proceed(case, False, invocation)
        else:
            which = (
                (ids.VIEW_ANSWER, blocker.NO_QUESTION)
                if is_first
                else (ids.VIEW_CORRECT, words.WRONG_QUESTION)
            )
            turns = (
                {}
                if is_first
                else await services.store.database.read(partial(read_said, case=case))
            )
            view = words.question_modal(case, *which, invocation.to_state(case.id), turns)
            await messenger.tell(
                invocation.recipient_at(case), await messenger.show(invocation, view)
            )


def _register_windows(app: AsyncApp, services: Services) -> None:
    intake = services.intake
    access = services.case_access

    @app.view(ids.VIEW_TEXTS)
    async def score_texts(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = payloads.to_submission(body)
        invocation = payloads.to_invocation(body)
        errors = words.text_errors(submission.question, submission.response)
        if not errors and await access.has_left_window(invocation):
            errors = {ids.BLOCK_RESPONSE: words.NOT_IN_ANY_MORE}
        if errors:
            await ack(response_action="errors", errors=errors)
            return
        asked = services.requests.of_window(invocation, submission)
        await _take(services, ack, intake.take(asked, invocation), invocation, ids.BLOCK_RESPONSE)

    @app.view(ids.VIEW_ANSWER)
    async def answer_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = payloads.to_submission(body)
        invocation = payloads.to_invocation(body)
        if errors := words.question_errors(submission.question):
            await ack(response_action="errors", errors=errors)
            return
        case = await access.known(invocation, submission.state.case_id)
        try:
            await intake.answer(case, submission.question, invocation)
        except blocker.RefusedError as exc:
            await ack(response_action="errors", errors={ids.BLOCK_QUESTION: str(exc)})
        else:
            await ack()

    @app.view(ids.VIEW_CORRECT)
    async def correct_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = payloads.to_submission(body)
        invocation = payloads.to_invocation(body)
        earlier = await access.repeatable(invocation, submission.state.case_id)
        said = await services.store.database.read(partial(read_said, case=earlier))
        chosen = submission.chosen
        errors = words.question_errors(
            submission.question, earlier, may_choose=bool(said or chosen)
        )
        if errors and (submission.question or chosen not in said):
            await ack(response_action="errors", errors=errors)
            return
        asked = await services.requests.corrected(invocation, earlier, submission)
        await _take(services, ack, intake.add(asked, invocation), invocation, ids.BLOCK_QUESTION)


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
