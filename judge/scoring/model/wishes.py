"""What a request asks of a server beside the prompt: effort, tier, options of its own, and the
length of an answer.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from judge.errors import SetupError

FLEX: Final = "flex"
"""The tier with batches' prices on ordinary requests, answered within minutes and if there is capacity."""
NO_EFFORT: Final = "none"
"""The effort of a model that answers without thinking."""
_WORD = re.compile(r"[\w.-]{1,40}")


@dataclass(frozen=True)
class Wishes:
    """The same for all requests to one model."""

    effort: str | None = None  # `reasoning_effort`, in the server's word
    options: Mapping[str, Any] | str | None = field(
        default=None, repr=False
    )  # maybe as JSON; may be secret
    tier: str | None = None  # `service_tier`, in the server's word
    most_tokens: int | None = (
        None  # of an answer, thinking included; None for a limit that fits the model
    )

    def __post_init__(self) -> None:
        for name, word in (("JUDGE_EFFORT", self.effort), ("JUDGE_TIER", self.tier)):
            if word is not None and not _WORD.fullmatch(word):
                raise SetupError(
                    f"{name} is {word[:50]!r}; give one word that the server knows, such "
                    "as low or flex."
                )
        if self.most_tokens is not None and not self.most_tokens >= 1:
            raise SetupError(
                f"JUDGE_ANSWER_TOKENS is {self.most_tokens!r}; a verdict takes tokens, so "
                "set 1 or more."
            )
        # What the judge itself sets, or could not read the answer to.
        if own := [
            name
            for name in ("messages", "input", "questions", "model", "n", "stream")
            if name in self.fields
        ]:
            raise SetupError(
                f"JUDGE_OPTIONS has {own[0]!r}, which the judge sets itself; leave it out."
            )

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        given: object = self.options or {}
        try:
            given = json.loads(given) if isinstance(given, str) else given
            json.dumps(given, allow_nan=False)
        except (ValueError, TypeError, RecursionError):
            given = None
        if not isinstance(given, Mapping):
            raise SetupError(
                'JUDGE_OPTIONS is no JSON object; write one such as {"chat_template_kwargs": {}}.'
            )
        return given

    @cached_property
    def version(self) -> list[str]:
        """What of it makes scores comparable, in words."""
        digest = sha256(json.dumps(self.fields, sort_keys=True).encode()).hexdigest()[:8]
        return [
            *([f"effort {self.effort}"] if self.effort else []),
            *([f"options {digest}"] if self.fields else []),
        ]
