"""Blocks, and which surfaces may contain them.

Source: https://docs.slack.dev/reference/block-kit/blocks
"""

from collections.abc import Mapping

from pocket_slack.blocks import rich_text
from pocket_slack.blocks.elements import CONTEXT_ACTIONS, IMAGE, IN_ACTIONS, IN_INPUT, IN_SECTION
from pocket_slack.blocks.objects import BLOCK_ID, SLACK_FILE, URL, any_text, plain_text
from pocket_slack.blocks.schema import Check, array, boolean, choice, integer, number, record, string, union


def _block(
    required: Mapping[str, Check], optional: Mapping[str, Check] | None = None, either: tuple[str, ...] = ()
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
_AXES = record({"categories": array(string(20, 1), 20, 1)}, {"x_label": string(50), "y_label": string(50)})
_SERIES = record(
    {
        "series": array(record({"name": string(20, 1), "data": array(_POINT, 20, 1)}), 6, 1),
        "axis_config": _AXES,
    }
)
_CHART = union(
    {
        "bar": _SERIES,
        "line": _SERIES,
        "area": _SERIES,
        "pie": record({"segments": array(_POINT, 6, 1)}),
    }
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
}

IN_MESSAGES: Mapping[str, Check] = {
    **EVERYWHERE,
    "markdown": _block({"text": string(12_000, 1)}),
    "context_actions": _block({"elements": array(union(CONTEXT_ACTIONS), 5, 1)}),
    "table": _block({"rows": array(array(_CELL, 20), 100, 1)}, {"column_settings": array(_COLUMN, 20)}),
    "data_table": _block(
        {"caption": string(255, 1), "rows": array(array(_DATA_CELL, 20, 1), 101, 2)},
        {"page_size": integer(1, 100), "row_header_column_index": integer(0, 19)},
    ),
    "data_visualization": _block({"title": string(50, 1), "chart": _CHART}),
}
