"""The Home tab: published when it is opened, and again after what is pressed in it."""

from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Visibility
from bot.extract.clicks import HomeVisit, clicked_choice, clicked_home, clicked_value, opened_home
from bot.listeners.blind_window import BlindWindow
from bot.listeners.digest import DigestCommand
from bot.listeners.texts_modal import TextsModal
from bot.slack import ids
from bot.slack.teller import Teller
from bot.store.digests import People
from bot.store.errors import STORE_ERRORS as LOG_ERRORS
from bot.store.errors import in_brief
from bot.views.digest_settings import no_access_text
from bot.views.home import AS_THE_WORKSPACE, MOST_WATCHES, home_view, no_log_view
from bot.views.refusals import BUTTON_TOO_SLOW, FOREIGN
from bot.weeks.home import HomeReader
from bot.weeks.watches import WatchReader

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class HomeTab:
    """Publishes people's Home tabs.

    Attributes:
        reader: What they show.
        watches: What their channels watch.
        blind: What waits for a blind label.
        teller: What shows them.
        workspace_url: Where links to messages begin.
        default: Who sees verdicts where a person has chosen nothing.
    """

    reader: HomeReader
    watches: WatchReader
    blind: BlindWindow
    teller: Teller
    workspace_url: str
    default: Visibility

    async def publish(self, visit: HomeVisit, note: str = "") -> None:
        """Shows a person their tab as it is now; `note` says what became of their click."""
        await self.teller.publish_home(visit.invocation.user_id, await self._view(visit, note))

    async def _view(self, visit: HomeVisit, note: str) -> dict[str, Any]:
        try:
            home = await self.reader.read(visit.invocation.team_id, visit.invocation.user_id)
            waiting = await self.blind.count(visit.invocation)
            watches, more = await self.watches.of_person(
                visit.invocation.team_id, visit.invocation.user_id, MOST_WATCHES
            )
        except LOG_ERRORS as exc:
            logger.error("home_without_log", reason=in_brief(exc))
            return no_log_view(visit.channel_id)
        return home_view(home, self.workspace_url, self.default, visit.channel_id, note, waiting, watches, more)


def register(app: AsyncApp, tab: HomeTab, window: TextsModal, digest: DigestCommand, people: People) -> None:
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
        await people.save_visibility(visit.invocation.team_id, visit.invocation.user_id, chosen)
        await tab.publish(visit)

    @app.action(ids.ACTION_DIGEST_ON)
    async def switch_digest_on(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await _switch_digest(tab, digest, body, is_on=True)

    @app.action(ids.ACTION_DIGEST_OFF)
    async def switch_digest_off(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await _switch_digest(tab, digest, body, is_on=False)


async def _switch_digest(tab: HomeTab, digest: DigestCommand, body: dict[str, Any], *, is_on: bool) -> None:
    """The button's channel is believed no more than a typed one."""
    visit, channel_id = clicked_home(body), clicked_value(body)
    if visit.invocation.is_foreign:
        await tab.publish(visit, FOREIGN)
        return
    refusal = await digest.switch(visit.invocation, channel_id, is_on=is_on)
    await tab.publish(visit, no_access_text(refusal) if refusal else "")
