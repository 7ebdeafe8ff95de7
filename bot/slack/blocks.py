"""The Block Kit that all views are made of; mrkdwn is verbatim, so that Slack links and mentions only what we wrote so.

Source: https://docs.slack.dev/reference/block-kit
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.domain.case import LARGEST_ID
from bot.slack.mrkdwn import escape
from judge.sanitize import sanitize

CaseId = Annotated[int, Field(le=LARGEST_ID)]


class ModalState(BaseModel):
    """Where a window was opened, the `response_url` of there, and its case; 3,000 characters at most.

    `home_id` is the person's direct messages with the app, where it was opened in their Home tab.
    `rubric` names the rubric that it is about, and `version` is the one that it began with, or has saved.
    `labelled` are the cases that its person has labelled in it, since it was last said how their labels compare.
    """

    model_config = ConfigDict(frozen=True)

    channel_id: str | None = None
    response_url: str | None = None
    home_id: str | None = None
    case_id: CaseId | None = None
    rubric: str | None = None
    version: str | None = None
    labelled: tuple[CaseId, ...] = ()

    def to_private_metadata(self) -> str:
        """As it travels with the window."""
        return self.model_dump_json(exclude_defaults=True)

    @classmethod
    def from_private_metadata(cls, text: str) -> "ModalState":
        """What a window remembered; nothing where that is not of our making."""
        try:
            return cls.model_validate_json(text or "{}")
        except ValidationError:
            return cls()


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
    return {"type": "section", "text": _mrkdwn(mrkdwn)}


def context(mrkdwn: str) -> Block:
    return {"type": "context", "elements": [_mrkdwn(mrkdwn)]}


def quote(words: str, limit: int, *title: Block) -> Block:
    """Foreign words, a model's or a person's, at most `limit` characters of them, behind a quote's bar.

    What is too long is cut in the middle: an order to the judge likes to stand at the end.

    `title` is what stands above, made of `run`; without one there have to be words that can be seen.
    The texts of rich text are no mrkdwn: nothing in them is formatted, linked or mentioned, and emoji have elements of
    their own. The bar runs along all lines, so that none of them looks like one of ours.
    Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
    """
    seen = sanitize(words).strip()
    if len(seen) > limit:
        end = limit // 3
        seen = f"{seen[: limit - end - 3].rstrip()} … {seen[-end:].lstrip()}"
    return _quoted(seen, title)


def quotes(words: str, limit: int, *title: Block, kind: str = "rich_text_quote") -> list[Block]:
    """The same with all of the words, in as many quotes of at most `limit` characters as it takes.

    They part at line ends, where there are any. Another `kind` is "rich_text_preformatted", whose letters are as wide
    as each other.
    """
    rest = sanitize(words).strip("\n")
    pieces: list[str] = []
    while len(rest) > limit:
        end = rest.rfind("\n", 1, limit + 1)
        end = end if end > 0 else limit
        pieces.append(rest[:end])
        rest = rest[end:].removeprefix("\n")
    first, *more = [*pieces, rest]
    return [_quoted(first, title, kind), *(_quoted(each, (), kind) for each in more if each)]


def _quoted(seen: str, title: tuple[Block, ...], kind: str = "rich_text_quote") -> Block:
    parts = [("rich_text_section", list(title)), (kind, [run(seen)] if seen else [])]
    return {"type": "rich_text", "elements": [{"type": kind, "elements": part} for kind, part in parts if part]}


def run(text: str, *, is_bold: bool = False) -> Block:
    return {"type": "text", "text": text} | ({"style": {"bold": True}} if is_bold else {})


def header(text: str) -> Block:
    return {"type": "header", "text": plain(text)}


def actions(*elements: dict[str, Any]) -> Block:
    return {"type": "actions", "elements": list(elements)}


def button(label: str, action_id: str, value: str | int | None = None) -> dict[str, Any]:
    """A button; `value`, if any, comes back with the click, as a string."""
    element = {"type": "button", "text": plain(label), "action_id": action_id}
    return element if value is None else element | {"value": str(value)}


def asking_first(element: Block, title: str, why: str, yes: str, no: str) -> dict[str, Any]:
    """The button in red, with a question before the click counts, all of it plain text."""
    asked = {"title": plain(title), "text": plain(why), "confirm": plain(yes), "deny": plain(no), "style": "danger"}
    return element | {"style": "danger", "confirm": asked}


def option(value: str, label: str | None = None, about: str = "") -> dict[str, Any]:
    """A choice of a menu or of radio buttons; the value is its label, unless there is another.

    A line `about` it stands below the label: https://docs.slack.dev/reference/block-kit/composition-objects/option-object
    """
    chosen = {"value": value, "text": plain(label or value)}
    return chosen | ({"description": plain(about)} if about else {})


def field(label: str, element: Block, hint: str = "", *, is_optional: bool = False) -> Block:
    """An element of a window in which something is typed or chosen; its block has the same id."""
    block = {"type": "input", "block_id": element["action_id"], "label": plain(label), "element": element}
    return block | {"optional": is_optional} | ({"hint": plain(hint)} if hint else {})


def text_box(action_id: str, most: int, initial: str | None, placeholder: str | None = None) -> Block:
    """Several lines of text, `most` characters at most."""
    box = {"type": "plain_text_input", "action_id": action_id, "multiline": True, "max_length": most}
    box |= {"placeholder": plain(placeholder)} if placeholder else {}
    return box | ({"initial_value": initial[:most]} if initial else {})


def menu(action_id: str, options: Iterable[Block], chosen: Block | None, kind: str = "static_select") -> Block:
    """A menu of options, or another `kind` of choice such as "radio_buttons"."""
    found = {"type": kind, "action_id": action_id, "options": list(options)}
    return found | ({"initial_option": chosen} if chosen else {})


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def short_date(moment: datetime) -> str:
    return f"<!date^{int(moment.timestamp())}^{{date_short_pretty}} at {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"


def _mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def permalink(workspace_url: str, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
    """The address of a message as mrkdwn has it; with `thread_ts`, of a reply in that thread."""
    return escape(address(workspace_url, channel_id, ts, thread_ts))


def address(workspace_url: str, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
    """The same, as it is copied and opened.

    Built and not asked for: https://docs.slack.dev/reference/methods/chat.getPermalink gives the same, one at a time.
    """
    link = f"{workspace_url}archives/{channel_id}/p{ts.replace('.', '')}"
    return link if thread_ts in {None, ts} else f"{link}?thread_ts={thread_ts}&cid={channel_id}"
