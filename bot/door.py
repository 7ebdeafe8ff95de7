"""The door of all payloads: which are served at all, and what people are told if serving one
fails.
"""

from collections.abc import Awaitable, Callable

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.response import BoltResponse

from bot.domain import blocker
from bot.domain.clock import TooLateError
from bot.pipeline import text as words
from bot.pipeline.case_access import NoCaseError
from bot.pipeline.retries import in_log
from bot.services import Services
from bot.slack import invocation as payloads
from bot.slack.blocks import section
from bot.slack.invocation import Raw
from bot.slack.members import MembershipError
from bot.slack.messenger import Messenger

_REFUSALS = (NoCaseError, blocker.RefusedError)

logger = structlog.get_logger(__name__)


def register_first(app: AsyncApp, services: Services) -> None:
    """Serves only the payloads of this workspace, and refuses people of other companies unless they
    count as its own.

    An app can be installed in several workspaces, and Slack sends it the payloads of all. This
    process has one token and one budget.
    """

    @app.middleware
    async def look(
        body: Raw, ack: AsyncAck, next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        if body["team_id"] != services.identity.team_id:
            logger.warning(
                "payload_of_another_workspace", kind=payloads.kind_of(body), team=body["team_id"]
            )
            said = words.NOT_INSTALLED if services.settings.is_for_many else words.NOT_SERVED
            return await ack(text=said) if "command" in body else await ack()
        is_stranger = await _is_by_stranger(services, body)
        is_heard = payloads.is_event(body) and not payloads.opens_home(body)
        # Changes of anybody's messages matter; a mention or a reaction that asks for a score is
        # refused by `Intake`.
        if is_stranger and not is_heard:
            return await _refuse(services, ack, body)
        await next_()
        return None


def register_errors(app: AsyncApp, messenger: Messenger) -> None:
    """Tells who acted that serving them failed, and why."""

    @app.error
    async def on_error(
        error: Exception, body: Raw, response: BoltResponse | None
    ) -> BoltResponse | None:
        if isinstance(error, TooLateError):
            logger.warning("payload_refused", reason=str(error))
            return None  # Slack has already told the person
        said = _explain(error, payloads.kind_of(body))
        if payloads.is_event(body):
            return None  # no person is waiting, and Slack sends unacknowledged events again
        await messenger.tell(payloads.to_invocation(body).recipient, said)
        # A modal closes if it is acknowledged; otherwise Slack offers to submit it again. Bolt has
        # no response here if the listener has already acknowledged.
        if response and isinstance(error, _REFUSALS):
            return BoltResponse(status=200)
        return None


def _explain(error: Exception, kind: str | None) -> str:
    """The sentence for who acted; what is no refusal is logged."""
    if isinstance(error, NoCaseError):
        return words.NO_CASE
    if isinstance(error, blocker.RefusedError):
        return str(error)
    if isinstance(error, MembershipError):
        logger.warning("membership_unknown", kind=kind, reason=str(error))
        return words.unsure_of_membership(error)
    logger.error("listener_failed", kind=kind, **in_log(error))
    return words.WENT_WRONG


async def _is_by_stranger(services: Services, body: Raw) -> bool:
    """Whether a payload is of a person whose company is not served here; notes if it is."""
    if person := payloads.person_elsewhere(body):
        body[payloads.IS_OURS] = not await services.members.is_foreign(person)
        return not body[payloads.IS_OURS]
    # This event never says where a person belongs.
    is_unplaced = payloads.opens_home(body)
    return is_unplaced and await services.members.is_known_foreign(body["event"]["user"])


async def _refuse(services: Services, ack: AsyncAck, body: Raw) -> BoltResponse:
    """Tells a person of another company, where they act, that they are not served."""
    if body.get("type") == "view_submission":
        return await ack(response_action="update", view=words.refused_modal())
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
