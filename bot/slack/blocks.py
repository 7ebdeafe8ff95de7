"""Builders for Block Kit; mrkdwn is `verbatim`, so that Slack makes no links or mentions of its
own.

Source: https://docs.slack.dev/reference/block-kit
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.domain.case import LARGEST_ID
from bot.slack import ids
from bot.slack.mrkdwn import escape
from judge.scoring.sanitize import one_line, sanitize

_LONGEST_LABEL = 75
CaseId = Annotated[int, Field(le=LARGEST_ID)]


class Pressed(BaseModel):
    """Where a button of a list was pressed: in a message of ours, in the answer to some `words`
    after `/judge`, in a `view` whose list these words name, or without words in the Home tab.
    """

    model_config = ConfigDict(frozen=True)

    ts: str = ""
    words: str = ""
    view: str = ""


class ModalState(BaseModel):
    """What a window remembers, at most 3,000 characters: the channel it was opened in, its
    `response_url`, the case.

    `pressed` is where *Not fair* was. `rubric` names the rubric that it is about, and `version` is
    the version that it began with or has saved. `labelled` are the cases that the person has
    labelled in it since it last showed how their labels compare.
    """

    model_config = ConfigDict(frozen=True)

    channel_id: str | None = None
    response_url: str | None = None
    case_id: CaseId | None = None
    pressed: Pressed | None = None
    rubric: str | None = None
    version: str | None = None
    labelled: tuple[CaseId, ...] = ()

    @classmethod
    def of(cls, view: Mapping[str, Any]) -> Self:
        """The state that a window remembered; empty if it is not one of ours."""
        try:
            return cls.model_validate_json(view.get("private_metadata") or "{}")
        except ValidationError:
            return cls()


Block = dict[str, Any]


def modal(
    callback_id: str, title: str, state: ModalState, blocks: list[Block], submit: str, close: str
) -> Block:
    """A window with a submit button; it remembers `state` until it is submitted."""
    remembered = state.model_dump_json(exclude_defaults=True)
    sent = {"callback_id": callback_id, "submit": plain(submit), "private_metadata": remembered}
    return page(title, blocks, close) | sent


def page(title: str, blocks: list[Block], close: str = "Close") -> Block:
    """A window without a button to submit it."""
    return {"type": "modal", "title": plain(title), "close": plain(close), "blocks": blocks}


def section(mrkdwn: str) -> Block:
    return {"type": "section", "text": _mrkdwn(mrkdwn)}


def context(mrkdwn: str) -> Block:
    return {"type": "context", "elements": [_mrkdwn(mrkdwn)]}


def quote(words: str, limit: int, *title: Block) -> Block:
    """A quote block with at most `limit` characters of words that are not ours: a model's or a
    person's.

    Words that are too long are cut in the middle, because an instruction to the judge is often at
    the end.

    `title` is the line above the quote, made of `run`; without it, some of the words must be
    visible. Rich text is not mrkdwn: nothing in it is formatted, linked or mentioned, and emoji are
    elements of their own. The quote's bar marks all lines, so none of them can pass for ours.
    Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
    """
    seen = sanitize(words).strip()
    if len(seen) > limit:
        end = limit // 3
        seen = f"{seen[: limit - end - 3].rstrip()} … {seen[-end:].lstrip()}"
    return _quoted(seen, title)


def quotes(words: str, limit: int, *title: Block) -> list[Block]:
    """All of the words, in as many quotes of at most `limit` characters as needed.

    They are split at line ends if there are any.
    """
    rest = sanitize(words).strip("\n")
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
    return {
        "type": "rich_text",
        "elements": [{"type": kind, "elements": part} for kind, part in parts if part],
    }


def run(text: str, *, is_bold: bool = False) -> Block:
    return {"type": "text", "text": text} | ({"style": {"bold": True}} if is_bold else {})


def header(text: str) -> Block:
    return {"type": "header", "text": plain(text)}


def actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def button(label: str, action_id: str, value: str | int | None = None) -> Block:
    """A button; `value`, if given, comes back with the click as a string."""
    element = {"type": "button", "text": plain(label), "action_id": action_id}
    return element if value is None else element | {"value": str(value)}


def fairness(case_id: int, score: str) -> Block:
    """The buttons that label a listed case, like *Agree* and *Disagree* under a verdict; a screen
    reader also says which `score` they are about.
    """
    offered = {"Fair": ids.ACTION_FAIR, "Not fair": ids.ACTION_NOT_FAIR}
    return actions(*(spoken(button(label, offered[label], case_id), score) for label in offered))


def spoken(element: Block, of: str) -> Block:
    """A button that a screen reader calls by its label and what it is about.

    Source, with the limit: https://docs.slack.dev/reference/block-kit/block-elements/button-element
    """
    label = f"{element['text']['text']}, {one_line(of)}"
    return element | {"accessibility_label": label[:_LONGEST_LABEL]}


def option(value: str, label: str | None = None, about: str = "") -> Block:
    """An option of a menu or of radio buttons; `label` is the value by default.

    `about` is shown below the label:
    https://docs.slack.dev/reference/block-kit/composition-objects/option-object
    """
    chosen = {"value": value, "text": plain(label or value)}
    return chosen | ({"description": plain(about)} if about else {})


def field(label: str, element: Block, hint: str = "", *, is_optional: bool = False) -> Block:
    """An input of a window; its block id is the element's action id."""
    block = {
        "type": "input",
        "block_id": element["action_id"],
        "label": plain(label),
        "element": element,
    }
    return block | {"optional": is_optional} | ({"hint": plain(hint)} if hint else {})


def text_box(
    action_id: str, most: int, initial: str | None, placeholder: str | None = None
) -> Block:
    """An input for several lines of text, at most `most` characters."""
    box = {
        "type": "plain_text_input",
        "action_id": action_id,
        "multiline": True,
        "max_length": most,
    }
    box |= {"placeholder": plain(placeholder)} if placeholder else {}
    return box | ({"initial_value": initial[:most]} if initial else {})


def number_box(
    action_id: str, initial: float | None, *, is_whole: bool = True, **more: Any
) -> Block:
    """A field for a number; `more` are further properties of Slack's element, such as its limits."""
    box = {
        "type": "number_input",
        "action_id": action_id,
        "is_decimal_allowed": not is_whole,
        **more,
    }
    return box | ({} if initial is None else {"initial_value": f"{initial:g}"})


def menu(
    action_id: str, options: Iterable[Block], chosen: Block | None, kind: str = "static_select"
) -> Block:
    """A menu of options, or another `kind` of choice such as "radio_buttons"."""
    found = {"type": kind, "action_id": action_id, "options": list(options)}
    return found | ({"initial_option": chosen} if chosen else {})


def plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": False}


def short_date(moment: datetime) -> str:
    return (
        f"<!date^{int(moment.timestamp())}^{{date_short_pretty}} at "
        f"{{time}}|{moment:%Y-%m-%d %H:%M} UTC>"
    )


def _mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def permalink(workspace_url: str, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
    """The address of a message, escaped for mrkdwn; with `thread_ts`, of a reply in that thread."""
    return escape(address(workspace_url, channel_id, ts, thread_ts))


def address(workspace_url: str, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
    """The address of a message; with `thread_ts`, of a reply in that thread.

    https://docs.slack.dev/reference/methods/chat.getPermalink gives the same address, but takes a
    call for each.
    """
    link = f"{workspace_url}archives/{channel_id}/p{ts.replace('.', '')}"
    return link if thread_ts in {None, ts} else f"{link}?thread_ts={thread_ts}&cid={channel_id}"
