"""Reads what the person typed: after `/judge rubric`, and in the window for a rubric."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from bot.features.rubrics import ids
from bot.slack.commands import unknown
from bot.slack.invocation import typed

DEFAULT = "default"
"""In place of a rubric's name: the one in the app's settings."""
LONGEST_NAME = 40
_NAME = re.compile(r"[^\W_]+(-[^\W_]+)*")


@dataclass(frozen=True)
class RubricRequest:
    """What `/judge rubric` should do, and with which rubric and model; None is the model of the settings."""

    action: Literal["state", "use", "view", "edit", "delete", "improve"]
    name: str = ""
    model: str | None = None


def parse_rubric(text: str) -> RubricRequest:
    """The request in the text after `/judge rubric`; names of models keep their upper and lower case."""
    match text.split():
        case []:
            return RubricRequest("state")
        case ["use", name, model]:
            return RubricRequest("use", name.lower(), model)
        case ["use" | "edit" | "delete" as action, name]:
            return RubricRequest(action, name.lower())
        case ["edit" | "improve" as action]:
            return RubricRequest(action)
        case _:
            raise unknown(text)


def typed_rubric(body: dict[str, Any]) -> tuple[str, str]:
    """The name and the prompt, whose two fields are joined by a newline, where the text was split."""
    values = body["view"]["state"]["values"]
    fields = (typed(values, block) for block in (ids.BLOCK_PROMPT, ids.BLOCK_PROMPT_REST))
    prompt = "\n".join(field for field in fields if field)
    return typed(values, ids.BLOCK_NAME).lower(), f"{prompt}\n"


def is_name(text: str) -> bool:
    """Whether a rubric may have this name: lower-case letters and digits, with single hyphens between them."""
    return len(text) <= LONGEST_NAME and text == text.lower() and bool(_NAME.fullmatch(text)) and text != DEFAULT
