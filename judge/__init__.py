"""The judge core: a question and a response become a verdict.

    from judge import Judge

    async with Judge() as judge:
        verdict = await judge.score("What is 2 + 2?", "Four.")
    print(verdict.score, verdict.justification)

The names below are a contract; everything else in the package may change.
"""

from judge.errors import (
    BadResponseError,
    DeadlineError,
    JudgeError,
    KeyRejectedError,
    ModelNotFoundError,
    QuotaExceededError,
    RateLimitedError,
    RequestRejectedError,
    RubricError,
    SetupError,
    UnavailableError,
)
from judge.scoring.attacks import find_flags, nothing_to_judge
from judge.scoring.conversation import Turn
from judge.scoring.judging import Judge
from judge.scoring.model import DEFAULT_MODEL
from judge.scoring.prompt import render_prompt
from judge.scoring.ratings import Flag, Rating, Unscored, UnscoredReason, Verdict
from judge.scoring.reading import parse_rating
from judge.scoring.rubric import DEFAULT_RUBRIC, Rubric, Scale, list_rubrics, load_rubric

__all__ = [
    "DEFAULT_MODEL",
    "DEFAULT_RUBRIC",
    "BadResponseError",
    "DeadlineError",
    "Flag",
    "Judge",
    "JudgeError",
    "KeyRejectedError",
    "ModelNotFoundError",
    "QuotaExceededError",
    "RateLimitedError",
    "Rating",
    "RequestRejectedError",
    "Rubric",
    "RubricError",
    "Scale",
    "SetupError",
    "Turn",
    "UnavailableError",
    "Unscored",
    "UnscoredReason",
    "Verdict",
    "find_flags",
    "list_rubrics",
    "load_rubric",
    "nothing_to_judge",
    "parse_rating",
    "render_prompt",
]
