"""The workspaces that one process serves: whose a payload or a job is, and what serves it.

Each has services of its own, and a Bolt app that is made for its first payload and dropped when no more come: it takes
four times the memory of all the rest. What is scarce is shared: the model, the database and the queue.
"""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from cachetools import TTLCache
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.feature import Services
from bot.features.score import handlers
from bot.pipeline.delivery import Delivery
from bot.pipeline.engine import JobHandler, Work
from bot.pipeline.pipeline import CasePipeline, ModelTurns
from bot.slack.incoming import ChannelEvents
from bot.slack.invocation import workspace_of
from bot.slack.messages import odd_part
from bot.store.jobs import JobKind

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Workspace:
    """One installation of the app: what serves its payloads and its jobs."""

    services: Services
    work: Work
    events: ChannelEvents


def open_workspace(services: Services, turns: ModelTurns) -> Workspace:
    features = services.features
    events = ChannelEvents(
        services.identity,
        [each.on_message for each in features if each.on_message],
        [each.on_reaction for each in features if each.on_reaction],
    )
    periodic = [job for each in features for job in each.periodic_jobs]
    return Workspace(services, Work(_job_handlers(services, turns), periodic), events)


def _job_handlers(services: Services, turns: ModelTurns) -> Mapping[str, JobHandler]:
    if not services.judges:
        return {}
    settings, store = services.settings, services.store
    delivery = Delivery(
        services.client,
        services.messenger,
        store,
        services.tell_verdict,
        services.identity.url,
        reposts_unconfirmed=settings.unconfirmed_posts == "repost",
    )
    pipeline = CasePipeline(
        store,
        services.judges,
        services.lookup,
        delivery,
        turns,
        services.limits,
        services.model_pauses,
        tracing=services.tracing,
    )
    found: dict[str, JobHandler] = {JobKind.SETTLE: lambda job: pipeline.settle(job.case_id, job.trigger_id)}
    for each in services.features:
        found |= each.jobs
    return found


class Workspaces:
    """Finds the workspace of a payload or a job; `first` is that of the token in the environment, the only one."""

    def __init__(self, first: Workspace) -> None:
        self.first = first

    @property
    def template(self) -> Work:
        return self.first.work

    async def team_ids(self) -> Collection[str]:
        return [self.first.services.identity.team_id]

    async def work_of(self, team_id: str) -> Work | None:
        found = await self.find(None, team_id)
        return found.work if found else None

    async def find(self, enterprise_id: str | None, team_id: str | None) -> Workspace | None:
        return self.first if team_id == self.first.services.identity.team_id else None


_BOLT_APPS = 200
_BOLT_KEPT_S = 600.0


class Entrance:
    """Where payloads come in. Those of a workspace without the app go to the Bolt app of the first, which refuses."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces
        self._bolts: TTLCache[str, AsyncApp] = TTLCache(_BOLT_APPS, _BOLT_KEPT_S)
        self._first_bolt = _make_bolt(workspaces.first.services)

    async def door(self, body: dict[str, Any]) -> AsyncApp | None:
        """Notes whose a payload is, as `enterprise_id` and `team_id`; it is an event of a channel, or left to Bolt.

        An event without a part that Slack always sends is dropped, because sent again it would be the same.
        """
        event = body.get("event") or {}
        if odd := odd_part(event):
            logger.warning("odd_event_dropped", kind=str(event.get("type")), part=odd)
            return None
        body["enterprise_id"], body["team_id"] = workspace_of(body)
        found = await self._workspaces.find(body["enterprise_id"], body["team_id"])
        if found and await found.events.takes(body):
            return None
        return self._bolt_of(found or self._workspaces.first)

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
