"""What can go wrong before there is a verdict; a model that answers nonsense is not among it.

    JudgeError
    ├── RubricError            a rubric that is missing or malformed
    ├── SetupError             no key, or no place to send a request to
    │   └── KeyRejectedError   the server knows the key and refuses it
    ├── ModelNotFoundError     the server has no such model
    ├── RequestRejectedError   the server refuses this request, and would again
    ├── RateLimitedError       too many requests just now
    │   └── QuotaExceededError the account has nothing left
    ├── UnavailableError       unreachable, or failing on its own side
    ├── DeadlineError          no verdict within timeout_s
    └── BadResponseError       no answer of the Chat Completions API

Every message is one plain sentence that names the setting to change. None holds a key or a judged text.
"""


class JudgeError(Exception):
    """No verdict, for a reason that a person can mend; `str(error)` is the sentence to show them.

    Attributes:
        is_too_long: Whether the reason is the length of the texts, which no other try would change.
    """

    is_too_long = False


class RubricError(JudgeError):
    """A rubric that cannot be found, or a file that is not one."""


class SetupError(JudgeError):
    """A setting is missing, so nothing was asked."""


class KeyRejectedError(SetupError):
    """The server refuses the key (401 or 403)."""


class ModelNotFoundError(JudgeError):
    """The server has no model of that name (404)."""


class RequestRejectedError(JudgeError):
    """The server refuses the request as such (400, 413, 422); asking again would not help."""


class RateLimitedError(JudgeError):
    """Too many requests (429), also after our own retries."""


class QuotaExceededError(RateLimitedError):
    """The account is out of credit; waiting would not help."""


class UnavailableError(JudgeError):
    """The server cannot be reached, drops the connection, or fails (5xx), also after our own retries."""


class DeadlineError(JudgeError):
    """`timeout_s` was up before enough ratings were in."""


class BadResponseError(JudgeError):
    """No chat completion, though no error either: something else with status 200, a redirect, or more than is read."""


HOPELESS = SetupError, ModelNotFoundError, QuotaExceededError
"""After these no other text would fare better."""
