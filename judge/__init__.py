"""The judge core: a question and a response become a verdict.

    from judge import Judge

    async with Judge() as judge:
        verdict = await judge.score("What is 2 + 2?", "Four.")
    print(verdict.score, verdict.justification)

The names below are a contract; everything else in the package may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from judge.scoring.model.chat import DEFAULT_MODEL
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

_MODULES = (
    *(
        "errors",
        "scoring.rubric",
        "scoring.ratings",
        "scoring.conversation",
        "scoring.attacks",
        "scoring.model.chat",
    ),
    *("scoring.reading", "scoring.prompt", "scoring.judging"),
)


def __getattr__(name: str) -> object:
    """A name of the contract, imported when it is first used, because the help of a command needs
    none of them.
    """
    if name in __all__:
        for module in _MODULES:
            found = vars(import_module(f"judge.{module}"))
            if name in found:
                return found[name]
    raise AttributeError(f"module 'judge' has no attribute {name!r}")
