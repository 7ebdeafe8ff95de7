"""Weeks, and when their digests are due in a channel's own time zone.

A text that is not a day, time or zone raises ValueError, whose message says what is expected.

A local time that a clock change skips counts as the same time on the old clock, so it comes later
by the skip. Of a local time that occurs twice, the first one counts. Source: PEP 495, fold=0.
"""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from judge.scoring.numbers import number_of

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LONGEST_WORD = 80  # characters of the text that an error message quotes


@dataclass(frozen=True)
class Week:
    """A channel's week: the seven days up to a time of its digest; other lengths follow a change of
    that time, or were asked for.

    Both ends are in UTC, but the days are counted on the zone's clocks.
    """

    start: datetime
    end: datetime
    zone: ZoneInfo

    @classmethod
    def until(cls, end: datetime, zone: ZoneInfo, weeks: int = 1) -> "Week":
        return cls(_earlier(end, weeks, zone), end, zone)

    @property
    def label(self) -> str:
        """When it ends, such as `2026-11-23T09:00+00:00`."""
        return self.end.isoformat(timespec="minutes")

    @property
    def days(self) -> int:
        return (self.end.astimezone(self.zone).date() - self.first_day).days

    @property
    def length(self) -> str:
        """Such as "week", "4 weeks" or "9 days"."""
        if self.days == 7:
            return "week"
        weeks, rest = divmod(self.days, 7)
        return number_of(self.days, "day") if rest else number_of(weeks, "week")

    @property
    def first_day(self) -> date:
        return self.start.astimezone(self.zone).date()

    def before(self, weeks: int = 1) -> "Week":
        """The seven days that many weeks before this week; 1 is right before it."""
        return Week.until(_earlier(self.start, weeks - 1, self.zone), self.zone)

    def previous(self) -> "Week":
        """The time of the same length right before it."""
        start = self.start.astimezone(self.zone) - timedelta(days=self.days)
        return Week(start.astimezone(UTC), self.start, self.zone)

    def after(self, last: datetime) -> "Week | None":
        """This week if the digest before it ended at `last`: no reply is left out, and none is in
        both.

        None if that is less than a day ago. After a pause of more than a week it is just this week.
        """
        if self.end - last < timedelta(days=1):
            return None
        return self if last < _earlier(self.start, 1, self.zone) else replace(self, start=last)


@dataclass(frozen=True)
class Schedule:
    """When a channel's digests are due, each about the week that ends then."""

    day: str
    time: time
    zone: ZoneInfo

    @classmethod
    def parse(cls, day: str, at: str, zone: str) -> "Schedule":
        return cls(parse_day(day), parse_time(at), parse_zone(zone))

    def changed(self, day: str | None, at: str | None, zone: str | None) -> "Schedule":
        """This schedule with a channel's own choices; None leaves a value as it is."""
        return Schedule(
            parse_day(day) if day else self.day,
            parse_time(at) if at else self.time,
            parse_zone(zone) if zone else self.zone,
        )

    def latest(self, now: datetime) -> Week:
        """The newest week that is over."""
        local = now.astimezone(self.zone)
        day = local.date() - timedelta(days=(local.weekday() - DAYS.index(self.day)) % 7)
        end = _to_utc(day, self.time, self.zone)
        return Week.until(
            end if end <= now else _to_utc(day - timedelta(weeks=1), self.time, self.zone),
            self.zone,
        )

    def current(self, now: datetime) -> Week:
        start = self.latest(now).end
        day = start.astimezone(self.zone).date() + timedelta(weeks=1)
        return Week(start, _to_utc(day, self.time, self.zone), self.zone)

    def __str__(self) -> str:
        return f"{self.day.title()} at {self.time:%H:%M} ({self.zone.key})"


def parse_day(text: str) -> str:
    """The day of the week named by a word such as "Friday" or "fri"."""
    word = text.lower()
    found = [day for day in DAYS if len(word) >= 3 and day.startswith(word)]  # as in fri
    if not found:
        raise ValueError(
            f"{text[:_LONGEST_WORD]!r} is not a day of the week; expected one such as Monday or fri"
        )
    return found[0]


def parse_time(text: str) -> time:
    """The time of day in a text such as "9:00" or "16:30"."""
    try:
        return datetime.strptime(text, "%H:%M" if ":" in text else "%H").time()  # noqa: DTZ007 - of any zone
    except ValueError:
        expected = "expected one such as 09:00 or 16:30"
        raise ValueError(f"{text[:_LONGEST_WORD]!r} is not a time of day; {expected}") from None


def parse_zone(text: str) -> ZoneInfo:
    """The time zone named by a text such as "Europe/Berlin", in any case."""
    name = _known_zones().get(text.lower())
    if name is None:
        expected = "expected one such as Europe/Berlin"
        raise ValueError(f"{text[:_LONGEST_WORD]!r} is not a time zone; {expected}")
    return ZoneInfo(name)


@cache
def _known_zones() -> dict[str, str]:
    return {name.lower(): name for name in available_timezones()}


def _earlier(moment: datetime, weeks: int, zone: ZoneInfo) -> datetime:
    """The same time on the zone's clocks that many weeks before."""
    return (moment.astimezone(zone) - timedelta(weeks=weeks)).astimezone(UTC)


def _to_utc(day: date, at: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, at, zone).astimezone(UTC)
