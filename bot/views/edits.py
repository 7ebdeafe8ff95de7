"""What a verdict says once its question or response was edited, deleted or forgotten."""

from typing import Any

from bot.domain.case import LoggedCase
from bot.slack import ids
from bot.store.cases import EditedCase
from bot.views.elements import context

_QUOTES = {ids.BLOCK_JUSTIFICATION, ids.BLOCK_LOW_JUSTIFICATION, ids.BLOCK_QUOTED_QUESTION}
_BUTTONS = {"actions", "context_actions"}
_EDITED = "*Scored before an edit*: the question or the response has been changed since."
_DELETED = "The question or the response was deleted; what I had quoted of it is gone."
_FORGOTTEN = "What I had quoted is gone: somebody whose words were in it asked me to forget them."


def amend_blocks(blocks: list[dict[str, Any]], case: LoggedCase | EditedCase) -> list[dict[str, Any]]:
    """A verdict's blocks, with the line that is due above the buttons; the same again where it is there."""
    line = _line(case)
    if line is None:
        return blocks
    gone = {ids.BLOCK_AMENDMENT} | (_QUOTES if case.loses_words else set())
    kept = [block for block in blocks if block.get("block_id") not in gone]
    at = next((number for number, block in enumerate(kept) if block["type"] in _BUTTONS), len(kept))
    return [*kept[:at], line, *kept[at:]]


def amend_text(text: str, case: LoggedCase | EditedCase) -> str:
    """A verdict's text for notifications, without the justification where that has to go."""
    return text.partition(":")[0] if case.loses_words and text.startswith("Score ") else text


def _line(case: LoggedCase | EditedCase) -> dict[str, Any] | None:
    words = _EDITED if case.edited_at else None
    if case.loses_words:
        words = _DELETED if case.deleted_at else _FORGOTTEN
    if words is None:
        return None
    return context(words) | {"block_id": ids.BLOCK_AMENDMENT}
