"""What the Home tab shows to one person: their own cases, and the weeks of the channels that they are in."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.case import Visibility
from bot.domain.clock import Clock, utc_now
from bot.slack.access import Access
from bot.slack.memberships import Listed, MembershipError, Memberships
from bot.store import Store
from bot.store.digests import ChannelSettings
from bot.store.figures import Place
from bot.weeks.figures import Glance, read_glance
from bot.weeks.own_cases import ListedCase, OwnCases
from bot.weeks.week import Schedule, Week

MOST_CASES = 5
MOST_CHANNELS = 10
_LISTED_FOR = timedelta(weeks=2)  # after the last verdict
_ASKED_FOR = timedelta(days=1)
"""How long a case waits here for its question; by then its window is long closed, and nobody comes back to it."""
# Connections to the log are few, and new cases come first.
_READ_AT_ONCE = 2


@dataclass(frozen=True)
class ChannelWeek:
    """A channel's week so far, and its digest; `may_switch` is whether the person may turn that on and off."""

    glance: Glance
    settings: ChannelSettings
    schedule: Schedule
    may_switch: bool


@dataclass(frozen=True)
class Home:
    """One person's Home tab.

    Attributes:
        cases: Their newest cases.
        has_older: Whether there are older ones.
        visibility: Who sees their verdicts, as they chose it; None: as the workspace has it.
        channels: The busiest of theirs first.
        more: How many more channels there would be.
        unsure: Why no channels are shown, in Slack's word; empty where it said which they are.
        made_at: When this was.
    """

    cases: Sequence[ListedCase]
    has_older: bool
    visibility: Visibility | None
    channels: Sequence[ChannelWeek]
    more: int
    unsure: str
    made_at: datetime


class HomeReader:
    """Reads what the Home tab shows, a little at a time, so that nothing else waits for the log.

    People who open it at the same moment share the counting of a channel's week; nothing of it is kept afterwards.
    """

    def __init__(
        self,
        store: Store,
        schedule: Schedule,
        memberships: Memberships,
        access: Access,
        own_cases: OwnCases,
        clock: Clock = utc_now,
    ) -> None:
        self._store = store
        self._schedule = schedule
        self._now = clock
        self._memberships = memberships
        self._access = access
        self._own_cases = own_cases
        self._reading = asyncio.Semaphore(_READ_AT_ONCE)
        self._glances: dict[tuple[Place, str], asyncio.Task[Glance]] = {}

    async def read(self, team_id: str, user_id: str) -> Home:
        """The Home tab of a person; where Slack does not say which channels are theirs, none are in it."""
        async with self._reading:
            asked_since = self._now() - _ASKED_FOR
            found = await self._store.recent.of(team_id, user_id, MOST_CASES + 1, asked_since=asked_since)
            visibility = await self._store.people.visibility(team_id, user_id)
        # Side by side, so that both share what Slack says of the person's channels.
        cases, (channels, more, unsure) = await asyncio.gather(
            self._own_cases.listed(found[:MOST_CASES], user_id), self._channels(team_id, user_id)
        )
        return Home(cases, len(found) > MOST_CASES, visibility, channels, more, unsure, self._now())

    async def _channels(self, team_id: str, user_id: str) -> tuple[Sequence[ChannelWeek], int, str]:
        """The channels to be shown, how many more there are, and why there are none."""
        try:
            theirs, ours, is_allowed = await asyncio.gather(
                self._memberships.of(user_id), self._memberships.of(), self._access.allows_changes(user_id)
            )
        except MembershipError as exc:
            return (), 0, str(exc)
        found, more = await self._weeks(team_id, theirs, set(ours) if is_allowed else set())
        return found, more, ""

    async def _weeks(
        self, team_id: str, theirs: Mapping[str, Listed], switchable: set[str]
    ) -> tuple[Sequence[ChannelWeek], int]:
        now = self._now()
        async with self._reading:
            busy = await self._store.tallies.busiest(team_id, theirs, now - _LISTED_FOR)
            settings = await self._store.digests.among(team_id, theirs)
        listed = [*busy, *(each for each, chosen in settings.items() if chosen.is_digest_on and each not in busy)]
        shown = [settings.get(each) or ChannelSettings(team_id, each) for each in listed[:MOST_CHANNELS]]
        weeks = await asyncio.gather(*(self._week(each, now, each.channel_id in switchable) for each in shown))
        return weeks, len(listed) - len(weeks)

    async def _week(self, settings: ChannelSettings, now: datetime, may_switch: bool) -> ChannelWeek:
        schedule = self._schedule.of(settings)
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
            return await read_glance(self._store.tallies, place, week, now)
