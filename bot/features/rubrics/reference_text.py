"""The window of `/judge reference`, and what is said about a channel's reference."""

import re
from collections.abc import Sequence

from bot.features.rubrics import ids
from bot.features.rubrics.text import NEW_JUDGE
from bot.pipeline.text import MAX_INPUT
from bot.slack import blocks as ui
from bot.slack.invocation import Raw, typed, values_of
from bot.slack.mrkdwn import escape

REFERENCE_RUBRIC = "reference-5"
REFERENCE_FIELDS = [f"{ids.BLOCK_REFERENCE}{number}" for number in range(1, 8)]
# A field's text: up to a line's end without a blank line beside it, which Slack may strip.
_FIELD = re.compile(rf"(.{{1,{MAX_INPUT}}})(?<!\n)\n(?!\n)", re.DOTALL)
_TITLE = "Reference"
_ABOUT = (
    "What replies in <#{channel}> must agree with. The judge reads it with each reply, and its "
    f"reasons may quote it. Saved empty, it is deleted. Each change {NEW_JUDGE}"
)
_MORE = (
    "\nIf these fields are full, save them: next time there are two more, up to 21,000 characters."
)
CHANGED = (
    "Somebody changed it while this window was open. Copy what you need, close this, and open "
    "it again."
)
ORDERS = "It reads as if it gave the judge orders, so each verdict asks people to check it."
DELETED = (
    "The reference is deleted. Replies are no longer compared with it. Reasons of earlier verdicts "
    "may still quote it."
)


def saved(version: str, *, is_suspect: bool) -> str:
    """What the window says at the end; `is_suspect` if the reference may address the judge."""
    text = f"Saved as version {version}."
    return f"{text} {ORDERS}" if is_suspect else text


def told(user_id: str, channel_id: str, *, is_deleted: bool) -> str:
    """What a channel with figures is told."""
    what = "deleted" if is_deleted else "changed"
    return (
        f"<@{user_id}> {what} the reference that replies in <#{channel_id}> are compared with. "
        f"This {NEW_JUDGE}"
    )


def typed_reference(body: Raw) -> str:
    """The text, whose fields are joined by newlines, where it was split."""
    values = values_of(body)
    fields = (typed(values, block) for block in REFERENCE_FIELDS)
    return "\n".join(field for field in fields if field)


def reference_modal(state: ui.ModalState, text: str) -> ui.Block:
    """The window for a channel's reference, with room for more."""
    parts = [*_parted(text), "", ""]
    more = _MORE if len(parts) < len(REFERENCE_FIELDS) else ""
    blocks = [ui.section(_ABOUT.format(channel=state.channel_id) + more)]
    for field, part in zip(REFERENCE_FIELDS, parts, strict=False):
        label = "Reference" if len(blocks) == 1 else "Reference, continued"
        blocks.append(ui.field(label, ui.text_box(field, MAX_INPUT, part), is_optional=True))
    return ui.modal(ids.VIEW_REFERENCE, _TITLE, state, blocks, "Save", "Cancel")


def _parted(text: str) -> Sequence[str]:
    """A text in fields, split between lines if there are any."""
    rest = text.strip()
    parts = list[str]()
    while len(rest) > MAX_INPUT:
        found = _FIELD.match(rest)
        parts.append(found[1] if found else rest[:MAX_INPUT])
        rest = rest[found.end() if found else MAX_INPUT :]
    return [*parts, rest]


def message_modal(text: str) -> ui.Block:
    return ui.page(_TITLE, [ui.section(escape(text))])
