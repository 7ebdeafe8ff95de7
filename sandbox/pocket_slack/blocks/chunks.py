"""The pieces of a message that is being streamed.

Source: https://docs.slack.dev/reference/methods/chat.appendStream#chunks
"""

from typing import Any

from pocket_slack.blocks.layouts import IN_MESSAGES
from pocket_slack.blocks.messages import MOST_BLOCKS
from pocket_slack.blocks.schema import anything, array, boolean, choice, record, string, union
from pocket_slack.errors import SlackError

LONGEST_PIECE = 12_000
"""Characters per piece; a longer one is answered with `msg_too_long` (hermes-agent#59010).

Source: https://docs.slack.dev/reference/methods/chat.appendStream
"""

_TASK = {
    "id": string(255, 1),
    "title": string(256),
    "status": choice("pending", "in_progress", "complete", "error"),
}
_TEXT = string(LONGEST_PIECE)
_MORE = {
    "details": _TEXT,
    "output": _TEXT,
    "sources": array(anything, 100),
    "hide_title": boolean,
    "icon": anything,
}
_CHECK = array(
    union(
        {
            "markdown_text": record({"text": _TEXT}),
            "task_update": record(_TASK, _MORE),
            "plan_update": record({"title": string(256)}),
            "blocks": record({"blocks": array(union(IN_MESSAGES), MOST_BLOCKS, 1)}),
        }
    ),
    longest=100,
    shortest=1,
)


def check_chunks(chunks: Any) -> None:
    """Checks the pieces of a stream.

    Raises:
        SlackError: `invalid_chunks` with the reasons, or `msg_too_long`.
    """
    found: list[str] = []
    _CHECK(
        chunks,
        "/chunks",
        lambda text, pointer: found.append(f"[ERROR] {text} [json-pointer:{pointer}]"),
    )
    texts = (
        [chunk.get("text") for chunk in chunks if isinstance(chunk, dict)]
        if isinstance(chunks, list)
        else []
    )
    if any(isinstance(text, str) and len(text) > LONGEST_PIECE for text in texts):
        raise SlackError("msg_too_long")
    if found:
        raise SlackError("invalid_chunks", found)
