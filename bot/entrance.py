"""Where payloads come in: whose each is, and the Bolt app that serves it.

A workspace's Bolt app takes more memory than all its services, so it is made for the first payload and dropped when no
more come.
"""

import logging
from typing import Any

from cachetools import TTLCache
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.feature import Services
from bot.features.score import handlers
from bot.slack.client import teams_of
from bot.slack.invocation import TEAMS, workspace_of
from bot.workspaces import Workspace, Workspaces

_BOLT_APPS = 200
_BOLT_KEPT_S = 600.0


class Entrance:
    """Where payloads come in. Those of a workspace without the app go to the Bolt app of the first, which refuses."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces
        self._bolts: TTLCache[str, AsyncApp] = TTLCache(_BOLT_APPS, _BOLT_KEPT_S)
        self._first_bolt = _make_bolt(workspaces.first.services)

    async def door(self, body: dict[str, Any]) -> AsyncApp | None:
        """Notes whose a payload is, as `enterprise_id` and `team_id`; it is an event of a channel, or left to Bolt."""
        body["enterprise_id"], body["team_id"] = workspace_of(body)
        event = body.get("event") or {}
        has_lost_token = event.get("type") == "tokens_revoked" and (event.get("tokens") or {}).get("bot")
        if self._workspaces.installations and (has_lost_token or event.get("type") == "app_uninstalled"):
            await self._workspaces.end(body)
            return None
        found = await self._workspaces.find(body["enterprise_id"], body["team_id"])
        if found is None:
            return self._bolt_of(self._workspaces.first)
        if body["team_id"] != (key := found.services.identity.team_id):  # an organisation's enterprise id
            body[TEAMS], body["team_id"] = await teams_of(found.services.client), key
        return None if await found.services.takes(body) else self._bolt_of(found)

    def _bolt_of(self, workspace: Workspace) -> AsyncApp:
        if workspace is self._workspaces.first:
            return self._first_bolt
        team_id = workspace.services.identity.team_id
        self._bolts[team_id] = bolt = self._bolts.get(team_id) or _make_bolt(workspace.services)
        return bolt


def _make_bolt(services: Services) -> AsyncApp:
    """The Bolt app of a workspace, with all listeners. It verifies no signatures, because `HttpFront` does."""
    client, identity = services.client, services.identity

    async def authorize() -> AuthorizeResult:
        # Replaces Bolt's default, which silently switches OAuth on if SLACK_CLIENT_ID is in the environment.
        return AuthorizeResult(
            enterprise_id=None,
            team_id=identity.team_id,
            bot_id=identity.bot_id,
            bot_user_id=identity.user_id,
            bot_token=client.token,
        )

    bolt = AsyncApp(
        name="slack-judge",  # without a name, Bolt searches the call stack for one, which takes 0.1 s
        client=client,
        authorize=authorize,
        request_verification_enabled=False,
        logger=logging.getLogger("slack_bolt"),
    )
    handlers.register_first(bolt, services)  # sees each payload before any feature does
    for each in services.features:
        if each.register:
            each.register(bolt)
    handlers.register_last(bolt)
    return bolt
