"""The shortcut "Score this reply", the window for two texts, and the buttons and windows of a
verdict.

Also decides which payloads are served at all, and what people are told if serving one fails.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.response import BoltResponse

from bot.domain import blocker
from bot.domain.case import LoggedCase, Recipient, requester_of
from bot.domain.clock import TooLateError
from bot.feature import Services
from bot.features.score import details
from bot.pipeline import text as messages
from bot.pipeline.case_access import NoCaseError
from bot.pipeline.retries import in_brief
from bot.slack import ids
from bot.slack import invocation as payloads
from bot.slack.blocks import section
from bot.slack.invocation import Invocation
from bot.slack.members import MembershipError
from bot.store.turns import read_said

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    intake = services.intake
    access = services.case_access

    @app.shortcut(ids.SHORTCUT_SCORE_REPLY)
    async def score_reply(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        message = payloads.clicked_message(body, services.identity.own_ids)
        asked = await intake.of_message(invocation, message)
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
        asked = await intake.again(invocation, earlier)
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
                else (ids.VIEW_CORRECT, messages.WRONG_QUESTION)
            )
            turns = (
                {}
                if is_first
                else await services.store.database.read(partial(read_said, case=case))
            )
            view = messages.question_modal(case, *which, invocation.to_state(case.id), turns)
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
        errors = messages.text_errors(submission.question, submission.response)
        if not errors and await access.has_left_window(invocation):
            errors = {ids.BLOCK_RESPONSE: messages.NOT_IN_ANY_MORE}
        if errors:
            await ack(response_action="errors", errors=errors)
            return
        asked = intake.of_window(invocation, submission)
        await _take(services, ack, intake.take(asked, invocation), invocation, ids.BLOCK_RESPONSE)

    @app.view(ids.VIEW_ANSWER)
    async def answer_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = payloads.to_submission(body)
        invocation = payloads.to_invocation(body)
        if errors := messages.question_errors(submission.question):
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
        errors = messages.question_errors(
            submission.question, earlier, may_choose=bool(said or chosen)
        )
        if errors and (submission.question or chosen not in said):
            await ack(response_action="errors", errors=errors)
            return
        asked = await intake.corrected(invocation, earlier, submission)
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
    rubric, visibility = await services.intake.chosen(invocation, invocation.channel_id)
    names = await services.rubrics.names(invocation.team_id, invocation.channel_id)
    view = messages.texts_modal(
        invocation.to_state(), names, rubric, None if invocation.is_direct else visibility
    )
    await services.messenger.tell(
        invocation.recipient, await services.messenger.show(invocation, view)
    )


def register_first(app: AsyncApp, services: Services) -> None:
    """Serves only the payloads of this workspace, and refuses people of other companies unless they
    count as its own.

    An app can be installed in several workspaces, and Slack sends it the payloads of all. This
    process has one token and one budget.
    """

    @app.middleware
    async def look(
        body: dict[str, Any], ack: AsyncAck, next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        if body["team_id"] != services.identity.team_id:
            logger.warning(
                "payload_of_another_workspace", kind=payloads.kind_of(body), team=body["team_id"]
            )
            return await ack(text=messages.NOT_SERVED) if "command" in body else await ack()
        is_stranger = await _is_by_stranger(services, body)
        is_heard = payloads.is_event(body) and not payloads.opens_home(body)
        # Changes of anybody's messages matter; a mention or a reaction that asks for a score is
        # refused by `Intake`.
        if is_stranger and not is_heard:
            return await _refuse(services, ack, body)
        await next_()
        return None

    @app.error
    async def on_error(
        error: Exception, body: dict[str, Any], response: BoltResponse | None
    ) -> BoltResponse | None:
        kind = payloads.kind_of(body)
        said = messages.WENT_WRONG
        if isinstance(error, TooLateError):
            logger.warning("payload_refused", reason=str(error))
            return None  # Slack has already told the person
        if isinstance(error, NoCaseError):
            said = messages.NO_CASE
        elif isinstance(error, blocker.RefusedError):
            said = str(error)
        elif isinstance(error, MembershipError):
            said = messages.unsure_of_membership(error)
            logger.warning("membership_unknown", kind=kind, reason=str(error))
        else:
            reason = in_brief(error)
            logger.error(
                "listener_failed", kind=kind, reason=reason, exc_info=None if reason else error
            )
        if payloads.is_event(body):
            return None  # no person is waiting, and Slack sends unacknowledged events again
        await services.messenger.tell(payloads.to_invocation(body).recipient, said)
        # A modal closes if it is acknowledged; otherwise Slack offers to submit it again. Bolt has
        # no response here if the listener has already acknowledged.
        return (
            BoltResponse(status=200)
            if response and isinstance(error, NoCaseError | blocker.RefusedError)
            else None
        )


async def _is_by_stranger(services: Services, body: dict[str, Any]) -> bool:
    """Whether a payload is of a person whose company is not served here; notes if it is."""
    if person := payloads.person_elsewhere(body):
        body[payloads.IS_OURS] = not await services.members.is_foreign(person)
        return not body[payloads.IS_OURS]
    # This event never says where a person belongs.
    is_unplaced = payloads.opens_home(body)
    return is_unplaced and await services.members.is_known_foreign(body["event"]["user"])


async def _refuse(services: Services, ack: AsyncAck, body: dict[str, Any]) -> BoltResponse:
    """Tells a person of another company, where they act, that they are not served."""
    if body.get("type") == "view_submission":
        return await ack(response_action="update", view=messages.refused_modal())
    answer = await ack()
    person = payloads.to_invocation(body)
    if payloads.is_in_home(body):
        view = {"type": "home", "blocks": [section(blocker.FOREIGN)]}
        await services.client.views_publish(user_id=person.user_id, view=view)
    else:
        await services.messenger.tell(person.recipient, blocker.FOREIGN)
    return answer


def register_last(app: AsyncApp) -> None:
    """Ignores the events that are left, such as the app's own messages; without a listener Bolt
    would warn of each.
    """

    @app.event("message")
    @app.event("member_joined_channel")
    async def ignore() -> None:
        return
