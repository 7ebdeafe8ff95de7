"""Errors that prevent a verdict. Nonsense from a model is not an error: it gives an unscored
verdict.

    JudgeError
    ├── RubricError            the rubric is missing or malformed
    ├── SetupError             a setting, option or file is missing or wrong
    │   └── KeyRejectedError   the server refuses the key
    ├── ModelNotFoundError     the server has no such model
    ├── RequestRejectedError   the server refuses this request, and would again
    ├── RateLimitedError       too many requests at the moment
    │   └── QuotaExceededError the account is out of credit
    ├── UnavailableError       the server is unreachable or fails
    ├── DeadlineError          no verdict within timeout_s
    └── BadResponseError       the answer is not one of the Chat Completions API

Every message is one plain sentence that names the setting to change. None contains a key or a
judged text.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class JudgeError(Exception):
    """There is no verdict, for a reason that a person can fix; `str(error)` is the sentence to show
    them.

    Attributes:
        is_too_long: Whether the texts are too long, so that another attempt would fail too.
        ratings: The ratings that came before the failure; `Judge.score` takes them as `earlier`.
    """

    is_too_long = False
    ratings: tuple[Any, ...] = ()


class RubricError(JudgeError):
    """The rubric cannot be found, or its text is not a valid rubric."""


class SetupError(JudgeError):
    """A setting, option or file is missing or wrong."""


class KeyRejectedError(SetupError):
    """The server refuses the key (401 or 403)."""


class ModelNotFoundError(JudgeError):
    """The server has no model of that name (404)."""


class RequestRejectedError(JudgeError):
    """The server refuses the request itself (400, 413, 422); asking again would not help."""


class RateLimitedError(JudgeError):
    """Too many requests (429), even after our own retries."""


class QuotaExceededError(RateLimitedError):
    """The account is out of credit; waiting would not help."""


class UnavailableError(JudgeError):
    """The server cannot be reached, drops the connection, or fails (5xx), even after our own
    retries.
    """


class DeadlineError(JudgeError):
    """`timeout_s` passed before enough ratings arrived."""


class BadResponseError(JudgeError):
    """The answer is neither a completion nor an error: other content with status 200, a redirect,
    or it is too long.
    """


HOPELESS = SetupError, ModelNotFoundError, QuotaExceededError
"""Errors after which no other text would succeed either."""


@contextmanager
def needs_extra(
    what: str, extra: str, *packages: str, error: type[Exception] = SetupError
) -> Iterator[None]:
    """A context that raises `error` if a package of an extra is missing, and says how to install
    the extra.
    """
    try:
        yield
    except ModuleNotFoundError as exc:
        package = (exc.name or "").partition(".")[0]
        if package not in packages:
            raise
        setup = Path(__file__).parents[1] / "tools" / "setup"
        of_checkout = f"sh '{setup}' --no-dev --inexact --extra {extra}"  # its .venv has no pip
        command = of_checkout if setup.exists() else f"pip install 'slack-judge[{extra}]'"
        raise error(f"{what} needs {package}: {command}") from exc
