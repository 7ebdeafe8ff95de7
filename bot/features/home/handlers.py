"""The Home tab, published when it is opened and after each click in it, and the pages of `/judge recent`.

Source: https://docs.slack.dev/surfaces/app-home
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp

from bot.domain.case import Visibility
from bot.feature import Services
from bot.features.home import ids
from bot.features.score.handlers import open_texts_window_at_home
from bot.pipeline.own_cases import PAGE, recent_blocks, recent_page, to_page_end
from bot.pipeline.retries import in_brief
from bot.pipeline.text import BUTTON_TOO_SLOW
from bot.slack import ids as slack_ids
from bot.slack.blocks import Block, actions, button, context, header, menu, option, section, short_date
from bot.slack.invocation import (
    HomeVisit,
    Invocation,
    clicked_choice,
    clicked_home,
    clicked_value,
    on_click,
    opened_home,
    to_invocation,
)
from bot.slack.messenger import Post
from bot.store.cases import PageEnd
from bot.store.errors import STORE_ERRORS

_MOST_CASES = 5
# A case that waits for its question is listed this long. By then its window is long closed, and the person will hardly
# come back to it.
_ASKED_FOR = timedelta(days=1)

_AS_THE_WORKSPACE = "workspace"

_WELCOME = "To score a reply, open the menu of the message (⋮ *More actions*) and choose *Score this reply*."
_NO_CASES = "You have not asked for a score yet. Your cases from all channels appear here."
_NO_STORE = "I cannot read the database right now. Press *Refresh* in a minute."
_AUDIENCE = {Visibility.THREAD: "Everybody in the thread", Visibility.ME: "Only me"}

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    @app.event("app_home_opened")
    async def open_home(body: dict[str, Any]) -> None:
        if visit := opened_home(body):
            await show_home(services, visit)

    @on_click(app, ids.ACTION_HOME_REFRESH)
    async def refresh(body: dict[str, Any]) -> None:
        await show_home(services, clicked_home(body))

    @on_click(app, ids.ACTION_HOME_JUDGE)
    async def judge_something(body: dict[str, Any]) -> None:
        visit = clicked_home(body)
        if not await open_texts_window_at_home(services, visit):
            await show_home(services, visit, BUTTON_TOO_SLOW)

    @on_click(app, ids.ACTION_HOME_VISIBILITY)
    async def choose_visibility(body: dict[str, Any]) -> None:
        visit, value = clicked_home(body), clicked_choice(body)
        chosen = None if value == _AS_THE_WORKSPACE else Visibility(value)
        await services.store.people.save_visibility(visit.invocation.team_id, visit.invocation.user_id, chosen)
        await show_home(services, visit)

    @on_click(app, slack_ids.ACTION_RECENT_NEWEST, slack_ids.ACTION_RECENT_OLDER)
    async def turn_page(body: dict[str, Any]) -> None:
        invocation = to_invocation(body)
        page = await recent(services, invocation, to_page_end(clicked_value(body)))
        if not await services.messenger.replace(invocation.response_url, page):
            await services.messenger.tell(invocation.recipient, page)


async def show_home(services: Services, visit: HomeVisit, note: str = "") -> None:
    """Publishes a person's Home tab as it is now; `note` tells them the outcome of their click."""
    person, now = visit.invocation, services.clock()
    chosen = services.store.people.visibility(person.team_id, person.user_id)
    try:
        # Run at the same time, so that all share one call to Slack for the person's channels.
        cases, visibility, buttons, sections = await asyncio.gather(
            _newest(services, person, now), chosen, services.home_buttons(visit), services.home_sections(visit)
        )
    except STORE_ERRORS as exc:
        logger.error("home_without_log", reason=in_brief(exc))
        blocks = [*_top(""), section(_NO_STORE)]
    else:
        blocks = [*_top(note, buttons), context(f"As of {short_date(now)}"), header("Your cases"), *cases, *sections]
        as_set = option(_AS_THE_WORKSPACE, "Workspace default")
        options = {None: as_set} | {each: option(each, label) for each, label in _AUDIENCE.items()}
        select = menu(ids.ACTION_HOME_VISIBILITY, options.values(), options[visibility])
        default = _AUDIENCE[services.settings.verdict_visibility].lower()
        words = f"The workspace default: {default}. You can also choose in the window of `/judge`."
        blocks += [header("Who sees your verdicts"), section(words) | {"accessory": select}]
    # A click in the tab does not name the channel of the person's direct messages, so the tab stores it.
    view = {"type": "home", "callback_id": ids.VIEW_HOME, "private_metadata": visit.channel_id, "blocks": blocks}
    await services.messenger.publish_home(person.user_id, view)


async def _newest(services: Services, person: Invocation, now: datetime) -> list[Block]:
    """The blocks of a person's newest cases in the Home tab."""
    since = now - _ASKED_FOR
    found = await services.store.cases.recent(person.team_id, person.user_id, _MOST_CASES + 1, asked_since=since)
    cases = await services.own_cases.listed(found[:_MOST_CASES], person.user_id)
    blocks = recent_blocks(cases, services.identity.url) if cases else [section(_NO_CASES)]
    return [*blocks, context("`/judge recent` lists older cases.")] if len(found) > _MOST_CASES else blocks


async def recent(services: Services, invocation: Invocation, before: PageEnd | None = None) -> Post:
    """A page with the person's newest cases, or with the next older ones after the end of another page."""
    found = await services.store.cases.recent(invocation.team_id, invocation.user_id, PAGE + 1, before)
    listed = await services.own_cases.listed(found[:PAGE], invocation.user_id, invocation.channel_id)
    return recent_page(listed, services.identity.url, before, has_older=len(found) > PAGE)


def _top(note: str, buttons: Sequence[Block] = ()) -> list[dict[str, Any]]:
    judge = button("Score two texts", ids.ACTION_HOME_JUDGE) | {"style": "primary"}
    row = actions(judge, *buttons, button("Refresh", ids.ACTION_HOME_REFRESH))
    said = [section(f":warning: {note}")] if note else []
    return [section(_WELCOME), row, *said]
