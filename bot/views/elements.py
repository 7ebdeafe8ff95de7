"""The Block Kit that all views are made of; mrkdwn is verbatim, so that Slack links and mentions only what we wrote so.

Source: https://docs.slack.dev/reference/block-kit
"""

from datetime import datetime
from typing import Any

from bot.slack.modal_state import ModalState
from judge.sanitize import sanitize as legible

Block = dict[str, Any]


def modal(callback_id: str, title: str, state: ModalState, blocks: list[Block], submit: str, close: str) -> Block:
    """A window with something to send; it remembers `state` until then."""
    return {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain(title),
        "submit": plain(submit),
        "close": plain(close),
        "private_metadata": state.to_private_metadata(),
        "blocks": blocks,
    }


def section(mrkdwn: str) -> Block:
    """A paragraph."""
    return {"type": "section", "text": _mrkdwn(mrkdwn)}


def context(mrkdwn: str) -> Block:
    """A line of small print."""
    return {"type": "context", "elements": [_mrkdwn(mrkdwn)]}


def quote(words: str, limit: int, *title: Block) -> Block:
    """Foreign words, a model's or a person's, at most `limit` characters of them, behind a quote's bar.

    What is too long is cut in the middle: an order to the judge likes to stand at the end.

    `title` is what stands above, made of `run`; without one there have to be words that can be seen.
    The texts of rich text are no mrkdwn: nothing in them is formatted, linked or mentioned, and emoji have elements of
    their own. The bar runs along all lines, so that none of them looks like one of ours.
    Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
    """
    seen = legible(words).strip()
    if len(seen) > limit:
        end = limit // 3
        seen = f"{seen[: limit - end - 3].rstrip()} … {seen[-end:].lstrip()}"
    return _quoted(seen, title)


def quotes(words: str, limit: int, *title: Block) -> list[Block]:
    """The same with all of the words, in as many quotes of at most `limit` characters as it takes.

    They part at line ends, where there are any.
    """
    rest = legible(words).strip("\n")
    pieces: list[str] = []
    while len(rest) > limit:
        end = rest.rfind("\n", 1, limit + 1)
        end = end if end > 0 else limit
        pieces.append(rest[:end])
        rest = rest[end:].removeprefix("\n")
    first, *more = [*pieces, rest]
    return [_quoted(first, title), *(_quoted(each, ()) for each in more if each)]


def _quoted(seen: str, title: tuple[Block, ...]) -> Block:
    parts = [("rich_text_section", list(title)), ("rich_text_quote", [run(seen)] if seen else [])]
    return {"type": "rich_text", "elements": [{"type": kind, "elements": part} for kind, part in parts if part]}


def run(text: str, *, is_bold: bool = False) -> Block:
    """A piece of rich text."""
    return {"type": "text", "text": text} | ({"style": {"bold": True}} if is_bold else {})


def header(text: str) -> Block:
    """A heading."""
    return {"type": "header", "text": plain(text)}


def actions(*elements: dict[str, Any]) -> Block:
    """A row of buttons."""
    return {"type": "actions", "elements": list(elements)}


def button(label: str, action_id: str, value: str | int | None = None) -> dict[str, Any]:
    """A button; `value`, if any, comes back with the click, as a string."""
    element = {"type": "button", "text": plain(label), "action_id": action_id}
    return element if value is None else element | {"value": str(value)}


def asking_first(element: Block, title: str, why: str, yes: str, no: str) -> dict[str, Any]:
    """The button in red, with a question before the click counts, all of it plain text."""
    asked = {"title": plain(title), "text": plain(why), "confirm": plain(yes), "deny": plain(no), "style": "danger"}
    return element | {"style": "danger", "confirm": asked}


def option(value: str, label: str | None = None) -> dict[str, Any]:
    """A choice of a menu or of radio buttons; the value is its label, unless there is another."""
    return {"value": value, "text": plain(label or value)}


def plain(text: str) -> dict[str, Any]:
    """Text in which nothing is formatted, and no emoji drawn."""
    return {"type": "plain_text", "text": text, "emoji": False}


def short_date(moment: datetime) -> str:
    """A moment on the reader's own clock, within mrkdwn."""
    return f"<!date^{int(moment.timestamp())}^{{date_short_pretty}} at {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"


def _mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}
