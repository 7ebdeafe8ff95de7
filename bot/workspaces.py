"""The workspaces that one process serves: whose a payload or a job is, and what serves it.

Each has services of its own. What is scarce is shared: the model, the database and the queue. A
workspace's Bolt app takes more memory than all its services, so it is made for the first payload
and dropped when no more come.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import structlog
from cachetools import TTLCache
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from bot.domain.case import Recipient
from bot.domain.clock import utc_now
from bot.domain.shared import AnswerCache, V
from bot.outages import tell_outage
from bot.pipeline import text as words
from bot.pipeline.engine import PeriodicJob, Work
from bot.slack.client import (
    SLACK_ERRORS,
    Identity,
    SlackClient,
    is_passing,
    slack_word,
    to_identity,
    with_token,
)
from bot.slack.invocation import TEAMS, Raw, workspace_of
from bot.store.outages import read_outages
from bot.workspace import Workspace, make_bolt

if TYPE_CHECKING:
    # Imported only where workspaces install the app: it takes 50 ms.
    from slack_sdk.oauth.installation_store import Installation

    from bot.store.installations import Installations, Installed

_SAME_SECOND = timedelta(seconds=1)

logger = structlog.get_logger(__name__)


class Workspaces:
    """Finds the workspace of a payload or a job; `first` is that of the token in the environment,
    the only one.

    If workspaces install the app, `first` stands for those that have not, `installations` knows the
    others, and `make` makes their services. Each process learns within a minute what another one
    has installed or ended.
    """

    def __init__(
        self,
        first: Workspace,
        installations: "Installations | None" = None,
        make: Callable[[SlackClient, Identity], Workspace] | None = None,
    ) -> None:
        self.first = first
        self.installations = installations
        self._make = make
        self._current = AnswerCache(self._read, kept_s=60.0, most=1)
        self._opened = AnswerCache(self._open, kept_s=3600.0, most=10_000)
        self._bolts: TTLCache[str, AsyncApp] = TTLCache(maxsize=200, ttl=600.0)

    @property
    def template(self) -> Work:
        periodic_jobs = [
            *self.first.work.periodic_jobs,
            PeriodicJob("forget_workspaces", self._forget, is_for_all=True),
            PeriodicJob("gather_workspaces", self._gather, is_for_all=True),
            PeriodicJob("tell_outages", self._tell_outages, is_for_all=True),
        ]
        return replace(self.first.work, periodic_jobs=periodic_jobs)

    async def team_ids(self) -> Collection[str]:
        if self.installations is None:
            return [self.first.services.identity.team_id]
        return list(await self._current.get(None))

    async def work_of(self, team_id: str) -> Work | None:
        found = await self.find(None, team_id)
        return found.work if found else None

    async def find(self, enterprise_id: str | None, team_id: str | None) -> Workspace | None:
        """A workspace's own installation comes before that of its organisation, with which it may
        have come later.
        """
        if self.installations is None:
            return self.first if team_id == self.first.services.identity.team_id else None
        for _ in range(2):
            current = await self._current.get(None)
            if found := current.get(team_id or "") or current.get(enterprise_id or ""):
                return await self._opened.get(found)
            self._current.forget(None)  # it may have been installed a moment ago
        return None

    async def door(self, body: Raw) -> AsyncApp | None:
        """Notes whose a payload is, as `enterprise_id` and `team_id`; returns its Bolt app, or None
        if it is done.

        Payloads of a workspace without the app go to the Bolt app of the first, which refuses them.
        """
        body["enterprise_id"], body["team_id"] = workspace_of(body)
        if self.installations and _ends_installation(body):
            await self._end(self.installations, body)
            return None
        found = await self.find(body["enterprise_id"], body["team_id"])
        if found is None:
            return self.first_bolt
        identity = found.services.identity
        key = identity.team_id
        if body["team_id"] != key:  # an organisation's enterprise id
            body[TEAMS] = await found.services.client.teams()
            body["team_id"] = key
        # In a shared channel it may be the other's.
        body["enterprise_id"] = identity.enterprise_id
        if await found.services.takes(body):
            return None
        if found is self.first:
            return self.first_bolt
        bolt = self._bolts.get(key) or make_bolt(found.services)
        # Put back, which renews its time to be kept.
        self._bolts[key] = bolt
        return bolt

    @cached_property
    def first_bolt(self) -> AsyncApp:
        return make_bolt(self.first.services)

    async def announce(self, new: "Installation") -> None:
        """Tells who installed the app first that one more workspace has it, if Slack takes that."""
        self._current.forget(None)
        current = await self._current.get(None)
        first = min(current.values(), key=lambda each: each.installed_at, default=None)
        team_id = (new.enterprise_id if new.is_enterprise_install else new.team_id) or ""
        added = current.get(team_id)
        if first is None or added is None or first.installed_by is None:
            return
        said = words.installed_in(added.name, team_id, is_first=added == first)
        try:
            workspace = await self._opened.get(first)
            if workspace:
                await workspace.services.messenger.direct(Recipient(first.installed_by, ""), said)
        except SLACK_ERRORS as exc:
            # The installation is stored, and its page says so all the same.
            logger.warning("installation_not_told", team=team_id, error=slack_word(exc))

    async def _end(self, installations: "Installations", body: Raw) -> None:
        """Ends the installation that Slack says is gone, unless it was made again since."""
        await self._gather()
        granted = (body.get("authorizations") or [body])[0]
        is_organisation = granted.get("is_enterprise_install") or not body["team_id"]
        before = None
        if said_at := body.get("event_time"):
            before = datetime.fromtimestamp(said_at, UTC) + _SAME_SECOND
        await installations.end(body["enterprise_id" if is_organisation else "team_id"], before)
        self._current.forget(None)

    async def _forget(self) -> None:
        for team_id in await self.installations.left() if self.installations else ():
            await self.first.services.store.forgetting.forget_team(team_id, "app removed")

    async def _gather(self) -> None:
        """Gives to organisations that have the app what their workspaces have stored, which may
        have had it alone.
        """
        forgetting = self.first.services.store.forgetting
        self._current.forget(None)  # another process may have installed it
        for each in (await self._current.get(None)).values():
            found = await self._opened.get(each) if each.is_organisation else None
            if found is None:
                continue
            teams = await _unless_refused(found.services.client.teams(), each.team_id)
            for team_id in await forgetting.stored(filter(None, teams or ())):
                await forgetting.move_team(team_id, each.team_id)
                self._current.forget(None)

    async def _tell_outages(self) -> None:
        for outage in await read_outages(self.first.services.store.database, utc_now()):
            workspace = await self.find(None, outage.team_id)
            if workspace:
                installed = (await self._current.get(None)).get(outage.team_id)
                by = installed.installed_by if installed else None
                await tell_outage(outage, workspace.services, by)

    async def _read(self, _: None) -> Mapping[str, "Installed"]:
        return await self.installations.current() if self.installations else {}

    async def _open(self, installed: "Installed") -> Workspace | None:
        """None if the installation is of no use; raises one of `SLACK_ERRORS` if that may pass by
        itself.
        """
        token = self.installations.token_of(installed) if self.installations else None
        if not (token and self._make):
            return None
        client = with_token(self.first.services.client, token, installed.team_id)
        answer = await _unless_refused(client.auth_test(), installed.team_id)
        if answer is None:
            return None
        return self._make(client, replace(to_identity(answer), team_id=installed.team_id))


def _ends_installation(body: Raw) -> bool:
    """Whether a payload says that the app was removed, or has lost its token."""
    event = body.get("event") or {}
    if event.get("type") == "tokens_revoked":
        return bool((event.get("tokens") or {}).get("bot"))
    return event.get("type") == "app_uninstalled"


async def _unless_refused(call: Awaitable[V], team_id: str) -> V | None:
    """None if an installation is of no use; raises one of `SLACK_ERRORS` if that may pass by
    itself.
    """
    try:
        return await call
    except SlackApiError as exc:
        if is_passing(exc):
            raise
        logger.warning("workspace_not_served", team=team_id, error=slack_word(exc))
        return None
