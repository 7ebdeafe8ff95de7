"""Reads what people see in a Slack message: its text, blocks, attachments and files, in reading
order.

Bots often write only blocks, with a stub or nothing in `text`, so blocks are read first. What is no
plain text gets a mark, such as `[step: Look it up, complete]`; so does what cannot be read, in its
place, and it is counted. Marks that people or bots type themselves are changed, see
`judge.scoring.attacks.marks`. Source: https://docs.slack.dev/reference/block-kit/blocks and
slack-sdk 3.48
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from bot.slack.mrkdwn import clean, linked, to_date, to_plain
from judge.scoring.attacks.marks import mark, unmark

Raw = dict[str, Any]

ODD = (AttributeError, KeyError, TypeError, ValueError)
"""What reading a malformed message raises."""
# Stands in a text for a mark until the text around it has lost its own; U+FFFC, taken out of
# people's texts.
_HERE = "\ufffc"
_LISTS = {"child_blocks", "elements", "fields"}
# On an attachment that Slack itself added for a link in the message: its words are somebody else's.
_UNFURLED = ("from_url", "original_url", "is_app_unfurl", "is_msg_unfurl")


@dataclass(frozen=True)
class Read:
    """What people see in a message: `text`, with marks of what was not read, of which `unread` has
    each kind once.

    `shared_by`: the ids of authors of messages shared into this one. `has_words`: the text has more
    than marks. `is_unfinished`: it shows a step that is still to be done.
    """

    text: str = ""
    unread: tuple[str, ...] = ()
    shared_by: tuple[str, ...] = ()
    has_words: bool = False
    is_unfinished: bool = False


def read(raw: Raw) -> Read:
    """What people see in a message from a payload or from `conversations.*`.

    A block, attachment or file in an unknown shape is not read.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: The message itself has an unknown shape;
        see `ODD`.
    """
    reader = _Reader()
    blocks = reader.lines(map(reader.block, _list(raw.get("blocks"))))
    parts = [blocks] if reader.is_said(blocks) else [_shown(raw.get("text") or ""), blocks]
    for attachment in _list(raw.get("attachments")):
        if attachment.get("is_share"):
            parts.append(reader.block(attachment, "shared message"))
        elif not any(attachment.get(each) for each in _UNFURLED):
            parts.append(reader.block(attachment, "attachment"))
    parts += [reader.block(file, "file") for file in _list(raw.get("files"))]
    text = "\n".join(part for part in parts if part.strip())
    pieces = zip_longest(
        unmark(text).split(_HERE), (each for each, _ in reader.marks), fillvalue=""
    )
    unread = tuple(kind for _, kind in reader.marks if kind)
    return Read(
        "".join(chain(*pieces)).strip(),
        unread,
        tuple(reader.authors),
        reader.is_said(text),
        reader.is_unfinished,
    )


class _Reader:
    """Collects the marks of a message, each with the kind of what was not read, or "" if it was."""

    def __init__(self) -> None:
        self.marks: list[tuple[str, str]] = []
        self.authors: list[str] = []
        self.is_unfinished = False

    def put(self, text: str, unread: str = "") -> str:
        self.marks.append((text, unread))
        return _HERE

    def miss(self, kind: str, *names: str) -> str:
        return self.put(mark(kind, ": ".join(dict.fromkeys(filter(None, names)))), kind)

    def is_said(self, text: str) -> bool:
        """Whether there is more to this text than marks of what was not read, and the punctuation
        around them.
        """
        is_marked = any(not kind for _, kind in self.marks)
        return is_marked or bool(text.replace(_HERE, "").strip(" \n|>`-" if self.marks else None))

    def block(self, raw: Any, kind: str | None = None) -> str:
        """The words of a block, an element or a text object; a mark if they cannot be read."""
        known = len(self.marks)
        try:
            kind = kind or raw["type"]
            return READ[kind](self, raw)
        except ODD:
            del self.marks[known:]
            return self.miss("block", kind if isinstance(kind, str) else "")

    def part(self, raw: Raw, name: str) -> str:
        """The words of one field; "" if it is missing."""
        value = raw.get(name)
        if name in _LISTS:
            return self.lines(map(self.block, _list(value)))
        return _shown(value or "") if value is None or isinstance(value, str) else self.block(value)

    def lines(self, texts: Any) -> str:
        return "\n".join(filter(None, texts))

    def parts(self, raw: Raw, *names: str) -> str:
        return self.lines(self.part(raw, name) for name in names)

    def inline(self, raw: Raw) -> str:
        return "".join(map(self.block, _list(raw.get("elements"))))


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | None):
        raise TypeError(type(value).__name__)
    return value or []


def _said(text: Any) -> str:
    """Words as they are; raises if they are none."""
    if not isinstance(text, str):
        raise TypeError(type(text).__name__)
    return clean(text).replace(_HERE, "")


def _shown(text: Any) -> str:
    return to_plain(_said(text))


def _named(value: Any) -> str:
    """The words of a text object or a string that go into a mark."""
    return _shown(value["text"] if isinstance(value, dict) else value or "")


def _section(reader: _Reader, raw: Raw) -> str:
    names = ["text", "fields"]
    if (raw.get("accessory") or {}).get("type") == "image":
        names.append("accessory")
    return reader.parts(raw, *names)


def _context(reader: _Reader, raw: Raw) -> str:
    # Its images are icons of a line's height.
    return " ".join(
        reader.block(each) for each in _list(raw.get("elements")) if each.get("type") != "image"
    )


def _table(reader: _Reader, raw: Raw) -> str:
    rows = (" | ".join(map(reader.block, _list(row))) for row in _list(raw["rows"]))
    return reader.lines([reader.part(raw, "caption"), *rows])


def _chart(reader: _Reader, raw: Raw) -> str:
    chart = raw["chart"]
    axes = chart.get("axis_config") or {}
    labels = ", ".join(_shown(axes[name]) for name in ("x_label", "y_label") if axes.get(name))
    if chart["type"] == "pie":
        series = [_points(chart["segments"])]
    else:
        series = [
            f"{_shown(each['name'])}: {_points(each['data'])}" for each in _list(chart["series"])
        ]
    return reader.lines([reader.part(raw, "title") + (f" ({labels})" if labels else ""), *series])


def _points(points: Any) -> str:
    return ", ".join(
        f"{_shown(each['label'])} = {_number(each['value'])}" for each in _list(points)
    )


def _number(value: Any) -> str:
    if not isinstance(value, int | float):
        raise TypeError(type(value).__name__)
    return str(value)


def _step(reader: _Reader, raw: Raw) -> str:
    state = _named(raw.get("status")).replace("_", " ")
    reader.is_unfinished |= state in {"pending", "in progress"}
    step = reader.put(mark("step", ", ".join(filter(None, [_named(raw.get("title")), state]))))
    return reader.lines([step, *map(reader.block, _list(raw.get("sources")))])


def _file(reader: _Reader, raw: Raw) -> str:
    if str(raw.get("mimetype")).startswith("image/"):
        return reader.miss("picture", _named(raw.get("alt_txt") or raw.get("name")))
    return reader.miss("file", _named(raw.get("name") or raw.get("title")))


def _attachment(reader: _Reader, raw: Raw) -> str:
    before = [reader.part(raw, name) for name in ("pretext", "author_name", "title", "text")]
    fields = (
        ": ".join(filter(None, [_shown(f.get("title") or ""), _shown(f.get("value") or "")]))
        for f in _list(raw.get("fields"))
    )
    found = [*before, *fields, *map(reader.block, _list(raw.get("blocks")))]
    if raw.get("image_url") or raw.get("thumb_url"):
        found.append(reader.miss("picture"))
    return reader.lines([*found, reader.part(raw, "footer")]) or reader.part(raw, "fallback")


def _shared(reader: _Reader, raw: Raw) -> str:
    """A message that its poster shared on purpose; nothing in it can end its mark."""
    messages = [each["message"] for each in _list(raw.get("message_blocks"))]
    blocks = [block for each in messages for block in _list(each.get("blocks"))]
    found = read({"text": raw.get("text"), "blocks": blocks, "files": raw.get("files")})
    reader.authors += [_said(raw["author_id"])] if raw.get("author_id") else []
    words = found.text.replace("[", "(").replace("]", ")")
    return reader.put(f"[shared message: {words}]") + "".join(
        reader.put("", kind) for kind in found.unread
    )


def _rich_list(reader: _Reader, raw: Raw) -> str:
    items = enumerate(_list(raw.get("elements")), int(raw.get("offset") or 0) + 1)
    indent = "  " * int(raw.get("indent") or 0)
    is_ordered = raw.get("style") == "ordered"
    return "\n".join(
        f"{indent}{f'{n}.' if is_ordered else '-'} {reader.block(item)}" for n, item in items
    )


def _date(_: _Reader, raw: Raw) -> str:
    date = to_date(
        raw.get("timestamp"), _said(raw.get("format") or ""), _said(raw.get("fallback") or "")
    )
    return linked(_said(raw.get("url") or ""), date)


_Reads = Callable[[_Reader, Raw], str]


def _parts(*names: str) -> _Reads:
    return lambda reader, raw: reader.parts(raw, *names)


def _id(sign: str, name: str) -> _Reads:
    return lambda _, raw: sign + _said(raw[name])


READ: Mapping[str, _Reads] = {
    **dict.fromkeys(("plain_text", "mrkdwn", "raw_text"), lambda _, raw: _shown(raw["text"])),
    "raw_number": lambda _, raw: _shown(raw["text"]) if raw.get("text") else _number(raw["value"]),
    **dict.fromkeys(("actions", "context_actions", "divider", "input"), lambda _reader, _raw: ""),
    "alert": _parts("text"),
    "attachment": _attachment,
    "card": _parts("hero_image", "title", "subtitle", "body", "subtext"),
    "carousel": _parts("elements"),
    "container": lambda reader, raw: reader.parts(
        raw,
        "rich_text_title" if raw.get("rich_text_title") else "title",
        "subtitle",
        "child_blocks",
    ),
    "context": _context,
    "data_table": _table,
    "data_visualization": _chart,
    "file": _file,
    "header": _parts("text"),
    "image": lambda reader, raw: reader.miss(
        "picture", _named(raw.get("title")), _named(raw.get("alt_text"))
    ),
    "markdown": lambda _, raw: _said(raw["text"]),
    # Its tasks need no type.
    "plan": lambda reader, raw: reader.lines(
        [
            reader.part(raw, "title"),
            *(reader.block({"type": "task_card"} | each) for each in _list(raw.get("tasks"))),
        ]
    ),
    "rich_text": _parts("elements"),
    "section": _section,
    "shared message": _shared,
    "table": _table,
    "task_card": _step,
    **dict.fromkeys(
        ("citation", "url"),
        lambda reader, raw: reader.put(
            mark("source", linked(_said(raw["url"]), _named(raw.get("text"))))
        ),
    ),
    "video": lambda reader, raw: reader.miss(
        "video", _named(raw.get("title")), _named(raw.get("description"))
    ),
    "rich_text_section": lambda reader, raw: reader.inline(raw),
    "rich_text_list": _rich_list,
    "rich_text_preformatted": lambda reader, raw: f"```\n{reader.inline(raw)}\n```",
    "rich_text_quote": lambda reader, raw: "\n".join(
        f"> {line}" for line in reader.inline(raw).splitlines()
    ),
    "broadcast": _id("@", "range"),
    "channel": _id("#", "channel_id"),
    "color": _id("", "value"),
    "date": _date,
    "emoji": lambda _, raw: f":{_said(raw['name'])}:",
    "link": lambda _, raw: linked(_said(raw["url"]), _said(raw.get("text") or "")),
    **dict.fromkeys(("tag", "text"), _id("", "text")),
    "user": _id("@", "user_id"),
    "usergroup": _id("@", "usergroup_id"),
}
"""How each type of block, element and text object is read."""
