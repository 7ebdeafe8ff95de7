"""Converts exported rows to the formats of other tools; each function takes a row of `to_row` with texts."""

import re
from collections.abc import Callable, Mapping
from typing import Any

_TEXTS = ("prompt", "completion")
# promptfoo renders {{ }}, {% %} and {# #} in every string of a test, including {{ env.OPENAI_API_KEY }}. It replaces a
# string that begins with file:// or package: with the content of the file or the result of the code. How often it
# renders depends on the prompt, so an escape would be undone too early or not at all; a space in them always works.
# A #} alone is an error.
_TEMPLATE = re.compile(r"\{(?=[{%#])|#(?=\})")
_REFERENCE = re.compile(r"\A\s*(?:package(?=:)|(?!https?:)[a-z][\w+.-]*(?=://))", re.IGNORECASE)


def to_inspect(row: Mapping[str, Any]) -> dict[str, Any]:
    """A sample for `inspect_ai.dataset.json_dataset`: the question, and the label as the target."""
    target = "" if row["human"] is None else str(row["human"])
    metadata = {"response": row["completion"], **_others(row)}
    return {"id": _name(row), "input": row["prompt"], "target": target, "metadata": metadata}


def to_promptfoo(row: Mapping[str, Any]) -> dict[str, Any]:
    """A test for promptfoo, whose texts it uses literally."""
    texts = {"question": row["prompt"], "response": row["completion"]}
    test: dict[str, Any] = _inert({"description": _name(row), "vars": texts, "metadata": _others(row)})
    return test


def to_langfuse(row: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of Langfuse's `create_dataset_item`. The id stays the same, so a second import changes the item."""
    return {
        "dataset_name": "slack-judge",
        "id": f"{row['thread']}-{_name(row)}",  # unique among all datasets of a project
        "input": {"question": row["prompt"], "response": row["completion"]},
        "expected_output": None if row["human"] is None else {"score": row["human"]},
        "metadata": _others(row),
    }


CONVERTERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "inspect": to_inspect,
    "promptfoo": to_promptfoo,
    "langfuse": to_langfuse,
}
"""The converters by format; all of them need the texts."""


def _name(row: Mapping[str, Any]) -> str:
    """A name for the row, different for each person who labelled the case."""
    return f"case-{row['case']}" + (f"-{row['label_by']}" if row["label_by"] else "")


def _others(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _TEXTS}


def _inert(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _inert(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_inert(each) for each in value]
    return _REFERENCE.sub(r"\g<0> ", _TEMPLATE.sub(r"\g<0> ", value)) if isinstance(value, str) else value
