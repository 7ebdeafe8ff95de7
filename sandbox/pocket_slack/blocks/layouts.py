"""Blocks, and which surfaces may contain them.

Source: https://docs.slack.dev/reference/block-kit/blocks
"""

from collections.abc import Mapping

from pocket_slack.blocks import rich_text, schema
from pocket_slack.blocks.elements import (
    BUTTON,
    CONTEXT_ACTIONS,
    IMAGE,
    IN_ACTIONS,
    IN_INPUT,
    IN_SECTION,
)
from pocket_slack.blocks.objects import BLOCK_ID, SLACK_FILE, URL, any_text, plain_text
from pocket_slack.blocks.schema import (
    Check,
    array,
    boolean,
    choice,
    integer,
    number,
    record,
    repeats,
    ruled,
    string,
    union,
)


def _block(
    required: Mapping[str, Check],
    optional: Mapping[str, Check] | None = None,
    either: tuple[str, ...] = (),
) -> Check:
    return record(required, {"block_id": BLOCK_ID, **(optional or {})}, either)


_CONTEXT_TEXT = {"plain_text": any_text(3000), "mrkdwn": any_text(3000)}

_RAW_TEXT = record({"text": string(10_000)})
_RICH_CELL = record(rich_text.FIELDS, {"block_id": BLOCK_ID})
_CELL = union({"raw_text": _RAW_TEXT, "rich_text": _RICH_CELL})
_DATA_CELL = union(
    {
        "raw_text": _RAW_TEXT,
        "rich_text": _RICH_CELL,
        "raw_number": record({"value": number}, {"text": string(100)}),
    }
)
_COLUMN = record({}, {"align": choice("left", "center", "right"), "is_wrapped": boolean})

_POINT = record({"label": string(20, 1), "value": number})
_AXES = record(
    {"categories": array(string(20, 1), 20, 1)}, {"x_label": string(50), "y_label": string(50)}
)
_SERIES = ruled(
    record(
        {
            "series": array(record({"name": string(20, 1), "data": array(_POINT, 20, 1)}), 6, 1),
            "axis_config": _AXES,
        }
    ),
    (
        "names of series must be unique",
        "series",
        lambda it: repeats(each["name"] for each in it["series"]),
    ),
    (
        "each series must have one data point for each category",
        "series",
        lambda it: any(
            sorted(point["label"] for point in each["data"])
            != sorted(it["axis_config"]["categories"])
            for each in it["series"]
        ),
    ),
)
_CHART = union(
    {
        "bar": _SERIES,
        "line": _SERIES,
        "area": _SERIES,
        "pie": record({"segments": array(_POINT, 6, 1)}),
    }
)

_IMAGE = union({"image": IMAGE})
_ICON = union({"icon": record({"name": string(255, 1)})})
_CARD = ruled(
    _block(
        {},
        {
            "hero_image": _IMAGE,
            "icon": _IMAGE,
            "slack_icon": _ICON,
            "title": any_text(150),
            "subtitle": any_text(150),
            "body": any_text(200),
            "subtext": any_text(200),
            "actions": array(union({"button": BUTTON}), 3),
        },
        either=("hero_image", "title", "actions", "body"),
    ),
    (
        "must define only one of `icon` and `slack_icon`",
        "slack_icon",
        lambda it: {"icon", "slack_icon"} <= it.keys(),
    ),
)

_TASK_CARD = _block(
    {"task_id": string(255, 1), "title": string(256, 1)},
    {
        "status": choice("pending", "in_progress", "complete", "error"),
        "details": rich_text.RICH_TEXT,
        "output": rich_text.RICH_TEXT,
        "sources": array(union({"url": record({"url": URL, "text": string(3000, 1)})}), 100),
        "icon": _ICON,
        "hide_title": boolean,
    },
)

EVERYWHERE: Mapping[str, Check] = {
    "section": _block(
        {},
        {
            "text": any_text(3000),
            "fields": array(any_text(2000), 10, 1),
            "accessory": union(IN_SECTION),
            "expand": boolean,
        },
        either=("text", "fields"),
    ),
    "header": _block({"text": plain_text(150)}),
    "context": _block({"elements": array(union({**_CONTEXT_TEXT, "image": IMAGE}), 10, 1)}),
    "actions": _block({"elements": array(union(IN_ACTIONS), 25, 1)}),
    "divider": _block({}),
    "image": _block(
        {"alt_text": string(2000)},
        {"image_url": URL, "slack_file": SLACK_FILE, "title": plain_text(2000)},
        either=("image_url", "slack_file"),
    ),
    "input": _block(
        {"label": plain_text(2000), "element": union(IN_INPUT)},
        {"dispatch_action": boolean, "hint": plain_text(2000), "optional": boolean},
    ),
    "rich_text": _block(rich_text.FIELDS),
    "card": _CARD,
    "video": _block(
        {
            "alt_text": string(2000, 1),
            "title": plain_text(199),
            "thumbnail_url": URL,
            "video_url": schema.https_url,
        },
        {
            "title_url": schema.https_url,
            "description": plain_text(199),
            "author_name": string(49),
            "provider_name": string(2000),
            "provider_icon_url": URL,
        },
    ),
}

IN_MODALS: Mapping[str, Check] = {
    **EVERYWHERE,
    "alert": _block(
        {"text": any_text(200)}, {"level": choice("default", "info", "warning", "error", "success")}
    ),
}

_TABLE = _block({"rows": array(array(_CELL, 20), 100, 1)}, {"column_settings": array(_COLUMN, 20)})

# The reference also names `file`, which cannot be posted.
_IN_CONTAINER = {
    **{
        name: EVERYWHERE[name]
        for name in ("actions", "context", "divider", "header", "image", "input")
    },
    **{name: EVERYWHERE[name] for name in ("rich_text", "section", "video")},
    "table": _TABLE,
}

_CONTAINER = ruled(
    _block(
        {"child_blocks": array(union(_IN_CONTAINER), 10, 1)},
        {
            "title": plain_text(150),
            "rich_text_title": rich_text.RICH_TEXT,
            "subtitle": any_text(150),
            "width": choice("narrow", "standard", "wide", "full"),
            "icon": _IMAGE,
            "is_collapsible": boolean,
            "default_collapsed": boolean,
            "has_header_divider": boolean,
        },
        either=("title", "rich_text_title"),
    ),
    (
        "`default_collapsed` requires `is_collapsible`",
        "default_collapsed",
        lambda it: it.get("default_collapsed") and not it.get("is_collapsible"),
    ),
    (
        "`has_header_divider` cannot be set with `is_collapsible`",
        "has_header_divider",
        lambda it: it.get("has_header_divider") and it.get("is_collapsible"),
    ),
)

IN_MESSAGES: Mapping[str, Check] = {
    **EVERYWHERE,
    "carousel": _block({"elements": array(union({"card": _CARD}), 10, 1)}),
    "container": _CONTAINER,
    "task_card": _TASK_CARD,
    # In the reference's example the tasks have no type.
    "plan": ruled(
        _block({"title": string(256, 1)}, {"tasks": array(_TASK_CARD, 50)}),
        (
            "`task_id` must be unique",
            "tasks",
            lambda it: repeats(each["task_id"] for each in it.get("tasks", [])),
        ),
    ),
    "markdown": _block({"text": string(12_000, 1)}),
    "context_actions": _block({"elements": array(union(CONTEXT_ACTIONS), 5, 1)}),
    "table": _TABLE,
    "data_table": _block(
        {"caption": string(255, 1), "rows": array(array(_DATA_CELL, 20, 1), 101, 2)},
        {"page_size": integer(1, 100), "row_header_column_index": integer(0, 19)},
    ),
    "data_visualization": _block({"title": string(50, 1), "chart": _CHART}),
}
