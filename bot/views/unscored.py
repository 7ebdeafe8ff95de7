"""Why there is no score, in one plain sentence for the person who asked."""

from bot.domain.verdict import RecordedVerdict

_OPERATOR = "whoever runs this app finds the reason in its log"

_BY_REASON = {
    "SetupError": f"The judge is not set up; {_OPERATOR}.",
    "KeyRejectedError": f"The model's server refuses our key; {_OPERATOR}.",
    "ModelNotFoundError": f"The model's server does not know our model; {_OPERATOR}.",
    "RequestRejectedError": f"The model's server refused the request; {_OPERATOR}.",
    "RateLimitedError": "The model's server has too much to do right now; try again in a few minutes.",
    "QuotaExceededError": f"The account with the model's server has nothing left; {_OPERATOR}.",
    "UnavailableError": "The model's server cannot be reached right now; try again in a few minutes.",
    "DeadlineError": "The model took too long to answer; try again in a few minutes.",
    "BadResponseError": f"The model's server answered something unreadable; {_OPERATOR}.",
    "call_failed": "The model's server cannot be reached right now; try again in a few minutes.",
    "fault": f"Something is wrong on my side; {_OPERATOR}.",
    "split": "The judges do not agree with each other, and I do not pick one of them.",
    "refused": "The model declined to judge this.",
    "filtered": "The model's server filtered this out.",
}

_IN_SHORT = {
    "refused": "declined by the model",
    "filtered": "filtered out by the model's server",
    "split": "judges too far apart",
    "nothing_to_judge": "nothing to judge",
    "too_long": "too long to judge",
    "obstacle": "nothing to judge",
    "call_failed": "model out of reach",
    "fault": "an error of the app",
}


def in_short(reason: str) -> str:
    """The same in a few words, for lists and tables."""
    no_score = _IN_SHORT["call_failed"] if reason.endswith("Error") else "no reliable score in the model's answer"
    return _IN_SHORT.get(reason, no_score)


def why_unscored(verdict: RecordedVerdict) -> str:
    """The sentence for a verdict without a score; never a guess, never the model's own words."""
    reason = verdict.unscored_reason or ""
    if reason in {"obstacle", "nothing_to_judge", "too_long"}:
        return verdict.unscored_detail or ""
    return _BY_REASON.get(reason, "The model's answers held no score that I could rely on, and I do not guess.")
