"""The check of blocks, messages and views that posts nothing.

Source: https://docs.slack.dev/reference/methods/blocks.validate
"""

import re
from typing import Any

from pocket_slack.blocks import find_wrong, find_wrong_in_view, is_too_long
from pocket_slack.blocks.messages import LONGEST_TEXTS
from pocket_slack.blocks.schema import NoneOf
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Json

_KINDS = ("blocks", "message", "view")
_NUMBER = re.compile(r"(less|more) than (\d+) characters|no (more|fewer) than (\d+) ")


def validate(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/blocks.validate"""
    given = {
        name: call.json(name, "invalid_arguments")
        for name in _KINDS
        if call.args.get(name) not in (None, "")
    }
    if len(given) != 1:
        raise SlackError(
            "invalid_arguments", ["must provide exactly one of `blocks`, `view`, or `message`"]
        )
    ((kind, value),) = given.items()
    if kind != "blocks" and not isinstance(value, dict):
        raise SlackError("invalid_arguments", [f"[ERROR] must provide an object: {kind}"])
    if kind == "view":
        wrong = find_wrong_in_view(value, "home" if value.get("type") == "home" else "modal")
    else:
        blocks = value if kind == "blocks" else value.get("blocks", [])
        wrong = find_wrong(blocks)
        if not wrong and is_too_long(blocks):
            wrong = [(f"must be less than {LONGEST_TEXTS + 1} characters", "/blocks")]
    if wrong:
        # A pointer begins at what was given.
        start = "/view" if kind == "view" else "/blocks" if kind == "blocks" else ""
        raise SlackError(
            f"invalid_{kind}", errors=[_error(text, at.removeprefix(start)) for text, at in wrong]
        )
    return {}


def _error(text: str, pointer: str) -> Json:
    return {
        "pointer": pointer,
        "code": "failed_constraint",
        "message": str(text),
        "constraint": _constraint(text),
    }


def _constraint(text: str) -> dict[str, Any]:
    """What was expected. Only that of an enum is documented; the names of the others are ours."""
    if isinstance(text, NoneOf):
        return {"type": "enum", "expected": text.expected}
    if found := _NUMBER.search(text):
        than, characters, side, items = found.groups()
        if characters:
            is_most = than == "less"
            return {
                "type": "max_length" if is_most else "min_length",
                "expected": int(characters) - (1 if is_most else -1),
            }
        return {"type": "max_items" if side == "more" else "min_items", "expected": int(items)}
    return {"type": "schema"}
