"""What a person types, as Slack passes it on: escaped text and a rich_text block.

Source: https://docs.slack.dev/messaging/formatting-message-text#escaping
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

from pocket_slack.model import Json

_FENCED = re.compile(r"\n?```\n?(.+?)\n?```\n?", re.DOTALL)
_STYLES = {"*": "bold", "_": "italic", "~": "strike"}
_STYLED = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|https?://[^\s<>|]+"
    r"|(?<![\w*_~])(?P<mark>[*_~])(?=\S)(?P<inside>(?:(?!(?P=mark)).)*?)(?<=\S)(?P=mark)(?![\w*_~])"
    r"|(?<![\w:]):(?P<emoji>\+1|-1|[a-z][\w'+-]*):(?![\w:])"
)

_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_MARKDOWN = (
    (re.compile(r"\[([^\]\n]+)\]\((https?://[^)\s]+)\)"), r"<\2|\1>"),
    (re.compile(r"\*\*(\S(?:[^\n]*?\S)?)\*\*"), r"*\1*"),
    (re.compile(r"^#{1,6} +", re.MULTILINE), ""),
    (re.compile(r"^( *)[-*] +", re.MULTILINE), r"\1• "),
)
_CONTROL = re.compile(r"(<(?:[@#!]|https?://|mailto:|tel:)[^<>]*>)")
_LINK = re.compile(
    r"<(?P<url>https?://[^<>|]+)(?:\|(?P<label>[^<>]*))?>|(?P<bare>https?://[^\s<>|]*[^\s<>|.,;:!?)])"
)
_ENTITY = re.compile("&(amp|lt|gt);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">"}


def escape(text: str) -> str:
    """The text with `&`, `<` and `>` as entities, and nothing else changed."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """The text with entities as their characters."""
    return _ENTITY.sub(lambda match: _CHARACTERS[match[1]], text)


def linked(text: str) -> Iterator[tuple[str, str]]:
    """The web links in a stored text with their labels, "" if there is none; code has no links."""
    for match in _LINK.finditer("".join(_CODE.split(text)[::2])):
        yield unescape(match["url"] or match["bare"]), unescape(match["label"] or "")


def to_stored(text: str) -> str:
    """The text of a message as Slack keeps it: what is neither a control sequence nor an entity is
    escaped.
    """
    parts = _CONTROL.split(text)
    return "".join(part if _CONTROL.fullmatch(part) else escape(unescape(part)) for part in parts)


def to_elements(text: str, users: Mapping[str, str], channels: Mapping[str, str]) -> list[Json]:
    """The rich_text elements of a typed text; `users` and `channels` map names to ids."""
    elements: list[Json] = []
    end = 0
    for match in _special(users).finditer(text):
        element = _element(match, users, channels)
        if element is None:
            continue
        if match.start() > end:
            elements.append({"type": "text", "text": text[end : match.start()]})
        elements.append(element)
        end = match.end()
    if end < len(text):
        elements.append({"type": "text", "text": text[end:]})
    return elements


def _special(users: Mapping[str, str]) -> re.Pattern[str]:
    """A pattern for links, users and channels.

    Users' names with spaces in them, as apps have, match as a whole.
    """
    names = "|".join([*(re.escape(name) for name in users if " " in name), r"[\w.-]+"])
    return re.compile(
        rf"(?P<url>https?://[^\s<>|]+)|(?<!\w)@(?P<user>{names})|(?<!\w)#(?P<channel>[\w-]+)"
    )


def to_linked(text: str) -> list[Json]:
    """The rich_text elements of mrkdwn with its control sequences, `<https://...|label>` and
    `<@U...>`.
    """
    elements: list[Json] = []
    for part in filter(None, _CONTROL.split(text)):
        target, _, label = part.strip("<>").partition("|")
        if not _CONTROL.fullmatch(part):
            elements += to_elements(part, {}, {})
        elif target[0] in "@#":
            kind = "user" if target[0] == "@" else "channel"
            elements.append({"type": kind, f"{kind}_id": target[1:]})
        elif target in ("!here", "!channel", "!everyone"):
            elements.append({"type": "broadcast", "range": target[1:]})
        elif target[0] == "!":  # a date or a group
            elements.append({"type": "text", "text": label or target[1:]})
        else:
            elements.append({"type": "link", "url": target} | ({"text": label} if label else {}))
    return elements


def of_mrkdwn(stored: str, block_id: str) -> Json:
    """The block that Slack makes of an app's `text`, as it keeps it."""
    block = to_rich_text(stored, to_linked, block_id, quote="&gt;")
    for part in block["elements"]:
        for element in part["elements"]:
            element |= {key: unescape(element[key]) for key in ("text", "url") if key in element}
    return block


def to_mrkdwn(markdown: str) -> str:
    """Markdown as mrkdwn, for the `text` of a streamed message.

    As in answers of the real Slack, `**b**` becomes `*b*`, a heading loses its marks, a list gets
    bullets, and a link becomes `<url|label>`; code stays as it is.
    """
    parts = _CODE.split(markdown)
    for index in range(0, len(parts), 2):
        for mark, instead in _MARKDOWN:
            parts[index] = mark.sub(instead, parts[index])
    return "".join(parts)


def to_text(elements: list[Json]) -> str:
    """The `text` of a message with these rich_text elements."""
    return "".join(_WRITE[element["type"]](element) for element in elements)


def to_rich_text(
    text: str, to_plain: Callable[[str], list[Json]], block_id: str, quote: str = ""
) -> Json:
    """The block that Slack adds to every message a person types.

    As in Slack's composer, `*bold*`, `_italic_`, `~struck~`, code and `:emoji:` are formatted;
    lists stay as typed, and so do quotes, unless `quote` is what their lines begin with. `to_plain`
    converts the text in between: `to_elements` for what a person types, and `to_linked` for mrkdwn.
    """
    elements: list[Json] = []
    for index, part in enumerate(_FENCED.split(text)):
        if index % 2:
            elements.append(
                {
                    "type": "rich_text_preformatted",
                    "elements": [{"type": "text", "text": part}],
                    "border": 0,
                }
            )
            continue
        for is_quote, lines in groupby(
            part.split("\n"), lambda line: bool(quote) and line.startswith(quote)
        ):
            said = "\n".join(
                line.removeprefix(quote).lstrip() if is_quote else line for line in lines
            )
            if said:
                kind = "rich_text_quote" if is_quote else "rich_text_section"
                elements.append({"type": kind, "elements": _styled(said, {}, to_plain)})
    return {"type": "rich_text", "block_id": block_id, "elements": elements}


def _styled(text: str, style: Json, to_plain: Callable[[str], list[Json]]) -> list[Json]:
    elements: list[Json] = []
    end = 0
    for match in _STYLED.finditer(text):
        if not match.lastgroup:
            continue  # a URL, in which nothing is a formatting mark
        elements += _with_style(to_plain(text[end : match.start()]), style)
        if match["code"]:
            elements += _with_style(
                [{"type": "text", "text": match["code"]}], {**style, "code": True}
            )
        elif match["emoji"]:
            elements += _with_style([{"type": "emoji", "name": match["emoji"]}], style)
        else:
            elements += _styled(match["inside"], {**style, _STYLES[match["mark"]]: True}, to_plain)
        end = match.end()
    return elements + _with_style(to_plain(text[end:]), style)


def _with_style(elements: list[Json], style: Json) -> list[Json]:
    return [element | {"style": style} for element in elements] if style else elements


def _element(
    match: re.Match[str], users: Mapping[str, str], channels: Mapping[str, str]
) -> Json | None:
    if match["url"]:
        return {"type": "link", "url": match["url"]}
    if match["user"] in users:
        return {"type": "user", "user_id": users[match["user"]]}
    if match["channel"] in channels:
        return {"type": "channel", "channel_id": channels[match["channel"]]}
    return None


_WRITE = {
    "text": lambda element: escape(element["text"]),
    "link": lambda element: f"<{escape(element['url'])}>",
    "user": lambda element: f"<@{element['user_id']}>",
    "channel": lambda element: f"<#{element['channel_id']}|>",
}
