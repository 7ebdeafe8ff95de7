"""The sandbox's exceptions.

Exception
├── SlackError      the Web API answers `ok: false`; raised inside, never reaches the sandbox's caller
└── SandboxError    the caller asked for something that Slack's clients do not offer
    └── RefusedError     the client itself would refuse to send this, with a message beside each field
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def listed(names: Iterable[str]) -> str:
    """Names as written in a sentence, such as `ann, ben`; `none` if there are none."""
    return ", ".join(names) or "none"


class SlackError(Exception):
    """A Web API answer with `ok: false`.

    Args:
        code: Slack's name of the error, such as `channel_not_found`.
        messages: Details, as Slack puts them into `response_metadata.messages`.
        retry_after_s: Makes the answer an HTTP 429 with this `Retry-After`.
        extra: Further top-level keys of the answer, such as `needed` and `provided`.
    """

    def __init__(
        self,
        code: str,
        messages: Sequence[str] = (),
        retry_after_s: int | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.messages = list(messages)
        self.retry_after_s = retry_after_s
        self.extra = extra

    def body(self) -> dict[str, Any]:
        """The answer's JSON."""
        body: dict[str, Any] = {"ok": False, "error": self.code, **self.extra}
        if self.messages:
            body["response_metadata"] = {"messages": self.messages}
        return body


class SandboxError(Exception):
    """The sandbox was asked for something that no Slack client offers; the message says what to do."""


class RefusedError(SandboxError):
    """The Slack client would not send this; `errors` maps a block id to the message that it shows
    there.
    """

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{block}: {text}" for block, text in errors.items()))
        self.errors = dict(errors)
