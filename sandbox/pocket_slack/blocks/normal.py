"""How Slack stores blocks: with the ids and defaults that the app left out."""

from typing import Any

from pocket_slack.blocks.nesting import with_nested
from pocket_slack.ids import Ids

_DEFAULTS = {"plain_text": {"emoji": True}, "mrkdwn": {"verbatim": False}}


def normalised(blocks: list[dict[str, Any]], ids: Ids) -> list[dict[str, Any]]:
    """The blocks, with missing `block_id`s, `action_id`s and defaults of texts filled in."""
    stored: list[dict[str, Any]] = with_emoji(blocks)
    for block, _ in with_nested(stored):
        _complete(block, ids)
    return stored


def with_emoji(value: Any) -> Any:
    """A copy in which each text object has its default fields: `emoji` or `verbatim`."""
    if isinstance(value, list):
        return [with_emoji(one) for one in value]
    if isinstance(value, dict):
        defaults = _DEFAULTS.get(str(value.get("type")), {})
        return {
            key: with_emoji(one)
            for key, one in (value | {k: v for k, v in defaults.items() if k not in value}).items()
        }
    return value


def _complete(block: dict[str, Any], ids: Ids) -> None:
    block.setdefault("block_id", ids.short())
    clickable = {"actions": "elements", "context_actions": "elements", "card": "actions"}.get(
        block["type"], ""
    )
    for element in [block.get("accessory"), block.get("element"), *block.get(clickable, [])]:
        if element and element["type"] != "image":
            element.setdefault("action_id", ids.short())
