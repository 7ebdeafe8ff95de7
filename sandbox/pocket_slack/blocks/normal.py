"""How Slack stores blocks: with the ids and defaults that the app left out."""

from typing import Any

from pocket_slack.ids import Ids

_DEFAULTS = {"plain_text": {"emoji": True}, "mrkdwn": {"verbatim": False}}


def normalised(blocks: list[dict[str, Any]], ids: Ids) -> list[dict[str, Any]]:
    """The blocks, with missing `block_id`s, `action_id`s and defaults of texts filled in."""
    return [_block(block, ids) for block in blocks]


def with_emoji(value: Any) -> Any:
    """A copy in which each text object has its default fields: `emoji` or `verbatim`."""
    if isinstance(value, list):
        return [with_emoji(one) for one in value]
    if isinstance(value, dict):
        defaults = _DEFAULTS.get(str(value.get("type")), {})
        return {
            key: with_emoji(one) for key, one in (value | {k: v for k, v in defaults.items() if k not in value}).items()
        }
    return value


def _block(block: dict[str, Any], ids: Ids) -> dict[str, Any]:
    stored = with_emoji(block)
    if "block_id" not in stored:
        stored["block_id"] = ids.short()
    for element in [stored.get("accessory"), stored.get("element"), *_clickable(stored)]:
        if element and element["type"] != "image" and "action_id" not in element:
            element["action_id"] = ids.short()
    return dict(stored)


def _clickable(block: dict[str, Any]) -> list[dict[str, Any]]:
    return block.get("elements", []) if block["type"] in ("actions", "context_actions") else []
