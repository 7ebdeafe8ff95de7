"""The Home tab, published when it is opened and after each click in it, the window of a person's
settings, and the pages of `/judge recent`.

Source: https://docs.slack.dev/surfaces/app-home
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime

import structlog
from slack_bolt.async_app import AsyncApp

from bot.domain.case import LoggedCase, Visibility, to_case_id
from bot.domain.clock import utc_now
from bot.pipeline.case_access import recent_blocks
from bot.pipeline.fairness import with_choices
from bot.pipeline.retries import in_brief
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack import ids as slack_ids
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.invocation import Invocation, Raw, on_click, to_invocation
from bot.slack.messenger import Post
from bot.store.cases import PageEnd
from bot.store.database import Database, upsert
from bot.store.errors import STORE_ERRORS
from bot.store.schema import people

ACTION_HOME_SETTINGS = "open_settings"
ACTION_HOME_VISIBILITY = "choose_visibility"

ACTION_RECENT_OLDER = "show_older_cases"

_MOST_CASES = 5
_PAGE = 10

_AS_THE_WORKSPACE = "workspace"

_NONE = (
    "You have not asked for a score yet. To score a reply, open the menu of the message (⋮ *More "
    "actions*) and choose *Score this reply*, or type `/judge`."
)
_NO_STORE = "I cannot read the database right now. Open this tab again in a minute."
_AUDIENCE = {Visibility.THREAD: "Everybody in the thread", Visibility.ME: "Only me"}

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    @app.event("app_home_opened")
    async def open_home(body: Raw) -> None:
        if body["event"].get("tab") == "home":
            await show_home(services, to_invocation(body))

    @on_click(app, ACTION_HOME_SETTINGS)
    async def open_settings(person: Invocation, _: Raw) -> None:
        if said := await services.messenger.show(person, await _settings(services, person)):
            await show_home(services, person, said)

    @on_click(app, ACTION_HOME_VISIBILITY)
    async def choose_visibility(person: Invocation, body: Raw) -> None:
        value = str(body["actions"][0]["selected_option"]["value"])
        await _save_visibility(services.store.database, person, value)
        window = await _settings(services, person)
        await services.messenger.update_modal(body["view"]["id"], window)

    @on_click(app, slack_ids.ACTION_RECENT_NEWEST, ACTION_RECENT_OLDER)
    async def turn_page(invocation: Invocation, _: Raw) -> None:
        page = await services.answer(invocation, f"recent {invocation.value}")
        messenger = services.messenger
        # The page quotes, and another message would keep it.
        show = messenger.replace if invocation.is_ephemeral else messenger.answer
        await show(invocation.recipient, page)


async def _save_visibility(database: Database, person: Invocation, value: str) -> None:
    values = {
        "team_id": person.team_id,
        "user_id": person.user_id,
        "visibility": None if value == _AS_THE_WORKSPACE else Visibility(value),
        "updated_at": utc_now(),
    }
    await database.execute(upsert(database, people, values))


async def show_home(services: Services, person: Invocation, note: str = "") -> None:
    """Publishes a person's Home tab as it is now; `note` tells them the outcome of their click."""
    try:
        blocks = await _tab(services, person)
    except STORE_ERRORS as exc:
        logger.error("home_without_log", reason=in_brief(exc))
        blocks = [ui.section(_NO_STORE)]
    blocks = await with_choices(services.store, person.team_id, blocks, person.user_id)
    if note:
        blocks.insert(0, ui.section(f":warning: {note}"))
    # A click in the tab does not name the channel of the person's direct messages, so the tab
    # stores it.
    view = {
        "type": "home",
        "callback_id": "home",
        "private_metadata": person.window_channel_id,
        "blocks": blocks,
    }
    try:
        await services.client.views_publish(user_id=person.user_id, view=view)
    except SLACK_ERRORS as exc:  # the previous one stays
        logger.warning("home_not_published", error=slack_word(exc))


async def _tab(services: Services, person: Invocation) -> list[ui.Block]:
    now = services.clock()
    # Run at the same time, so that all share one call to Slack for the person's channels.
    cases, sections, waits = await asyncio.gather(
        _cases(services, person),
        _blocks((each.home_section for each in services.features), person),
        _blocks((each.home_waiting for each in services.features), person),
    )
    blocks = [*sections]
    if waits:
        blocks += [ui.header("Waiting for you"), *waits]
    blocks += [ui.header("Your cases"), *cases]
    blocks.append(ui.actions(ui.button("Settings", ACTION_HOME_SETTINGS)))
    blocks.append(ui.context(f"As of {ui.short_date(now)}"))
    return blocks


async def _settings(services: Services, person: Invocation) -> ui.Block:
    """The window of a person's settings: who sees their verdicts, and what the features add."""
    visibility = await services.store.channels.visibility(person.team_id, person.user_id)
    as_set = ui.option(_AS_THE_WORKSPACE, "Workspace default")
    options = {audience: ui.option(audience, label) for audience, label in _AUDIENCE.items()}
    chosen = options[visibility] if visibility else as_set
    select = ui.menu(ACTION_HOME_VISIBILITY, [as_set, *options.values()], chosen)
    default = _AUDIENCE[services.settings.verdict_visibility].lower()
    words = f"The workspace default: {default}. You can also choose in the window of `/judge`."
    blocks = [ui.header("Who sees your verdicts"), ui.section(words) | {"accessory": select}]
    blocks += await _blocks((each.home_settings for each in services.features), person)
    return ui.page("Settings", blocks)


async def _blocks(
    parts: Iterable[Callable[[Invocation], Awaitable[Sequence[ui.Block]]] | None],
    person: Invocation,
) -> list[ui.Block]:
    found = await asyncio.gather(*(part(person) for part in parts if part))
    return [block for blocks in found for block in blocks]


async def _cases(services: Services, person: Invocation) -> list[ui.Block]:
    """A person's newest cases."""
    found = await services.store.cases.recent(person.team_id, person.user_id, _MOST_CASES + 1)
    listed = await services.case_access.listed(found[:_MOST_CASES], person.user_id)
    blocks = recent_blocks(listed, services.identity.url) or [ui.section(_NONE)]
    if len(found) > _MOST_CASES:
        blocks.append(ui.context("`/judge recent` lists older cases."))
    return blocks


async def recent(services: Services, invocation: Invocation, after: str = "") -> Post:
    """A page with the person's newest cases, or with the next older ones after the end of another
    page, as a button remembers it.
    """
    person = invocation.user_id
    before = to_page_end(after)
    cases = services.store.cases
    found = await cases.recent(invocation.team_id, person, _PAGE + 1, before)
    shown = await services.case_access.listed(found[:_PAGE], person, invocation.channel_id)
    title = _NONE
    if shown or before:
        title = "*Your older cases*" if before else "*Your cases*, newest first"
    blocks = [ui.section(title), *recent_blocks(shown, services.identity.url)]
    last = shown[-1].case if len(found) > _PAGE else None
    if buttons := _page_buttons(before, last):
        blocks.append(ui.actions(*buttons))
    return Post(title.replace("*", ""), blocks)


def _page_buttons(before: PageEnd | None, last: LoggedCase | None) -> list[ui.Block]:
    """The buttons under a page: `last` is its last case if there are older ones."""
    buttons = list[ui.Block]()
    if before:
        buttons.append(ui.button("Newest", slack_ids.ACTION_RECENT_NEWEST))
    if last:
        value = f"{last.created_at.isoformat()}/{last.id}"
        buttons.append(ui.button("Older", ACTION_RECENT_OLDER, value))
    return buttons


def to_page_end(value: str) -> PageEnd | None:
    """The place in the list that a button remembers, or None, the beginning of the list, if it
    remembers none.
    """
    at, _, case_id = value.partition("/")
    try:
        moment = datetime.fromisoformat(at)
        number = to_case_id(case_id)
    except ValueError:
        return None
    return (moment, number) if moment.tzinfo and number is not None else None
