"""Whose payloads are served: those of this workspace, with the person's own workspace beside them.

An app may be installed in several workspaces, and Slack brings the payloads of all of them to whoever runs it; here is
one token, and one budget.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.response import BoltResponse

from bot.docket.completion import Completion
from bot.extract.invocation import installation_of, kind_of, person_without_home, with_home
from bot.extract.steps import execution_of
from bot.slack.homes import Homes
from bot.views.refusals import NOT_SERVED

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, team_id: str, homes: Homes, completion: Completion) -> None:
    """Connects the look at each payload, before any listener's."""

    @app.middleware
    async def look(body: dict[str, Any], ack: AsyncAck, next_: Callable[[], Awaitable[None]]) -> BoltResponse | None:
        if installation_of(body) != team_id:
            logger.warning("payload_of_another_workspace", kind=kind_of(body), team=installation_of(body))
            if execution_id := execution_of(body):  # of a workspace that our own token is not for
                await completion.fail(execution_id, NOT_SERVED, body["event"]["bot_access_token"])
            return await ack(text=NOT_SERVED) if "command" in body else await ack()
        if person := person_without_home(body):
            body.update(with_home(body, await homes.of(person)))
        await next_()
        return None
