"""The rich_text block, as people's messages carry it and as apps may post it.

Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

from collections.abc import Mapping

from pocket_slack.blocks.schema import (
    Check,
    anything,
    array,
    boolean,
    choice,
    integer,
    record,
    string,
    union,
)

_MANY = 10_000
_STYLE = record(
    {},
    dict.fromkeys(
        (
            "bold",
            "italic",
            "strike",
            "code",
            "underline",
            "highlight",
            "client_highlight",
            "unlink",
        ),
        boolean,
    ),
)

_INLINE: Mapping[str, Check] = {
    "text": record({"text": string(_MANY, 1)}, {"style": _STYLE}),
    "link": record(
        {"url": string(3000, 1)}, {"text": string(_MANY), "unsafe": boolean, "style": _STYLE}
    ),
    "emoji": record(
        {"name": string(255, 1)},
        {"unicode": string(100), "skin_tone": integer(1, 6), "style": _STYLE, "url": string(3000)},
    ),
    "user": record({"user_id": string(255, 1)}, {"style": _STYLE}),
    "usergroup": record({"usergroup_id": string(255, 1)}, {"style": _STYLE}),
    "channel": record({"channel_id": string(255, 1)}, {"style": _STYLE}),
    "broadcast": record({"range": choice("here", "channel", "everyone")}, {"style": _STYLE}),
    "citation": record(
        {"url": string(3000, 1)},
        {"text": string(_MANY), "index": integer(0, _MANY), "details": anything},
    ),
    "tag": record({"text": string(_MANY, 1)}),
    "color": record({"value": string(20, 1)}, {"style": _STYLE}),
    "date": record(
        {"timestamp": anything, "format": string(_MANY, 1)},
        {"url": string(3000), "fallback": string(_MANY), "style": _STYLE},
    ),
}

_ELEMENTS = array(union(_INLINE), _MANY)
_BORDER = integer(0, 1)
_SECTION = record({"elements": _ELEMENTS})

_OUTER: Mapping[str, Check] = {
    "rich_text_section": _SECTION,
    "rich_text_list": record(
        {
            "style": choice("bullet", "ordered"),
            "elements": array(union({"rich_text_section": _SECTION}), _MANY),
        },
        {"indent": integer(0, 8), "offset": integer(0, _MANY), "border": _BORDER},
    ),
    "rich_text_preformatted": record(
        {"elements": _ELEMENTS}, {"border": _BORDER, "language": string(100)}
    ),
    "rich_text_quote": record({"elements": _ELEMENTS}, {"border": _BORDER}),
}

FIELDS: Mapping[str, Check] = {"elements": array(union(_OUTER), _MANY)}
RICH_TEXT = union({"rich_text": record(FIELDS, {"block_id": string(255, 1)})})
