"""Whose payloads are served: those of this workspace, with the person's own workspace beside them.

An app may be installed in several workspaces, and Slack brings the payloads of all of them to whoever runs it; here is
one token, and one budget.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.response import BoltResponse

from bot.feature import Services
from bot.pipeline.intake import NoCaseError
from bot.pipeline.retries import in_brief
from bot.pipeline.text import NO_CASE, NOT_SERVED, WENT_WRONG, sentence, unsure_of_membership
from bot.slack.invocation import installation_of, is_event, kind_of, person_without_home, to_invocation, with_home
from bot.slack.members import MembershipError

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    @app.middleware
    async def look(body: dict[str, Any], ack: AsyncAck, next_: Callable[[], Awaitable[None]]) -> BoltResponse | None:
        if installation_of(body) != services.identity.team_id:
            logger.warning("payload_of_another_workspace", kind=kind_of(body), team=installation_of(body))
            await services.fail(body, NOT_SERVED)
            return await ack(text=NOT_SERVED) if "command" in body else await ack()
        if person := person_without_home(body):
            body.update(with_home(body, await services.homes.of(person)))
        await next_()
        return None

    @app.error
    async def on_error(error: Exception, body: dict[str, Any], response: BoltResponse | None) -> BoltResponse | None:
        kind, said = kind_of(body), WENT_WRONG
        if isinstance(error, NoCaseError):
            said = NO_CASE
        elif isinstance(error, MembershipError):
            said = unsure_of_membership(error)
            logger.warning("membership_unknown", kind=kind, reason=str(error))
        else:
            reason = in_brief(error)
            logger.error("listener_failed", kind=kind, reason=reason, exc_info=None if reason else error)
        if await services.fail(body, WENT_WRONG):
            return BoltResponse(status=200) if response else None  # it has failed, and must not be told of again
        if is_event(body):
            return None  # nobody asked for anything; Slack sends again what was not acknowledged
        await services.messenger.tell(to_invocation(body).recipient, sentence(said))
        # Acknowledged, a modal closes; else Slack offers to submit it again. Bolt has no response to give where the
        # listener has acknowledged already.
        return BoltResponse(status=200) if response and isinstance(error, NoCaseError) else None


def register_rest(app: AsyncApp) -> None:
    """For what is left of these events, such as our own direct messages: without a listener Bolt would warn of each."""

    @app.event("message")
    async def ignore() -> None:
        return
