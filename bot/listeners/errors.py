"""What a person is told where a listener failed: one plain sentence, and never nothing."""

from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse

from bot.docket.completion import Completion
from bot.extract.invocation import is_event, kind_of, to_invocation
from bot.extract.steps import execution_of
from bot.listeners.case_access import NoCaseError
from bot.slack.memberships import MembershipError
from bot.slack.teller import Teller
from bot.store.errors import in_brief
from bot.views.messages import sentence
from bot.views.refusals import NO_CASE, WENT_WRONG, unsure_of_membership

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, teller: Teller, completion: Completion) -> None:
    """Connects Bolt's error handler."""

    @app.error
    async def on_error(error: Exception, body: dict[str, Any], response: BoltResponse | None) -> BoltResponse | None:
        _note(error, kind_of(body))
        if execution_id := execution_of(body):
            await completion.fail(execution_id, WENT_WRONG)
            return BoltResponse(status=200) if response else None  # it has failed, and must not be told of again
        if is_event(body):
            return None  # nobody asked for anything; Slack sends again what was not acknowledged
        await teller.tell(to_invocation(body).recipient, sentence(_words(error)))
        # Acknowledged, a modal closes; else Slack offers to submit it again. Bolt has no response to give where the
        # listener has acknowledged already.
        return BoltResponse(status=200) if response and isinstance(error, NoCaseError) else None


def _note(error: Exception, kind: str | None) -> None:
    if isinstance(error, NoCaseError):
        return
    if isinstance(error, MembershipError):
        logger.warning("membership_unknown", kind=kind, reason=str(error))
        return
    reason = in_brief(error)
    logger.error("listener_failed", kind=kind, reason=reason, exc_info=None if reason else error)


def _words(error: Exception) -> str:
    if isinstance(error, NoCaseError):
        return NO_CASE
    return unsure_of_membership(error) if isinstance(error, MembershipError) else WENT_WRONG
