"""What `/judge digest` says of itself, and of what is set for a channel."""

from datetime import datetime

from bot.slack.access import NoAccess, NoAccessReason
from bot.slack.mrkdwn import escape
from bot.store.digests import ChannelSettings
from bot.weeks.week import Schedule

POSTED = "The week so far is posted here; the weekly digest comes all the same."
POSTED_BEFORE = (
    "Somebody had a digest posted here within the last hour, and more often would be too much for the others; "
    "`/judge digest preview` shows it to you alone."
)
_NO_ACCESS = {
    NoAccessReason.DIRECT_MESSAGES: "Digests and watches are about a channel; there are none for direct messages.",
    NoAccessReason.APP_IS_NOT_IN: "I am not in this channel. Type `/invite @Slack Judge` first.",
    NoAccessReason.PERSON_IS_NOT_IN: "Only people in this channel can see or change its digest and what it watches.",
    NoAccessReason.GUEST: "Guests cannot post or change a digest, or a watch; ask a member of this workspace.",
    NoAccessReason.NOT_AN_ADMIN: "Only admins of this workspace can change digests or watches here (DIGEST_BY).",
}
_HELP = """\
• `/judge digest on` posts each week here once it is over; `/judge digest on friday 16:00 Europe/Berlin` says when
• `/judge digest off` stops it
• `/judge digest now` posts the week so far, at most once an hour; `/judge digest preview` shows it to you alone
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


def not_understood(reason: str) -> str:
    """What `/judge digest` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. This is what I understand:\n{_HELP}"


def not_posted(error: str) -> str:
    """For when Slack refuses a digest that was asked for."""
    return f"Slack did not let me post here (`{error}`)."


def no_access_text(refusal: NoAccess) -> str:
    """Why a person may not see a channel's digest, or not change it."""
    if refusal.reason is NoAccessReason.UNSURE:
        return f"Slack does not let me see who is in this channel (`{refusal.error}`), so I leave its digest alone."
    return _NO_ACCESS[refusal.reason]
