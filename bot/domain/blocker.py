"""Sentences for the requester: why there is nothing to judge, and why they cannot have a case."""

A_PERSONS = (
    "I score only bots' replies here, and I cannot tell that this one is from a bot (setting "
    "SCORE_PEOPLE)."
)
ANOTHERS = (
    "That reply is from another company, and I score only our own (setting COMPANIES_ALLOWED)."
)
FORGOTTEN = (
    "The author of the question or of the reply asked me to forget their words, so I do not score "
    "this."
)
GONE = "That message was deleted, or I am not in its channel. Type `/invite @Slack Judge` there."
MAY_NOT_READ = (
    "I cannot read messages here. Open the message's menu (⋮ More actions) and choose Score this "
    "reply, or type both texts: /judge question | response."
)
NO_QUESTION = "I could not find the question that this reply answers."
NO_TEXT = "That message has no text to score."
NOT_KEPT = "The texts of that case were not stored, so I cannot score them again."
OWN_MESSAGE = "That is one of my own messages, and I do not score myself."
TOO_LATE = "It was more than a day old before it could be scored."
UNREADABLE = "I cannot read that kind of message."

CHANNEL_OFF = "Scoring is switched off in that channel by the app's settings."
FOREIGN = "Only members of this workspace can use this app here."


def too_many(who: str, cases: int, when: str) -> str:
    """The sentence for a limit on cases that `who` has used up; `when` is a period such as "in the
    last hour".
    """
    scores = "one score" if cases == 1 else f"{cases:,} scores"
    return f"{who} asked for {scores} {when}, which is the limit. Please try again later."


class RefusedError(Exception):
    """The requester cannot have a case now; the message is the sentence that tells them why."""
