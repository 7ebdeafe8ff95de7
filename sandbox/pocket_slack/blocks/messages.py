"""The blocks of a message."""

from collections.abc import Iterator
from typing import Any

from pocket_slack.blocks.layouts import IN_MESSAGES
from pocket_slack.blocks.nesting import with_nested
from pocket_slack.blocks.schema import Report, array, union
from pocket_slack.errors import SlackError

MOST_BLOCKS = 50
LONGEST_TEXTS = 13_000
BLOCK_COUNTS_AS = 40
"""How Slack measures `msg_blocks_too_long` is not documented. Users report: a message of markdown blocks passes with up
to 13,297 characters, fewer with each further block (bolt-js#2509); 9,597 characters in 50 mixed blocks pass and 11,341
in 45 do not (bolt-js#2867). Counting 40 for each block, up to 13,000 in total, agrees with the mixed blocks and is
stricter than Slack with markdown."""

MARKDOWN_TEXTS = 12_000
"""Characters in all markdown blocks of a message: https://docs.slack.dev/reference/block-kit/blocks/markdown-block"""

TABLE_TEXTS = 10_000
"""Characters in all tables of a message: https://docs.slack.dev/reference/block-kit/blocks/table-block"""

AT_MOST = {"table": 1, "data_visualization": 2}

_CHECK = array(union(IN_MESSAGES), MOST_BLOCKS)


def check_blocks(blocks: Any) -> None:
    """Checks the blocks of a message.

    Raises:
        SlackError: `invalid_blocks` with the reasons, `msg_blocks_too_long`, or
            `invalid_blocks_format`.
    """
    if not isinstance(blocks, list):
        raise SlackError("invalid_blocks_format")
    if wrong := find_wrong(blocks):
        found = [f"{text} [json-pointer:{pointer}]" for text, pointer in wrong]
        raise SlackError("invalid_blocks", [f"[ERROR] {text}" for text in found], errors=found)
    if is_too_long(blocks):
        raise SlackError("msg_blocks_too_long")


def find_wrong(blocks: Any) -> list[tuple[str, str]]:
    """What is wrong with the blocks of a message, and the JSON pointers to it."""
    found: list[tuple[str, str]] = []

    def report(text: str, pointer: str) -> None:
        found.append((text, pointer))

    _CHECK(blocks, "/blocks", report)
    if not found:
        check_ids(blocks, "/blocks", report)
        _check_counts(blocks, report)
    return found


def is_too_long(blocks: list[Any]) -> bool:
    """Whether the texts of blocks are too long together."""
    return sum(map(len, texts_of(blocks))) + BLOCK_COUNTS_AS * len(blocks) > LONGEST_TEXTS


def check_ids(blocks: list[Any], pointer: str, report: Report) -> None:
    """Reports blocks of a surface with the same `block_id`, and elements of a block with the same
    `action_id`.
    """
    seen: set[str] = set()
    for block, where in with_nested(blocks, pointer):
        if block.get("block_id") in seen:
            report(f"`block_id` already exists: {block['block_id']}", f"{where}/block_id")
        seen |= {block["block_id"]} if "block_id" in block else set()
        name = "actions" if block["type"] == "card" else "elements"
        actions = [
            element.get("action_id") for element in block.get(name, []) if "action_id" in element
        ]
        for action in {action for action in actions if actions.count(action) > 1}:
            report(f"`action_id` already exists: {action}", f"{where}/{name}")


def texts_of(value: Any) -> Iterator[str]:
    """Every string under a key `text`, at any depth."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key == "text" and isinstance(one, str):
                yield one
            else:
                yield from texts_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_of(one)


def _check_counts(blocks: list[Any], report: Report) -> None:
    kinds = [block["type"] for block, _ in with_nested(blocks)]
    for kind, most in AT_MOST.items():
        if kinds.count(kind) > most:
            report(f"no more than {most} {kind} blocks allowed", "/blocks")
    markdown = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    if markdown > MARKDOWN_TEXTS:
        report(f"must be less than {MARKDOWN_TEXTS + 1} characters", "/blocks")
    for block, where in with_nested(blocks, "/blocks"):
        if block["type"] in ("table", "data_table"):
            _check_table(block, where, report)


def _check_table(block: dict[str, Any], pointer: str, report: Report) -> None:
    if sum(map(len, texts_of(block["rows"]))) > TABLE_TEXTS:
        report(f"must be less than {TABLE_TEXTS + 1} characters", f"{pointer}/rows")
    if len({len(row) for row in block["rows"]}) > 1 and block["type"] == "data_table":
        report("every row must have the same number of cells", f"{pointer}/rows")
