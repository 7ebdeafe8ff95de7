"""Block Kit: which blocks are accepted, which are refused, and Slack's words for that."""

from typing import Any

import pytest

from pocket_slack import SlackError
from pocket_slack.blocks import check_blocks, check_view
from sandbox.tests.page.every_block import mrkdwn, plain

Block = dict[str, Any]


def button(**more: Any) -> Block:
    return {"type": "button", "text": plain(), "action_id": "go", **more}


def options(count: int) -> list[Block]:
    return [{"text": plain(), "value": str(number)} for number in range(count)]


def menu(count: int) -> Block:
    return {"type": "static_select", "action_id": "pick", "options": options(count)}


def question(element: Block) -> Block:
    return {"type": "input", "label": plain(), "element": element}


def modal(**more: Any) -> Block:
    return {"type": "modal", "title": plain(), "blocks": [], **more}


def actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


BARS = {"type": "bar", "series": [{"name": "2026", "data": [{"label": "May", "value": 3.5}]}]}
AXES = {"categories": ["May"], "x_label": "month", "y_label": "score"}
CHART = {"type": "data_visualization", "title": "Scores", "chart": {**BARS, "axis_config": AXES}}
PIE = {
    "type": "data_visualization",
    "title": "Parts",
    "chart": {"type": "pie", "segments": [{"label": "a", "value": 1}]},
}
CELL = {"type": "raw_text", "text": "a"}
NUMBER = {"type": "raw_number", "value": 4}
LINE = {
    "type": "rich_text_section",
    "elements": [{"type": "text", "text": "a", "style": {"bold": True}}],
}
PICTURE = {"type": "image", "image_url": "https://a.b/c.png", "alt_text": "d"}
CARD = {
    "type": "card",
    "title": mrkdwn("x" * 150),
    "body": mrkdwn("x" * 200),
    "icon": PICTURE,
    "actions": [button()],
}
RICH = {"type": "rich_text", "elements": [LINE]}
SOURCE = {"type": "url", "url": "https://a.b", "text": "a"}
TASK = {
    "task_id": "t1",
    "title": "Look it up",
    "status": "complete",
    "details": RICH,
    "sources": [SOURCE],
}
VIDEO = {
    "type": "video",
    "title": plain("x" * 199),
    "alt_text": "a film",
    "video_url": "https://a.b/c",
    "thumbnail_url": "https://a.b/c.png",
}
TABLE = {"type": "table", "rows": [[CELL]]}


def container(*children: Block, **more: Any) -> Block:
    return {"type": "container", "title": plain(), "child_blocks": list(children), **more}


def plan(*tasks: Block) -> Block:
    return {"type": "plan", "title": "Steps", "tasks": list(tasks)}


def carousel(count: int) -> Block:
    return {"type": "carousel", "elements": [CARD] * count}


def bars(*names: str, label: str = "May") -> Block:
    series = [{"name": name, "data": [{"label": label, "value": -1}]} for name in names]
    return {**CHART, "chart": {"type": "bar", "series": series, "axis_config": AXES}}


FEEDBACK = {
    "type": "feedback_buttons",
    "action_id": "thumbs",
    "positive_button": {"text": plain("Good"), "value": "up"},
    "negative_button": {"text": plain("Bad"), "value": "down"},
}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "section", "text": mrkdwn("x" * 3000), "accessory": button(), "block_id": "b"},
        {"type": "header", "text": plain("x" * 150)},
        {
            "type": "context",
            "elements": [mrkdwn(), {"type": "image", "image_url": "https://a.b", "alt_text": "c"}],
        },
        actions(button(style="primary", value="7"), menu(100)),
        actions({"type": "overflow", "action_id": "more", "options": options(5)}),
        {"type": "divider"},
        {"type": "image", "image_url": "https://a.b/c.png", "alt_text": "d", "title": plain()},
        {"type": "context_actions", "elements": [FEEDBACK]},
        {
            "type": "rich_text",
            "elements": [LINE, {"type": "rich_text_list", "style": "bullet", "elements": [LINE]}],
        },
        {"type": "table", "rows": [[CELL, CELL], [CELL]], "column_settings": [{"align": "right"}]},
        {
            "type": "data_table",
            "caption": "Scores",
            "rows": [[CELL, CELL], [CELL, NUMBER]],
            "page_size": 10,
        },
        CHART,
        PIE,
        CARD,
        {
            "type": "card",
            "hero_image": PICTURE,
            "slack_icon": {"type": "icon", "name": "check"},
            "subtext": plain(),
        },
        carousel(10),
        container(
            *[{"type": "divider"}] * 8, VIDEO, TABLE, subtitle=mrkdwn(), icon=PICTURE, width="full"
        ),
        container(
            RICH, title=plain(), rich_text_title=RICH, is_collapsible=True, default_collapsed=True
        ),
        {"type": "task_card", **TASK, "output": RICH, "block_id": "b"},
        plan(TASK, {"type": "task_card", "task_id": "t2", "title": "No state yet"}),
        {
            **VIDEO,
            "title_url": "https://a.b",
            "description": plain("x" * 199),
            "provider_name": "Tube",
        },
        {
            "type": "rich_text",
            "elements": [{**LINE, "elements": [{"type": "citation", "url": "https://a.b"}]}],
        },
        question(
            {"type": "plain_text_input", "action_id": "t", "multiline": True, "max_length": 3000}
        ),
    ],
)
def test_a_block_within_its_limits_passes(block: Block) -> None:
    check_blocks([block])


@pytest.mark.parametrize(
    ("block", "what", "where"),
    [
        (
            {"type": "file", "external_id": "a", "source": "remote"},
            "unsupported type: file",
            "/type",
        ),
        ({"type": "alert", "text": plain()}, "unsupported type: alert", "/type"),
        (
            {"type": "card", "subtitle": mrkdwn()},
            "must define either `hero_image` or `title` or `actions` or `body`",
            "/type",
        ),
        ({**CARD, "title": "words"}, "must provide an object", "/title"),
        ({**CARD, "actions": [menu(1)]}, "unsupported type: static_select", "/actions/0/type"),
        ({**CARD, "actions": [button()] * 2}, "`action_id` already exists: go", "/actions"),
        (
            {**CARD, "slack_icon": {"type": "icon", "name": "check"}},
            "must define only one of `icon` and `slack_icon`",
            "/slack_icon",
        ),
        (carousel(0), "no fewer than 1 items allowed", "/elements"),
        (carousel(11), "no more than 10 items allowed", "/elements"),
        (container(), "no fewer than 1 items allowed", "/child_blocks"),
        (container(container(RICH)), "unsupported type: container", "/child_blocks/0/type"),
        (
            container(RICH, default_collapsed=True),
            "`default_collapsed` requires `is_collapsible`",
            "/default_collapsed",
        ),
        (
            container(RICH, is_collapsible=True, has_header_divider=True),
            "`has_header_divider` cannot be set with `is_collapsible`",
            "/has_header_divider",
        ),
        (
            container({"type": "divider", "block_id": "b"}, block_id="b"),
            "`block_id` already exists: b",
            "/child_blocks/0/block_id",
        ),
        (
            {"type": "container", "child_blocks": [RICH]},
            "must define either `title` or `rich_text_title`",
            "/type",
        ),
        (
            {"type": "task_card", **TASK, "status": "done"},
            "must be a valid enum value: pending, in_progress, complete, error",
            "/status",
        ),
        (plan(TASK, TASK), "`task_id` must be unique", "/tasks"),
        ({**VIDEO, "video_url": "http://a.b"}, "must be an HTTPS URL", "/video_url"),
        (bars("a", "a"), "names of series must be unique", "/chart/series"),
        (
            bars("a", label="June"),
            "each series must have one data point for each category",
            "/chart/series",
        ),
        ({"text": mrkdwn()}, "missing required field: type", ""),
        ({"type": "section"}, "must define either `text` or `fields`", "/type"),
        ({"type": "divider", "text": "x"}, "invalid additional property: text", ""),
        (
            {"type": "section", "text": mrkdwn("x" * 3001)},
            "must be less than 3001 characters",
            "/text/text",
        ),
        ({"type": "section", "text": mrkdwn("")}, "must be more than 0 characters", "/text/text"),
        (
            {"type": "section", "text": {**mrkdwn(), "emoji": True}},
            "invalid additional property: emoji",
            "/text",
        ),
        (
            {"type": "section", "fields": [mrkdwn()] * 11},
            "no more than 10 items allowed",
            "/fields",
        ),
        (
            {"type": "header", "text": plain("x" * 151)},
            "must be less than 151 characters",
            "/text/text",
        ),
        ({"type": "header", "text": mrkdwn()}, "unsupported type: mrkdwn", "/text/type"),
        (actions(*[button()] * 26), "no more than 25 items allowed", "/elements"),
        (
            actions(button(text=plain("x" * 76))),
            "must be less than 76 characters",
            "/elements/0/text/text",
        ),
        (
            actions(button(value="x" * 2001)),
            "must be less than 2001 characters",
            "/elements/0/value",
        ),
        (
            actions({"type": "plain_text_input", "action_id": "t"}),
            "unsupported type: plain_text_input",
            "/elements/0/type",
        ),
        (actions(button(), button()), "`action_id` already exists: go", "/elements"),
        (
            {"type": "image", "alt_text": "x"},
            "must define either `image_url` or `slack_file`",
            "/type",
        ),
        ({"type": "markdown", "text": "x" * 12_001}, "must be less than 12001 characters", "/text"),
        (
            question({"type": "plain_text_input", "action_id": "t", "max_length": 3001}),
            "must be between 1 and 3000",
            "/element/max_length",
        ),
        ({**CHART, "chart": BARS}, "missing required field: axis_config", "/chart"),
        (
            {"type": "data_table", "caption": "c", "rows": [[CELL]]},
            "no fewer than 2 items allowed",
            "/rows",
        ),
        (
            {"type": "data_table", "caption": "c", "rows": [[CELL], [NUMBER, CELL]]},
            "every row must have the same number of cells",
            "/rows",
        ),
        (
            {"type": "table", "rows": [[{"type": "raw_text", "text": "x" * 5001}] * 2]},
            "must be less than 10001 characters",
            "/rows",
        ),
    ],
)
def test_a_block_beyond_its_limits_is_refused_with_its_json_pointer(
    block: Block, what: str, where: str
) -> None:
    reason = f"{what} [json-pointer:/blocks/0{where}]"
    with pytest.raises(SlackError) as caught:
        check_blocks([block])
    assert caught.value.code == "invalid_blocks"
    assert reason in caught.value.extra["errors"]
    assert f"[ERROR] {reason}" in caught.value.messages


def test_an_invalid_text_object_is_reported_with_its_own_fault() -> None:
    with pytest.raises(SlackError) as caught:
        check_blocks([{"type": "section", "text": mrkdwn("x" * 3001)}])
    assert caught.value.messages == [
        "[ERROR] failed to match all allowed schemas [json-pointer:/blocks/0/text]",
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
    ]


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        ([{"type": "divider"}] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
        (
            [{"type": "divider", "block_id": "b"}] * 2,
            "`block_id` already exists: b [json-pointer:/blocks/1/block_id]",
        ),
        ([TABLE, container(TABLE)], "no more than 1 table blocks allowed [json-pointer:/blocks]"),
        ([CHART] * 3, "no more than 2 data_visualization blocks allowed [json-pointer:/blocks]"),
        (
            [{"type": "markdown", "text": "x" * 7000}] * 2,
            "must be less than 12001 characters [json-pointer:/blocks]",
        ),
    ],
)
def test_the_blocks_of_a_message_share_limits(blocks: list[Block], reason: str) -> None:
    with pytest.raises(SlackError) as caught:
        check_blocks(blocks)
    assert caught.value.extra["errors"] == [reason]


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        (
            modal(title=plain("x" * 25)),
            "must be less than 25 characters [json-pointer:/view/title/text]",
        ),
        (
            modal(private_metadata="x" * 3001),
            "must be less than 3001 characters [json-pointer:/view/private_metadata]",
        ),
        (
            modal(blocks=[{"type": "divider"}] * 101),
            "no more than 100 items allowed [json-pointer:/view/blocks]",
        ),
        (
            modal(blocks=[question({"type": "plain_text_input", "action_id": "t"})]),
            (
                "must define `submit` to use an `input` block in modals "
                "[json-pointer:/view/blocks/0/input]"
            ),
        ),
        (
            modal(blocks=[{"type": "alert", "text": mrkdwn("x" * 201)}]),
            "must be less than 201 characters [json-pointer:/view/blocks/0/text/text]",
        ),
        (
            modal(blocks=[CHART]),
            "unsupported type: data_visualization [json-pointer:/view/blocks/0/type]",
        ),
        ({"type": "modal", "blocks": []}, "missing required field: title [json-pointer:/view]"),
    ],
)
def test_a_modal_beyond_its_limits_is_refused_with_its_json_pointer(
    view: Block, reason: str
) -> None:
    with pytest.raises(SlackError) as caught:
        check_view(view, "modal")
    assert caught.value.code == "invalid_arguments"
    assert f"[ERROR] {reason}" in caught.value.messages


def test_a_home_tab_has_no_title() -> None:
    check_view({"type": "home", "blocks": [{"type": "divider"}]}, "home")
    with pytest.raises(SlackError):
        check_view({"type": "home", "blocks": [], "title": plain()}, "home")
    with pytest.raises(SlackError):
        check_view(modal(), "home")


def test_each_block_counts_towards_the_length_of_a_message() -> None:
    with pytest.raises(SlackError) as caught:
        check_blocks([{"type": "section", "text": mrkdwn("x" * 252)}] * 45)
    assert caught.value.code == "msg_blocks_too_long"
    check_blocks([{"type": "section", "text": mrkdwn("x" * 191)}] * 50)
