"""The Home tab: published when it is opened, and again after what is pressed in it."""

import asyncio
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Visibility
from bot.feature import Services
from bot.features.home.reader import read_own
from bot.features.home.text import AS_THE_WORKSPACE, home_view, no_log_view
from bot.features.score.handlers import TextsModal
from bot.pipeline.text import BUTTON_TOO_SLOW
from bot.slack import ids
from bot.slack.invocation import HomeVisit, clicked_choice, clicked_home, opened_home
from bot.store.errors import STORE_ERRORS as STORE_ERRORS
from bot.store.errors import in_brief

logger = structlog.get_logger(__name__)


class HomeTab:
    """Publishes people's Home tabs: their own cases, and what the features show there."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def publish(self, visit: HomeVisit, note: str = "") -> None:
        """Shows a person their tab as it is now; `note` says what became of their click."""
        await self._services.messenger.publish_home(visit.invocation.user_id, await self._view(visit, note))

    async def _view(self, visit: HomeVisit, note: str) -> dict[str, Any]:
        services = self._services
        try:
            # Side by side, so that all share what Slack says of the person's channels.
            own, buttons, sections = await asyncio.gather(
                read_own(services, visit.invocation.team_id, visit.invocation.user_id),
                services.home_buttons(visit),
                services.home_sections(visit),
            )
        except STORE_ERRORS as exc:
            logger.error("home_without_log", reason=in_brief(exc))
            return no_log_view(visit.channel_id)
        default = services.settings.verdict_visibility
        return home_view(own, services.identity.url, default, visit.channel_id, note, buttons, sections)


def register(app: AsyncApp, tab: HomeTab, window: TextsModal, services: Services) -> None:
    """Connects the tab and what is in it."""

    @app.event("app_home_opened")
    async def open_home(body: dict[str, Any]) -> None:
        if visit := opened_home(body):
            await tab.publish(visit)

    @app.action(ids.ACTION_HOME_REFRESH)
    async def refresh(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await tab.publish(clicked_home(body))

    @app.action(ids.ACTION_HOME_JUDGE)
    async def judge_something(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        visit = clicked_home(body)
        if not await window.open_at_home(visit):
            await tab.publish(visit, BUTTON_TOO_SLOW)

    @app.action(ids.ACTION_HOME_VISIBILITY)
    async def choose_visibility(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        visit, value = clicked_home(body), clicked_choice(body)
        chosen = None if value == AS_THE_WORKSPACE else Visibility(value)
        await services.store.people.save_visibility(visit.invocation.team_id, visit.invocation.user_id, chosen)
        await tab.publish(visit)
