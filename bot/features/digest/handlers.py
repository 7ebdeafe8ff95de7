"""`/judge digest`, and the buttons of digests and stats."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.week import DAYS, Schedule, parse_day, parse_time, parse_zone
from bot.features.digest import ids, low_list, poster
from bot.figures.lowest import LowList
from bot.pipeline.fairness import with_choices
from bot.pipeline.row_file import NEEDED_SCOPE
from bot.pipeline.text import not_understood, unsure_of_membership
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack.invocation import Invocation, Raw, on_click, unknown
from bot.slack.members import MembershipError
from bot.slack.messenger import Post
from bot.store.channels import ChannelSettings
from bot.store.figures import Place


def parse_digest(text: str) -> Mapping[str, Any]:
    """The settings that `/judge digest` changes, by their names in `ChannelSettings`."""
    match text.lower().split():
        case []:
            return {}
        case ["off"]:
            return {"is_digest_on": False}
        case ["on", *words]:
            told = [word for word in words if word not in {"every", "at", "in"}]
            return {"is_digest_on": True} | _schedule_changes(told)
        case _:
            raise unknown(text)


def _schedule_changes(words: Sequence[str]) -> dict[str, Any]:
    """The settings that the words change; all words for one setting are joined, so two days are an
    error.
    """
    found: dict[str, list[str]] = {}
    for word in words:
        is_day = any(day.startswith(word) for day in DAYS)
        setting = "digest_time" if word[0].isdigit() else "digest_day" if is_day else "digest_tz"
        found.setdefault(setting, []).append(word)
    return {setting: _PARSERS[setting](" ".join(name)) for setting, name in found.items()}


def _zone(text: str) -> str:
    try:
        return parse_zone(text).key
    except ValueError as exc:
        raise ValueError(f"{exc}, a day such as Friday, or a time such as 16:30") from None


_PARSERS: Mapping[str, Callable[[str], str]] = {
    "digest_day": parse_day,
    "digest_time": lambda text: f"{parse_time(text):%H:%M}",
    "digest_tz": _zone,
}


_WHAT = "digests and watches"
_HELP = """\
• `/judge digest on` posts a digest of each week here; `/judge digest on friday 16:00 Europe/Berlin` sets the time
• `/judge digest off` stops it
• `/judge digest` shows the settings"""


def digest_state(settings: ChannelSettings, schedule: Schedule, now: datetime) -> str:
    # The channel is named because this may be read elsewhere.
    where = f"in <#{settings.channel_id}>"
    if not settings.is_digest_on:
        return f"The digest is off {where}. `/judge digest on` posts it every {schedule}."
    following = schedule.current(now).end.astimezone(schedule.zone)
    return (
        f"The digest is on {where}: every {schedule}, about the seven days before. "
        f"The next one is on {following:%A}, {following.day} {following:%b}."
    )


async def switch_on(services: Services, place: Place, by: str, **changes: Any) -> str:
    """Switches a channel's digest on, with these changes of its time; says when the next one comes."""
    now = services.clock()
    changes |= {"is_digest_on": True, "digest_since": now}
    settings = await services.store.channels.save(place.team_id, place.channel_id, by, **changes)
    return digest_state(settings, poster.schedule_of(services, settings), now)


async def answer_digest(services: Services, invocation: Invocation, text: str) -> str:
    try:
        changes = parse_digest(text)
    except ValueError as exc:
        return not_understood(exc, _HELP)
    if refusal := await services.access.refusal(invocation, _WHAT, is_change=bool(changes)):
        return refusal
    channels = services.store.channels
    place = (invocation.team_id, invocation.channel_id)
    if changes.get("is_digest_on"):
        return await switch_on(services, Place(*place), invocation.user_id, **changes)
    settings = await (
        channels.save(*place, invocation.user_id, **changes) if changes else channels.of(*place)
    )
    return digest_state(settings, poster.schedule_of(services, settings), services.clock())


async def _list_low(services: Services, which: LowList, person: Invocation, _: Raw) -> str:
    return await services.messenger.show(person, await _low_window(services, which, person))


async def _low_window(
    services: Services, which: LowList, person: Invocation, note: str = ""
) -> ui.Block:
    found = await low_list.read_list(services, which, person)
    us = services.identity
    sends_files = NEEDED_SCOPE in us.scopes
    window = low_list.list_window(found, which, us.url, note, sends_files=sends_files)
    blocks = await with_choices(
        services.store, person.team_id, window["blocks"], person.user_id, which.value
    )
    return window | {"blocks": blocks}


async def show_low(
    services: Services, person: Invocation, view_id: str, value: str, note: str
) -> None:
    which = LowList.of(value)
    # Without Slack's answer, the window stays as it is.
    with suppress(MembershipError):
        if not await _refusal(services, which, person):
            window = await _low_window(services, which, person, note)
            await services.messenger.update_modal(view_id, window)


async def _send_low(services: Services, which: LowList, person: Invocation, body: Raw) -> str:
    view = body["view"]
    first, _button, *others = view["blocks"]
    found = await low_list.read_list(services, which, person)
    said = ui.context(await low_list.send_file(services, person, found))
    window = ui.page(low_list.TITLE, [first, said, *others])
    await services.messenger.update_modal(view["id"], window)
    return ""


async def _show_details(services: Services, which: LowList, person: Invocation, _: Raw) -> Post:
    settings = await services.store.channels.of(person.team_id, which.channel_id)
    return await poster.details(services, settings, which)


_Answer = Callable[[Services, LowList, Invocation, Raw], Awaitable[Post | str]]
_ANSWERS: Mapping[str, _Answer] = {
    ids.ACTION_LOW_LIST: _list_low,
    ids.ACTION_LOW_FILE: _send_low,
    ids.ACTION_DIGEST_DETAILS: _show_details,
}


async def _answer_click(services: Services, person: Invocation, body: Raw) -> Post | str:
    which = LowList.of(person.value)
    if refusal := await _refusal(services, which, person):
        return refusal
    try:
        return await _ANSWERS[person.action](services, which, person, body)
    except MembershipError as exc:
        return unsure_of_membership(exc)


async def _refusal(services: Services, which: LowList, person: Invocation) -> str:
    if not which.channel_id:
        return ""
    return await services.access.refusal(person, _WHAT, which.channel_id, is_change=False)


def register(app: AsyncApp, services: Services) -> None:
    @on_click(app, *_ANSWERS)
    async def answer(person: Invocation, body: Raw) -> None:
        said = await _answer_click(services, person, body)
        await services.messenger.tell(person.recipient, said)
