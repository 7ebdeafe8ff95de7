"""The Home tab, published when it is opened and after what is pressed in it, and the pages of `/judge recent`."""

import asyncio
from datetime import timedelta
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Visibility
from bot.feature import Services
from bot.features.home.text import AS_THE_WORKSPACE, Own, home_view, no_store_view
from bot.features.score.handlers import open_texts_window_at_home
from bot.pipeline.own_cases import PAGE, recent_page, to_page_end
from bot.pipeline.retries import in_brief
from bot.pipeline.text import BUTTON_TOO_SLOW
from bot.slack import ids
from bot.slack.invocation import (
    HomeVisit,
    Invocation,
    clicked_choice,
    clicked_home,
    clicked_value,
    opened_home,
    to_invocation,
)
from bot.slack.messenger import Post
from bot.store.cases import PageEnd
from bot.store.errors import STORE_ERRORS

_MOST_CASES = 5
# A case waits here for its question. By then its window is long closed, and its person does not come back.
_ASKED_FOR = timedelta(days=1)

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    @app.event("app_home_opened")
    async def open_home(body: dict[str, Any]) -> None:
        if visit := opened_home(body):
            await show_home(services, visit)

    @app.action(ids.ACTION_HOME_REFRESH)
    async def refresh(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await show_home(services, clicked_home(body))

    @app.action(ids.ACTION_HOME_JUDGE)
    async def judge_something(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        visit = clicked_home(body)
        if not await open_texts_window_at_home(services, visit):
            await show_home(services, visit, BUTTON_TOO_SLOW)

    @app.action(ids.ACTION_HOME_VISIBILITY)
    async def choose_visibility(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        visit, value = clicked_home(body), clicked_choice(body)
        chosen = None if value == AS_THE_WORKSPACE else Visibility(value)
        await services.store.people.save_visibility(visit.invocation.team_id, visit.invocation.user_id, chosen)
        await show_home(services, visit)

    @app.action(ids.ACTION_RECENT_NEWEST)
    async def show_newest(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await _turn_page(services, to_invocation(body), None)

    @app.action(ids.ACTION_RECENT_OLDER)
    async def show_older(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await _turn_page(services, to_invocation(body), to_page_end(clicked_value(body)))


async def show_home(services: Services, visit: HomeVisit, note: str = "") -> None:
    """Publishes a person's Home tab as it is now; `note` says what became of their click."""
    try:
        # Side by side, so that all share what Slack says of the person's channels.
        own, buttons, sections = await asyncio.gather(
            _own(services, visit.invocation), services.home_buttons(visit), services.home_sections(visit)
        )
    except STORE_ERRORS as exc:
        logger.error("home_without_log", reason=in_brief(exc))
        view = no_store_view(visit.channel_id)
    else:
        default = services.settings.verdict_visibility
        view = home_view(own, services.identity.url, default, visit.channel_id, note, buttons, sections)
    await services.messenger.publish_home(visit.invocation.user_id, view)


async def _own(services: Services, invocation: Invocation) -> Own:
    now, person = services.clock(), (invocation.team_id, invocation.user_id)
    found = await services.store.cases.recent(*person, _MOST_CASES + 1, asked_since=now - _ASKED_FOR)
    visibility = await services.store.people.visibility(*person)
    cases = await services.own_cases.listed(found[:_MOST_CASES], invocation.user_id)
    return Own(cases, len(found) > _MOST_CASES, visibility, now)


async def show_recent(services: Services, invocation: Invocation, _: str) -> None:
    """Answers `/judge recent`."""
    await services.messenger.tell(invocation.recipient, await _recent(services, invocation, None))


async def _turn_page(services: Services, invocation: Invocation, before: PageEnd | None) -> None:
    page = await _recent(services, invocation, before)
    if not await services.messenger.replace(invocation.response_url, page):
        await services.messenger.tell(invocation.recipient, page)


async def _recent(services: Services, invocation: Invocation, before: PageEnd | None) -> Post:
    """The person's newest cases, or the newest of those before the end of another page."""
    found = await services.store.cases.recent(invocation.team_id, invocation.user_id, PAGE + 1, before)
    listed = await services.own_cases.listed(found[:PAGE], invocation.user_id, invocation.channel_id)
    return recent_page(listed, services.identity.url, before, has_older=len(found) > PAGE)
