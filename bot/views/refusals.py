"""Why something is not done for a person, in one plain sentence."""

from bot.domain.refusal import Refusal, RefusalKind
from bot.slack.memberships import MembershipError
from bot.views.obstacles import A_PERSONS

NO_CASE = "That case is no longer in the log, or not for you to see. You can score the reply anew."
WENT_WRONG = "Something went wrong on my side. Please try again; the log of the app has the details."
FOREIGN = "Only people of this workspace can ask for a score here."
NOT_SERVED = "I serve another workspace. Whoever runs me would have to start me once more, with the token of this one."
FOREIGN_LABEL = "Only people of this workspace can label a score here."
OWN_LABEL = "You wrote this reply, so a score that you give it would say nothing about the judge. I recorded none."
NOT_IN_BOTH = (
    "I can score a message only in a channel that we are both in. "
    "If you are in that one, type `/invite @Slack Judge` there."
)
BUTTON_TOO_SLOW = "Slack gave me too little time to open the window. Please press the button again."
COMMAND_TOO_SLOW = "Slack gave me too little time to open the window. Please type `/judge` again."
_CHANNEL_OFF = "Whoever runs me has switched scoring off in that channel."
_LIMIT = "which is the limit here. Please try again later."
_NO_TOKENS_LEFT = "This workspace has used up what it allows itself for one day. Please try again later."


def refusal_text(refusal: Refusal) -> str:
    """Why a person cannot have a case now."""
    match refusal.kind:
        case RefusalKind.FOREIGN:
            return FOREIGN
        case RefusalKind.CHANNEL_OFF:
            return _CHANNEL_OFF
        case RefusalKind.PEOPLE_OFF:
            return A_PERSONS
        case RefusalKind.NO_TOKENS_LEFT:
            return _NO_TOKENS_LEFT
        case RefusalKind.TOO_MANY_CASES:
            return f"You have asked for {_cases(refusal)} within the last hour, {_LIMIT}"
        case RefusalKind.TOO_MANY_IN_WORKSPACE:
            return f"This workspace has asked for {_cases(refusal)} within the last 24 hours, {_LIMIT}"


def _cases(refusal: Refusal) -> str:
    return "one case" if refusal.most == 1 else f"{refusal.most:,} cases"


def unsure_of_membership(error: MembershipError) -> str:
    """For when Slack does not say whether a person may see a channel, and something was to be done there."""
    return f"Slack does not tell me whether you are in that channel (`{error}`), so I did nothing. {_advice(error)}"


def unsure_of_link(error: MembershipError) -> str:
    """The same for a link into a channel."""
    return (
        f"Slack does not tell me whether you are in that channel (`{error}`), so I leave its messages alone. "
        f"{_advice(error)}"
    )


def _advice(error: MembershipError) -> str:
    if str(error) == "missing_scope":
        return "Whoever runs me: `judge-bot doctor` says how to mend that."
    return "Please try again."
