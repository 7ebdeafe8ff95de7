"""Weeks, and when their digests are due in a channel's own time zone.

A text that is not a day, time or zone raises ValueError, whose message says what is expected.

A local time that a clock change skips counts as the same time on the old clock, so it comes later by the skip. Of a
local time that occurs twice, the first one counts. Source: PEP 495, fold=0.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORTEST_DAY = 3
_LONGEST_WORD = 80  # characters of the text that an error message quotes


@dataclass(frozen=True)
class Week:
    """An ISO week, Monday to Sunday, in one time zone."""

    year: int
    number: int
    zone: ZoneInfo

    @classmethod
    def of(cls, moment: datetime, zone: ZoneInfo) -> "Week":
        year, number, _ = moment.astimezone(zone).isocalendar()
        return cls(year, number, zone)

    @property
    def label(self) -> str:
        """The ISO 8601 name, such as `2026-W47`."""
        return f"{self.year}-W{self.number:02}"

    @property
    def monday(self) -> date:
        return date.fromisocalendar(self.year, self.number, 1)

    @property
    def start(self) -> datetime:
        return _to_utc(self.monday, time(), self.zone)

    @property
    def end(self) -> datetime:
        """The first moment of the next week, in UTC."""
        return _to_utc(self.monday + timedelta(weeks=1), time(), self.zone)

    def same_days_before(self, until: datetime) -> tuple[datetime, datetime]:
        """The start and end of the part of last week that matches this week up to `until`, on the zone's clocks."""
        last = self.before()
        if until >= self.end:
            return last.start, last.end
        end = (until.astimezone(self.zone) - timedelta(weeks=1)).astimezone(UTC)
        return last.start, min(max(end, last.start), last.end)

    def before(self, weeks: int = 1) -> "Week":
        year, number, _ = (self.monday - timedelta(weeks=weeks)).isocalendar()
        return Week(year, number, self.zone)


@dataclass(frozen=True)
class Schedule:
    """When a channel's digests are due: the first time it is this day and time after the end of each week."""

    day: str
    time: time
    zone: ZoneInfo

    @classmethod
    def parse(cls, day: str, at: str, zone: str) -> "Schedule":
        """The schedule given as text."""
        return cls(parse_day(day), parse_time(at), parse_zone(zone))

    def changed(self, day: str | None, at: str | None, zone: str | None) -> "Schedule":
        """This schedule with a channel's own choices; None leaves a value as it is."""
        return Schedule(
            parse_day(day) if day else self.day,
            parse_time(at) if at else self.time,
            parse_zone(zone) if zone else self.zone,
        )

    def due(self, week: Week) -> datetime:
        return _to_utc(week.monday + timedelta(weeks=1, days=DAYS.index(self.day)), self.time, self.zone)

    def latest(self, now: datetime) -> Week:
        """The newest week whose digest is due; it became due less than a week ago."""
        week = Week.of(now, self.zone).before()
        return week if self.due(week) <= now else week.before()

    def __str__(self) -> str:
        return f"{self.day.title()} at {self.time:%H:%M} ({self.zone.key})"


def parse_day(text: str) -> str:
    """The day of the week named by a word such as "Friday" or "fri"."""
    word = text.lower()
    found = [day for day in DAYS if len(word) >= _SHORTEST_DAY and day.startswith(word)]
    if not found:
        raise ValueError(f"{text[:_LONGEST_WORD]!r} is not a day of the week; expected one such as Monday or fri")
    return found[0]


def parse_time(text: str) -> time:
    """The time of day in a text such as "9:00" or "16:30"."""
    hour, colon, minute = text.partition(":")
    is_written_so = hour.isascii() and hour.isdigit() and (not colon or (minute.isascii() and minute.isdigit()))
    if is_written_so and int(hour) < 24 and int(minute or 0) < 60:
        return time(int(hour), int(minute or 0))
    raise ValueError(f"{text[:_LONGEST_WORD]!r} is not a time of day; expected one such as 09:00 or 16:30")


def parse_zone(text: str) -> ZoneInfo:
    """The time zone named by a text such as "Europe/Berlin", in any case; an error suggests a close name."""
    known = _known_zones()
    if name := known.get(text.lower()):
        return ZoneInfo(name)
    cities = {name.rpartition("/")[2]: known[name] for name in sorted(known)}
    close = get_close_matches(text.lower().replace(" ", "_"), [*cities, *known], n=1, cutoff=0.75)
    hint = (
        f"the closest is {cities.get(close[0]) or known[close[0]]}" if close else "expected one such as Europe/Berlin"
    )
    raise ValueError(f"{text[:_LONGEST_WORD]!r} is not a time zone; {hint}")


@cache
def _known_zones() -> dict[str, str]:
    return {name.lower(): name for name in available_timezones()}


def _to_utc(day: date, at: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, at, zone).astimezone(UTC)
