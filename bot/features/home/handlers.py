"""The Home tab, published when it is opened and after each click in it, and the pages of `/judge
recent`.

Source: https://docs.slack.dev/surfaces/app-home
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp

from bot.domain.case import Visibility, to_case_id
from bot.domain.clock import utc_now
from bot.feature import Services
from bot.pipeline.case_access import recent_blocks
from bot.pipeline.retries import in_brief
from bot.pipeline.text import texts_modal
from bot.slack import blocks as ui
from bot.slack import ids as slack_ids
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.invocation import Invocation, Raw, on_click, to_invocation
from bot.slack.messenger import Post
from bot.store.cases import PageEnd
from bot.store.database import upsert
from bot.store.errors import STORE_ERRORS
from bot.store.schema import people

ACTION_HOME_JUDGE = "judge_something"
ACTION_HOME_VISIBILITY = "choose_visibility"

ACTION_RECENT_OLDER = "show_older_cases"

_MOST_CASES = 5
_PAGE = 10
# A case that waits for its question is listed this long. By then its window is long closed, and the
# person will hardly come back to it.
_ASKED_FOR = timedelta(days=1)

_AS_THE_WORKSPACE = "workspace"

_WELCOME = (
    "To score a reply, open the menu of the message (⋮ *More actions*) and choose *Score this "
    "reply*."
)
_NO_CASES = "You have not asked for a score yet. Your cases from all channels appear here."
_NONE = (
    "You have not asked for a score yet. On any message: More actions (⋮) → *Score this "
    "reply*, or type `/judge`."
)
_NO_STORE = "I cannot read the database right now. Open this tab again in a minute."
_AUDIENCE = {Visibility.THREAD: "Everybody in the thread", Visibility.ME: "Only me"}

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    @app.event("app_home_opened")
    async def open_home(body: Raw) -> None:
        if body["event"].get("tab") == "home":
            await show_home(services, to_invocation(body))

    @on_click(app, ACTION_HOME_JUDGE)
    async def judge_something(person: Invocation, _: Raw) -> None:
        """The verdict on the two texts goes to the person's direct messages with the app."""
        state = ui.ModalState(channel_id=person.window_channel_id)
        rubrics = services.rubrics
        window = texts_modal(state, list(rubrics.shipped), rubrics.default, None)
        if said := await services.messenger.show(person, window):
            await show_home(services, person, said)

    @on_click(app, ACTION_HOME_VISIBILITY)
    async def choose_visibility(person: Invocation, body: Raw) -> None:
        value = str(body["actions"][0]["selected_option"]["value"])
        database = services.store.database
        chosen = None if value == _AS_THE_WORKSPACE else Visibility(value)
        values = {
            "team_id": person.team_id,
            "user_id": person.user_id,
            "visibility": chosen,
            "updated_at": utc_now(),
        }
        await database.execute(upsert(database, people, values))
        await database.forget_choices()
        await show_home(services, person)

    @on_click(app, slack_ids.ACTION_RECENT_NEWEST, ACTION_RECENT_OLDER)
    async def turn_page(invocation: Invocation, _: Raw) -> None:
        page = await recent(services, invocation, to_page_end(invocation.value))
        messenger = services.messenger
        # The page quotes, and another message would keep it.
        show = messenger.replace if invocation.is_ephemeral else messenger.answer
        await show(invocation.recipient, page)


async def show_home(services: Services, person: Invocation, note: str = "") -> None:
    """Publishes a person's Home tab as it is now; `note` tells them the outcome of their click."""
    now = services.clock()
    chosen = services.store.channels.visibility(person.team_id, person.user_id)
    try:
        # Run at the same time, so that all share one call to Slack for the person's channels.
        cases, visibility, buttons, sections = await asyncio.gather(
            _newest(services, person, now),
            chosen,
            _blocks((each.home_buttons for each in services.features), person),
            _blocks((each.home_section for each in services.features), person),
        )
    except STORE_ERRORS as exc:
        logger.error("home_without_log", reason=in_brief(exc))
        blocks = [*_top(""), ui.section(_NO_STORE)]
    else:
        blocks = [
            *_top(note, buttons),
            ui.context(f"As of {ui.short_date(now)}"),
            ui.header("Your cases"),
            *cases,
            *sections,
        ]
        as_set = ui.option(_AS_THE_WORKSPACE, "Workspace default")
        options = {None: as_set} | {
            each: ui.option(each, label) for each, label in _AUDIENCE.items()
        }
        select = ui.menu(ACTION_HOME_VISIBILITY, options.values(), options[visibility])
        default = _AUDIENCE[services.settings.verdict_visibility].lower()
        words = f"The workspace default: {default}. You can also choose in the window of `/judge`."
        blocks += [ui.header("Who sees your verdicts"), ui.section(words) | {"accessory": select}]
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


async def _blocks(
    parts: Iterable[Callable[[Invocation], Awaitable[Sequence[ui.Block]]] | None],
    person: Invocation,
) -> list[ui.Block]:
    found = await asyncio.gather(*(part(person) for part in parts if part))
    return [block for blocks in found for block in blocks]


async def _newest(services: Services, person: Invocation, now: datetime) -> list[ui.Block]:
    since = now - _ASKED_FOR
    found = await services.store.cases.recent(
        person.team_id, person.user_id, _MOST_CASES + 1, asked_since=since
    )
    cases = await services.case_access.listed(found[:_MOST_CASES], person.user_id)
    blocks = recent_blocks(cases, services.identity.url) if cases else [ui.section(_NO_CASES)]
    return (
        [*blocks, ui.context("`/judge recent` lists older cases.")]
        if len(found) > _MOST_CASES
        else blocks
    )


async def recent(services: Services, invocation: Invocation, before: PageEnd | None = None) -> Post:
    """A page with the person's newest cases, or with the next older ones after the end of another
    page.
    """
    found = await services.store.cases.recent(
        invocation.team_id, invocation.user_id, _PAGE + 1, before
    )
    shown = await services.case_access.listed(
        found[:_PAGE], invocation.user_id, invocation.channel_id
    )
    title = "There are no older cases." if before else _NONE
    if shown:
        title = "*Your older cases*" if before else "*Your cases*, newest first"
    buttons = [ui.button("Newest", slack_ids.ACTION_RECENT_NEWEST)] if before else []
    if len(found) > _PAGE:
        last = shown[-1].case
        buttons.append(
            ui.button("Older", ACTION_RECENT_OLDER, f"{last.created_at.isoformat()}/{last.id}")
        )
    row = [ui.actions(*buttons)] if buttons else []
    blocks = [ui.section(title), *recent_blocks(shown, services.identity.url), *row]
    return Post(title.replace("*", ""), blocks)


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


def _top(note: str, buttons: Sequence[ui.Block] = ()) -> list[dict[str, Any]]:
    judge = ui.button("Score two texts", ACTION_HOME_JUDGE) | {"style": "primary"}
    said = [ui.section(f":warning: {note}")] if note else []
    return [ui.section(_WELCOME), ui.actions(judge, *buttons), *said]
