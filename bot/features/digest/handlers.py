"""`/judge digest`, `/judge stats`, and the weeks of a person's channels in their Home tab.

Slack shows charts only in messages, so in the Home tab a trend is a line of numbers.
Source: https://docs.slack.dev/surfaces/app-home
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.shared import Shared
from bot.domain.verdict import MADE_UP, OFFLINE
from bot.domain.week import DAYS, Schedule, Week, parse_day, parse_time, parse_zone
from bot.feature import Services
from bot.features.digest import causes, ids, poster
from bot.features.digest import text as words
from bot.features.digest.queries import Channel, count_cases
from bot.figures import week as figures_week
from bot.figures.charts import weekly_means
from bot.pipeline.text import NOT_YOURS, not_understood, several_named
from bot.slack import blocks as ui
from bot.slack.client import SLACK_ERRORS
from bot.slack.invocation import Invocation, Raw, on_click, unknown
from bot.slack.members import Member, MembershipError
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip, escape
from bot.store.channels import ChannelSettings
from bot.store.figures import Place, Span
from bot.store.visibility import Origin
from judge.scoring.numbers import number_of


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
        is_day = get_close_matches(
            word, [day[: len(word)] for day in DAYS], cutoff=0.7
        )  # "fryday" is no time zone
        setting = "digest_time" if word[0].isdigit() else "digest_day" if is_day else "digest_tz"
        found.setdefault(setting, []).append(word)
    return {setting: _PARSERS[setting](" ".join(name)) for setting, name in found.items()}


_PARSERS: Mapping[str, Callable[[str], str]] = {
    "digest_day": parse_day,
    "digest_time": lambda text: f"{parse_time(text):%H:%M}",
    "digest_tz": lambda text: parse_zone(text).key,
}


_WHAT = "digests and watches"
_HELP = """\
• `/judge digest on` posts a digest of each week here; `/judge digest on friday 16:00 Europe/Berlin` sets the time
• `/judge digest off` stops it
• `/judge digest` shows the settings"""


def digest_state(settings: ChannelSettings, schedule: Schedule, now: datetime) -> str:
    if not settings.is_digest_on:
        return f"The digest is off in this channel. `/judge digest on` posts it every {schedule}."
    following = schedule.current(now).end.astimezone(schedule.zone)
    return (
        f"The digest is on in this channel: every {schedule}, about the seven days before. "
        f"The next one is on {following:%A}, {following.day} {following:%b}."
    )


async def switch_on(services: Services, place: Place, by: str, **changes: Any) -> str:
    """Switches a channel's digest on, with these changes of its time; says when the next one comes."""
    now = services.clock()
    changes |= {"is_digest_on": True, "digest_since": now}
    settings = await services.store.channels.save(place.team_id, place.channel_id, by, **changes)
    return digest_state(settings, poster.schedule_of(services, settings), now)


async def answer_digest(services: Services, invocation: Invocation, text: str) -> str:
    if text.lower() == "help":
        return _HELP
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


DIRECT = (
    "Stats are about channels, not direct messages. `/judge stats #channel` shows one of your "
    "channels."
)
_STATS_HELP = (
    "`/judge stats` shows this channel, `/judge stats #channel` another one, `/judge stats "
    "@name` one assistant"
)


def no_channel(name: str) -> str:
    """The same answer whether the channel does not exist, or the person or the app is not in it."""
    known = f"I know of no channel `{clip(name)}` that you and I are both in."
    return f"{known} If you are in it, type `/invite @Slack Judge` there."


def unsure(error: str) -> str:
    return (
        f"Slack does not tell me which channels you are in (`{clip(error)}`), so I show no figures."
    )


def no_author(name: str, known: Sequence[str]) -> str:
    """The answer if no assistant has this name; it does not reveal whether a person was scored."""
    names = ", ".join(f"`@{clip(each)}`" for each in known[:10])
    shown = f"I can show {names}." if names else "No assistant's reply has been scored here lately."
    return f"I cannot show `{clip(name)}` here. {shown}"


async def answer_stats(services: Services, invocation: Invocation, text: str) -> Post | str:
    here = invocation.channel_id
    sign = text[:1]
    name = text[1:].strip()
    wanted = name.lower()
    if text and not (sign in {"#", "@"} and name):
        return f"{escape(str(unknown(text)))}. {_STATS_HELP}."
    if here.startswith("D") and sign != "#":
        return DIRECT
    try:
        channels = await services.memberships.of(invocation.user_id)
    except MembershipError as exc:
        return unsure(str(exc))
    if sign == "#":
        here = next(
            (each for each, of in channels.items() if wanted in {each.lower(), of.name.lower()}), ""
        )
        if not here:
            return no_channel(f"#{name}")
    elif here not in channels:
        return NOT_YOURS
    settings = await services.store.channels.of(invocation.team_id, here)
    author_id = None
    title = f"<#{here}>" if here != invocation.channel_id else ""
    if sign == "@":
        known = await _assistants(services, settings)
        found = [
            each for each, member in known.items() if wanted in {each.lower(), member.name.lower()}
        ]
        if len(found) > 1:
            return several_named(name, found)
        if not found:
            return no_author(f"@{name}", [member.name for member in known.values()])
        (author_id,) = found
        title = clip(known[author_id].name)
    return await poster.stats(services, settings, author_id, title, invocation.user_id)


async def _assistants(services: Services, settings: ChannelSettings) -> Mapping[str, Member]:
    week = poster.this_week(services, settings)
    span = Span(week.before(figures_week.TREND_WEEKS - 1).start, week.end)
    places = [Place(settings.team_id, settings.channel_id, origin=origin) for origin in Origin]
    authors = [
        each for place in places for each in await services.store.tallies.authors(place, span)
    ]
    return await poster.assistants(services, authors)


_LISTED_FOR = timedelta(weeks=2)  # after the last verdict
_NO_MODEL = {MADE_UP: "made up", OFFLINE: "offline rater"}
_Key = tuple[str, str, Week]
_Counted = tuple[figures_week.Glance, str]  # with what it is about


class ChannelsAtHome:
    """Shows the weeks of people's channels; reads little at a time, so that other work does not
    wait for the store.

    People who open their Home tab within a minute share one count of a channel's week.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._reading = asyncio.Semaphore(
            2
        )  # there are few connections to the store, and new cases come first

        self._cases = Shared(self._count, services.clock)
        self._glances = Shared(self._read_glances, services.clock)

    async def blocks(self, team_id: str, user_id: str) -> Sequence[ui.Block]:
        """The section of a person's Home tab; without channels if Slack does not tell which are
        theirs.
        """
        memberships = self._services.memberships
        try:
            theirs, ours, is_allowed = await asyncio.gather(
                memberships.of(user_id), memberships.of(), self._may_switch(user_id)
            )
        except MembershipError as exc:
            weeks = [ui.section(unsure(str(exc)))]
        else:
            weeks = await self._weeks(team_id, list(theirs), set(ours) if is_allowed else set())
        return [ui.header("Your channels, this week so far"), *weeks]

    async def _may_switch(self, user_id: str) -> bool:
        """Whether this person may change the digests of channels that they are in; False if Slack
        does not say.
        """
        if self._services.settings.digest_by != "admins":
            return True  # guests may not, but are told so when they try
        try:
            async with asyncio.timeout(2):
                return await self._services.access.is_admin(user_id)
        except SLACK_ERRORS:
            return False

    async def _weeks(
        self, team_id: str, theirs: Collection[str], switchable: set[str]
    ) -> list[ui.Block]:
        found = await self._cases.of((team_id, each) for each in theirs)
        busy = [
            each for _, each in sorted(filter(found.get, found), key=lambda key: (-found[key], key))
        ]
        settings = await self._services.store.channels.among(team_id, theirs)
        listed = [
            *busy,
            *(
                each
                for each, chosen in settings.items()
                if chosen.is_digest_on and each not in busy
            ),
        ]
        chosen = [settings.get(each) or ChannelSettings(team_id, each) for each in listed[:10]]
        shown = {
            (team_id, each.channel_id, poster.this_week(self._services, each)): each
            for each in chosen
        }
        glances = await self._glances.of(shown)
        weeks = [
            _channel(
                each,
                poster.schedule_of(self._services, each),
                glances[key],
                each.channel_id in switchable,
            )
            for key, each in shown.items()
        ]
        more = len(listed) - len(weeks)
        last = [ui.context(f"And {more} more: type `/judge stats` there.")] if more else []
        return [*weeks, *last] or [
            ui.section("Nothing was scored in your channels in the last two weeks.")
        ]

    async def _count(self, channels: Sequence[Channel]) -> Mapping[Channel, int]:
        async with self._reading:
            return await count_cases(
                self._services.store.database, channels, self._services.clock() - _LISTED_FOR
            )

    async def _read_glances(self, keys: Sequence[_Key]) -> Mapping[_Key, _Counted]:
        """A channel's week, of the replies that people chose, or without any of those that watches
        drew.
        """
        found: dict[_Key, _Counted] = {}
        for week in {week for *_, week in keys}:
            team_id, channel_id, *others = (
                keys[0][0],
                *(each for _, each, its in keys if its == week),
            )
            async with self._reading:
                place = Place(team_id, channel_id, others=tuple(others))
                now = self._services.clock()
                glances = await figures_week.read_glances(
                    self._services.store.tallies, place, week, now
                )
                found |= {
                    (team_id, each, week): (its, words.counted(its))
                    for each, its in glances.items()
                }
                if bare := [each for each, its in glances.items() if not its.this.n]:
                    place = replace(
                        place, channel_id=bare[0], others=tuple(bare[1:]), origin=Origin.WATCHED
                    )
                    watched = await figures_week.read_glances(
                        self._services.store.tallies, place, week, now
                    )
                    found |= {
                        (team_id, each, week): (its, _watched(its.this.n))
                        for each, its in watched.items()
                    }
        return found


def _watched(number: int) -> str:
    count = number_of(number, "watched reply", "watched replies")
    return f"{count}, none chosen by people" if number else "nothing has a score yet this week"


def _channel(
    settings: ChannelSettings, schedule: Schedule, counted: _Counted, may_switch: bool
) -> ui.Block:
    channel_id = settings.channel_id
    is_on = settings.is_digest_on
    (glance, week) = counted
    partly = "partly " if len(glance.raters) > 1 else ""
    marks = ", ".join(
        f"{partly}{mark}" for rater, mark in _NO_MODEL.items() if rater in glance.raters
    )
    trend = weekly_means(glance.trend)
    lines = [
        f"*<#{channel_id}>*{f' ({marks})' if marks else ''}: {week}",
        words.measures(glance),
        f"Weekly mean: {trend}" if trend else "",
        words.judge_change(glance),
        words.not_counted(glance),
        f"Digest every {schedule}." if is_on else "No weekly digest.",
    ]
    block = ui.section("\n".join(line for line in lines if line))
    if may_switch:
        off = ("Switch digest off", ids.ACTION_DIGEST_OFF)
        on = ("Switch digest on", ids.ACTION_DIGEST_ON)
        block["accessory"] = ui.button(*(off if is_on else on), channel_id)
    return block | {"block_id": f"channel-{channel_id}"}


def register(app: AsyncApp, services: Services) -> None:
    async def list_low(settings: ChannelSettings, which: str, person: Invocation, _: Raw) -> str:
        found = await poster.low_list(services, settings, which, person.user_id)
        us = services.identity
        file = f"{settings.channel_id}:{which}" if "files:write" in us.scopes else ""
        window = causes.list_window(*found, us.url, file)
        return await services.messenger.show(person, window)

    async def send_low(settings: ChannelSettings, which: str, person: Invocation, body: Raw) -> str:
        view = body["view"]  # whose first block is the button
        found = await poster.low_list(services, settings, which, person.user_id)
        said = ui.context(await causes.send_file(services, person, *found))
        await services.messenger.update_modal(
            view["id"], ui.page(causes.LOW_TITLE, [said, *view["blocks"][1:]])
        )
        return ""

    answers: Mapping[
        str, Callable[[ChannelSettings, str, Invocation, Raw], Awaitable[Post | str]]
    ] = {
        ids.ACTION_LOW_LIST: list_low,
        ids.ACTION_LOW_FILE: send_low,
        ids.ACTION_DIGEST_DETAILS: lambda settings, which, *_: poster.details(
            services, settings, which
        ),
    }

    @on_click(app, *answers)
    async def answer(invocation: Invocation, body: Raw) -> None:
        channel_id, _, which = invocation.value.partition(":")
        said: Post | str = await services.access.refusal(
            invocation, _WHAT, channel_id, is_change=False
        )
        if not said:
            settings = await services.store.channels.of(invocation.team_id, channel_id)
            said = await answers[invocation.action](settings, which, invocation, body)
        await services.messenger.tell(invocation.recipient, said)

    @on_click(app, ids.ACTION_DIGEST_ON, ids.ACTION_DIGEST_OFF)
    async def switch_digest(person: Invocation, _: Raw) -> None:
        channel_id = person.value
        is_on = person.action == ids.ACTION_DIGEST_ON
        refusal = await services.access.refusal(person, _WHAT, channel_id, is_change=True)
        if not refusal and is_on:
            await switch_on(services, Place(person.team_id, channel_id), person.user_id)
        elif not refusal:
            await services.store.channels.save(
                person.team_id, channel_id, person.user_id, is_digest_on=False
            )
        await services.show_home(person, refusal)
