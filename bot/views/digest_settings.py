"""What `/judge digest` says of itself, and of what is set for a channel."""

from datetime import datetime

from bot.log.digests import ChannelSettings
from bot.weeks.week import Schedule

_HELP = """\
• `/judge digest on` posts each week here once it is over; `/judge digest on friday 16:00 Europe/Berlin` says when
• `/judge digest off` stops it
• `/judge digest now` posts the week so far, `/judge digest preview` shows it to you alone
• `/judge digest people on` lists people beside bots, `/judge digest people off` stops that
• `/judge digest` says what is set"""


def digest_state(settings: ChannelSettings, schedule: Schedule, now: datetime) -> str:
    """What is set for a channel, in a sentence or two."""
    people = " People are listed beside bots." if settings.ranks_people else ""
    if not settings.is_digest_on:
        return f"The digest is off in this channel; `/judge digest on` switches it on, for every {schedule}.{people}"
    following = schedule.next_due(now)
    return (
        f"The digest is on in this channel: every {schedule}, about the week before, Monday to Sunday. "
        f"The next one comes on {following:%A}, {following.day} {following:%b}.{people}"
    )


def digest_help() -> str:
    """What `/judge digest` can do."""
    return _HELP
