"""The times that `/judge stats` and `judge-bot digest --week` know: weeks, months and a day's week."""

from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta

from bot.domain.week import Schedule, Week

WHEN = "`last week`, `4 weeks`, `October`, `16 Nov` or `2026-11-16`"
_DAYS = ("%Y-%m-%d", "%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y")
_MONTHS = ("%b %Y", "%B %Y")
_MOST_WEEKS = 52


def read_when(text: str, schedule: Schedule, now: datetime) -> Week:
    """The time that the words name, by a channel's clock; without words, the week so far.

    A day names its week. A day or month without a year is the latest that has begun.

    Raises:
        ValueError: The words name none, or one to come.
    """
    match text.lower().split():
        case [] | ["this", "week"]:
            return schedule.current(now)
        case ["last", "week"]:
            return schedule.latest(now)
        case [number, "week" | "weeks"] if number.isdecimal() and 0 < int(number) <= _MOST_WEEKS:
            return Week.until(now, schedule.zone, int(number))
    today = now.astimezone(schedule.zone).date()
    if day := _date(text, _DAYS, today):
        # The week in which most of the day is, also if the digest comes in its midst.
        found = schedule.current(_midnight(day + timedelta(days=1), schedule) - timedelta(hours=1))
    elif month := _date(text, _MONTHS, today):
        following = _midnight((month + timedelta(days=31)).replace(day=1), schedule)
        found = Week(_midnight(month, schedule), min(following, now), schedule.zone)
    else:
        raise ValueError(f"I do not know the time {text[:80]!r}; I know {WHEN}")
    if found.start > now:
        raise ValueError(f"{text[:80]!r} is still to come; I know {WHEN}")
    return found


def _date(text: str, forms: tuple[str, ...], today: date) -> date | None:
    for form in forms:
        for typed in (text, f"{text} {today.year}", f"{text} {today.year - 1}"):
            with suppress(ValueError):
                day = datetime.strptime(typed, form).date()  # noqa: DTZ007 - of any zone
                if typed == text or day <= today:
                    return day
    return None


def _midnight(day: date, schedule: Schedule) -> datetime:
    return datetime.combine(day, time(), schedule.zone).astimezone(UTC)
