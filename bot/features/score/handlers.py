"""The shortcut "Score this reply", the window for two texts, and the buttons and windows of a
verdict.
"""

from collections.abc import Awaitable
from functools import partial

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.blocker import NO_QUESTION, RefusedError
from bot.domain.case import LoggedCase, Recipient, requester_of
from bot.features.score import details
from bot.pipeline import text as words
from bot.services import Services
from bot.slack import ids
from bot.slack.blocks import Block
from bot.slack.invocation import (
    Invocation,
    Raw,
    clicked_message,
    on_click,
    to_invocation,
    to_submission,
)


def register(app: AsyncApp, services: Services) -> None:
    details.register(app, services)
    app.shortcut(ids.SHORTCUT_SCORE_REPLY)(partial(score_reply, services))
    app.action(ids.ACTION_AGAIN)(partial(_score_again, services))
    app.view(ids.VIEW_TEXTS)(partial(_score_texts, services))
    app.action(ids.ACTION_WRONG_QUESTION)(partial(_open_question, services))
    app.action(ids.ACTION_ASK)(partial(_open_question, services))
    app.view(ids.VIEW_ANSWER)(partial(_answer_question, services))
    app.view(ids.VIEW_CORRECT)(partial(_correct_question, services))

    @on_click(app, ids.ACTION_OPEN_WINDOW)
    async def open_window(person: Invocation, _: Raw) -> None:
        await open_texts_window(services, person)


async def score_reply(services: Services, ack: AsyncAck, body: Raw) -> None:
    person = to_invocation(body)
    message = clicked_message(body, services.identity.own_ids)
    asked = await services.requests.of_message(person, message)
    taking = services.intake.take(asked, person)
    await _take(services, ack, taking, person, requester_of(asked))


async def _score_again(services: Services, ack: AsyncAck, body: Raw) -> None:
    person = to_invocation(body)
    earlier = await services.case_access.repeatable(person, person.case_id)
    if earlier.message_ts is None and earlier.thread_ts is None:
        # Typed, and the thread is not known yet.
        await ack()
        await services.intake.proceed(earlier, False, person)
        return
    asked = await services.requests.again(person, earlier)
    taking = services.intake.add(asked, person)
    await _take(services, ack, taking, person, person.recipient_at(earlier))


async def _score_texts(services: Services, ack: AsyncAck, body: Raw) -> None:
    submission = to_submission(body)
    person = to_invocation(body)
    errors = words.text_errors(submission.question, submission.response)
    if not errors and await services.case_access.has_left_window(person):
        errors = {ids.BLOCK_RESPONSE: words.NOT_IN_ANY_MORE}
    if errors:
        await ack(response_action="errors", errors=errors)
        return
    taking = services.intake.take(services.requests.of_window(person, submission), person)
    await _take(services, ack, taking, person, ids.BLOCK_RESPONSE)


async def _open_question(services: Services, ack: AsyncAck, body: Raw) -> None:
    person = to_invocation(body)
    case = await services.case_access.repeatable(person, person.case_id)
    await ack()
    view = await _question_window(services, person, case)
    if view is None:
        await services.intake.proceed(case, False, person)
        return
    refusal = await services.messenger.show(person, view)
    await services.messenger.tell(person.recipient_at(case), refusal)


async def _question_window(
    services: Services, person: Invocation, case: LoggedCase
) -> Block | None:
    """The window for another question, or for a lacking one; None if it lacks none by now."""
    state = person.to_state(case.id)
    if person.action == ids.ACTION_WRONG_QUESTION:
        said = (await services.store.cases.with_turns(case)).choosable
        return words.question_modal(case, ids.VIEW_CORRECT, words.WRONG_QUESTION, state, said)
    if case.lacks_question:
        return words.question_modal(case, ids.VIEW_ANSWER, NO_QUESTION, state)
    return None


async def _answer_question(services: Services, ack: AsyncAck, body: Raw) -> None:
    submission = to_submission(body)
    person = to_invocation(body)
    errors = words.question_errors(submission.question)
    if not errors:
        case = await services.case_access.known(person, submission.state.case_id)
        try:
            await services.intake.answer(case, submission.question, person)
        except RefusedError as exc:
            errors = {ids.BLOCK_QUESTION: str(exc)}
    await (ack(response_action="errors", errors=errors) if errors else ack())


async def _correct_question(services: Services, ack: AsyncAck, body: Raw) -> None:
    submission = to_submission(body)
    person = to_invocation(body)
    earlier = await services.case_access.repeatable(person, submission.state.case_id)
    said = (await services.store.cases.with_turns(earlier)).choosable
    chosen = submission.chosen
    errors = words.question_errors(submission.question, earlier, may_choose=bool(said or chosen))
    if errors and (submission.question or chosen not in said):
        await ack(response_action="errors", errors=errors)
        return
    asked = await services.requests.corrected(person, earlier, submission)
    await _take(services, ack, services.intake.add(asked, person), person, ids.BLOCK_QUESTION)


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
    except RefusedError as exc:
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
