"""What is said of reactions that ask for a score."""

from bot.slack.access import NoAccess, NoAccessReason
from bot.slack.mrkdwn import escape

NOT_TOLD = (
    "Slack does not tell me of reactions here: whoever runs the app adds the event `reaction_added` and the scope "
    "`reactions:read` to its manifest (`manifest.watch.yml` has both), and installs it again."
)
_HELP = (
    "`/judge reaction :mag:` has each reply scored under which somebody puts that emoji, `/judge reaction off` ends it"
)
_NO_ACCESS = {
    NoAccessReason.DIRECT_MESSAGES: "A reaction is set for a channel; type that there.",
    NoAccessReason.APP_IS_NOT_IN: "I am not in this channel. Type `/invite @Slack Judge` first.",
    NoAccessReason.PERSON_IS_NOT_IN: "Only people in this channel can see or change its reaction.",
    NoAccessReason.GUEST: "Guests cannot change a channel's reaction; ask a member of this workspace.",
    NoAccessReason.NOT_AN_ADMIN: "Only admins of this workspace can change a channel's reaction (setting DIGEST_BY).",
}


def state(emoji: str | None, *, is_told: bool) -> str:
    """Which reaction asks for a score, in a sentence or two; `is_told` is whether Slack tells us of any."""
    if emoji is None:
        said = f"No reaction asks for a score in this channel. {_HELP}."
    else:
        said = f"Whoever puts :{emoji}: under a reply here has it scored. `/judge reaction off` ends that."
    return said if is_told else f"{said} {NOT_TOLD}"


def not_understood(reason: str) -> str:
    """What `/judge reaction` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. {_HELP}; an emoji is typed with its colons."


def no_access_text(refusal: NoAccess) -> str:
    """Why a person may not see a channel's reaction, or not change it."""
    if refusal.reason is NoAccessReason.UNSURE:
        return f"Slack does not let me see who is in this channel (`{refusal.error}`), so I leave its reaction alone."
    return _NO_ACCESS[refusal.reason]
