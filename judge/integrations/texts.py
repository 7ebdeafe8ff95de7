"""Finds the question and the response in the values that other tools pass."""

from collections.abc import Mapping, Sequence
from typing import Any


def find_text(value: Any, role: str) -> str:
    """The text in `value`: a string itself, the last message by `role`, or in a mapping its messages or only string.

    Raises:
        ValueError: There is no text, or there are several and it is not clear which one is meant.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and "messages" not in value:
        texts = [each for each in value.values() if isinstance(each, str)]
        if len(texts) == 1:
            return texts[0]
        raise ValueError(f"one text was looked for, or 'messages', among {', '.join(map(repr, value)) or 'no fields'}")
    messages = value["messages"] if isinstance(value, Mapping) else value
    is_list = isinstance(messages, Sequence) and all(isinstance(each, Mapping) for each in messages)
    own = [each.get("content") for each in messages if each.get("role") == role] if is_list else []
    if not own:
        raise ValueError(f"a string or a message by the {role} was looked for in a {type(value).__name__}")
    parts = [{"text": own[-1]}] if isinstance(own[-1], str) else own[-1] or []
    return "\n".join(part["text"] for part in parts if "text" in part)
