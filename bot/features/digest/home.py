"""The weeks of a person's channels in their Home tab, and the switches of their digests.

Slack's charts stand in messages only, so that a trend is a line of characters here.
Source: https://docs.slack.dev/surfaces/app-home
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.verdict import MADE_UP, OFFLINE
from bot.domain.week import Schedule, Week
from bot.feature import Services
from bot.features.digest.charts import judge_change, trend_line
from bot.features.digest.handlers import switch_digest
from bot.features.digest.poster import Poster
from bot.features.digest.text import counted, measures, not_counted
from bot.figures.week import Glance, read_glance
from bot.pipeline.text import FOREIGN, no_channel_access_text
from bot.slack import ids
from bot.slack.blocks import Block, button, context, header, section
from bot.slack.invocation import clicked_home, clicked_value
from bot.slack.members import Listed, MembershipError
from bot.slack.mrkdwn import clip
from bot.store.digests import ChannelSettings
from bot.store.figures import Place

_MOST_CHANNELS = 10
_LISTED_FOR = timedelta(weeks=2)  # after the last verdict
# Connections to the store are few, and new cases come first.
_READ_AT_ONCE = 2

_ERROR_ROOM = 80
_NO_CHANNELS = "Nothing was scored in your channels in the last two weeks. Where something is, its week stands here."
_SWITCH_ON = "Switch digest on", ids.ACTION_DIGEST_ON
_SWITCH_OFF = "Switch digest off", ids.ACTION_DIGEST_OFF
_NO_MODEL = {MADE_UP: "made up", OFFLINE: "offline rater, no model"}


@dataclass(frozen=True)
class ChannelWeek:
    """A channel's week so far, and its digest; `may_switch` is whether the person may turn that on and off."""

    glance: Glance
    settings: ChannelSettings
    schedule: Schedule
    may_switch: bool


@dataclass(frozen=True)
class Channels:
    """What a person sees of their channels."""

    weeks: Sequence[ChannelWeek] = ()
    more: int = 0
    unsure: str = ""


class ChannelReader:
    """Reads the weeks of people's channels, a little at a time, so that nothing else waits for the store.

    People who open their Home tab at the same moment share the counting of a channel's week; nothing of it is
    kept.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._reading = asyncio.Semaphore(_READ_AT_ONCE)
        self._glances: dict[tuple[Place, str], asyncio.Task[Glance]] = {}

    async def read(self, team_id: str, user_id: str) -> Channels:
        """The channels to be shown; where Slack does not say which are the person's, none."""
        memberships = self._services.memberships
        try:
            theirs, ours, is_allowed = await asyncio.gather(
                memberships.of(user_id), memberships.of(), self._services.access.allows_changes(user_id)
            )
        except MembershipError as exc:
            return Channels(unsure=str(exc))
        return await self._weeks(team_id, theirs, set(ours) if is_allowed else set())

    async def _weeks(self, team_id: str, theirs: Mapping[str, Listed], switchable: set[str]) -> Channels:
        now, store = self._services.clock(), self._services.store
        async with self._reading:
            busy = await store.tallies.busiest(team_id, theirs, now - _LISTED_FOR)
            settings = await store.digests.among(team_id, theirs)
        listed = [*busy, *(each for each, chosen in settings.items() if chosen.is_digest_on and each not in busy)]
        shown = [settings.get(each) or ChannelSettings(team_id, each) for each in listed[:_MOST_CHANNELS]]
        weeks = await asyncio.gather(*(self._week(each, now, each.channel_id in switchable) for each in shown))
        return Channels(weeks, len(listed) - len(weeks))

    async def _week(self, settings: ChannelSettings, now: datetime, may_switch: bool) -> ChannelWeek:
        schedule = self._services.schedule.changed(settings.digest_day, settings.digest_time, settings.digest_tz)
        glance = await self._glance(Place(settings.team_id, settings.channel_id), Week.of(now, schedule.zone), now)
        return ChannelWeek(glance, settings, schedule, may_switch)

    async def _glance(self, place: Place, week: Week, now: datetime) -> Glance:
        key = place, week.label
        if key not in self._glances:
            self._glances[key] = asyncio.create_task(self._read_glance(place, week, now))
            self._glances[key].add_done_callback(lambda _: self._glances.pop(key))
        return await asyncio.shield(self._glances[key])

    async def _read_glance(self, place: Place, week: Week, now: datetime) -> Glance:
        async with self._reading:
            return await read_glance(self._services.store.tallies, place, week, now)


def channel_blocks(channels: Channels) -> list[Block]:
    return [header("Your channels, this week so far"), *_lines(channels)]


def _lines(channels: Channels) -> list[Block]:
    if channels.unsure:
        error = clip(channels.unsure, _ERROR_ROOM)
        return [section(f"Slack does not tell me which channels you are in (`{error}`), so I show nothing of them.")]
    if not channels.weeks:
        return [section(_NO_CHANNELS)]
    more = [context(f"And {channels.more} more: type `/judge stats` there.")] if channels.more else []
    return [_channel(each) for each in channels.weeks] + more


def _channel(channel: ChannelWeek) -> Block:
    glance, channel_id = channel.glance, channel.settings.channel_id
    week = counted(glance) if glance.this.n else "nothing that people chose has a score yet"
    is_on = channel.settings.is_digest_on
    lines = [
        f"*<#{channel_id}>*{_without_model(glance)}: {week}",
        measures(glance),
        trend_line(glance),
        judge_change(glance),
        not_counted(glance),
        f"Digest every {channel.schedule}." if is_on else "No weekly digest.",
    ]
    block = section("\n".join(line for line in lines if line))
    if channel.may_switch:
        label, action_id = _SWITCH_OFF if is_on else _SWITCH_ON
        block["accessory"] = button(label, action_id, channel_id)
    return block | {"block_id": f"channel-{channel_id}"}


def _without_model(glance: Glance) -> str:
    partly = "partly " if len(glance.raters) > 1 else ""
    marks = [f"{partly}{mark}" for rater, mark in _NO_MODEL.items() if rater in glance.raters]
    return f" ({', '.join(marks)})" if marks else ""


def register(app: AsyncApp, poster: Poster) -> None:
    services = poster.services

    @app.action(ids.ACTION_DIGEST_ON)
    async def switch_digest_on(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await switch(body, is_on=True)

    @app.action(ids.ACTION_DIGEST_OFF)
    async def switch_digest_off(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await switch(body, is_on=False)

    async def switch(body: dict[str, Any], *, is_on: bool) -> None:
        visit, channel_id = clicked_home(body), clicked_value(body)
        if visit.invocation.is_foreign:
            await services.show_home(visit, FOREIGN)
            return
        refusal = await switch_digest(poster, visit.invocation, channel_id, is_on=is_on)
        await services.show_home(visit, no_channel_access_text(refusal) if refusal else "")
