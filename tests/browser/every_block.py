"""One of every block and of every input that the sandbox accepts."""

from typing import Any

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def option(name: str) -> Json:
    return {"text": plain(name), "value": name}


def element(kind: str, **more: Any) -> Json:
    return {"type": kind, "action_id": kind} | more


def raw(text: str) -> Json:
    return {"type": "raw_text", "text": text}


def rich(kind: str, text: str, **style: bool) -> Json:
    return {"type": kind, "elements": [{"type": "text", "text": text} | ({"style": style} if style else {})]}


OPTIONS = [option("one"), option("two")]
CHOSEN = {"text": plain("Good"), "value": "good"}
PICTURE = {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "A picture from elsewhere"}
POINTS = [{"label": "Mon", "value": 3}, {"label": "Tue", "value": 5}]
SERIES = [{"name": "bot", "data": POINTS}, {"name": "people", "data": POINTS[::-1]}]
AXES = {"categories": ["Mon", "Tue"], "x_label": "Day", "y_label": "Score"}
FORMATTED = """*bold* _italic_ ~gone~ `code` <https://example.com|link> <!here> :tada: <!date^0^{date}|then>
&gt; quote
```pre```"""
MARKDOWN = """# Title
**bold** [link](https://example.com)

- item
  1. first

- [x] done

| Bot | Mean |
|-----|-----:|
| a   | 3.5  |

```py
x = 1
```
> quote"""

PICKERS = [
    element("static_select", options=OPTIONS, placeholder=plain("Pick one")),
    element("users_select"),
    element("channels_select"),
    element("conversations_select"),
    element("datepicker"),
    element("timepicker"),
    element("datetimepicker"),
    element("multi_static_select", options=[option(f"option {number}") for number in range(6)]),
]
CHOICES = [element("radio_buttons", options=OPTIONS), element("checkboxes", options=OPTIONS)]

RICH_TEXT = [
    rich("rich_text_section", "bold", bold=True),
    rich("rich_text_preformatted", "code"),
    rich("rich_text_quote", "quote"),
    {"type": "rich_text_list", "style": "bullet", "elements": [rich("rich_text_section", "item")]},
]

EVERY_BLOCK: list[Json] = [
    {"type": "header", "text": plain("Heading")},
    {"type": "section", "text": mrkdwn(FORMATTED), "accessory": element("button", text=plain("Go"), style="primary")},
    {"type": "section", "fields": [mrkdwn("*Mean*\n3.4"), plain("a field")]},
    {"type": "divider"},
    {"type": "context", "elements": [PICTURE, mrkdwn("context")]},
    {"type": "actions", "elements": [element("button", text=plain("Stop"), style="danger"), *PICKERS]},
    {"type": "actions", "elements": [*CHOICES, element("overflow", options=OPTIONS)]},
    {
        "type": "context_actions",
        "elements": [
            element("feedback_buttons", positive_button=CHOSEN, negative_button={"text": plain("Bad"), "value": "bad"}),
            element("icon_button", icon="trash", text=plain("Delete")),
        ],
    },
    {"type": "markdown", "text": MARKDOWN},
    {"type": "rich_text", "elements": RICH_TEXT},
    {**PICTURE, "title": plain("Title")},
    {"type": "table", "rows": [[raw("a"), raw("b")], [raw("1"), raw("2")]]},
    {
        "type": "data_table",
        "caption": "Answers",
        "rows": [[raw("Channel"), raw("Scores")], [raw("help"), {"type": "raw_number", "value": 42}]],
    },
    {"type": "data_visualization", "title": "By day", "chart": {"type": "bar", "series": SERIES, "axis_config": AXES}},
    {"type": "data_visualization", "title": "Shares", "chart": {"type": "pie", "segments": POINTS}},
]

TYPED = [
    element("plain_text_input", multiline=True),
    element("number_input", is_decimal_allowed=True),
    element("rich_text_input"),
]

EVERY_INPUT: list[Json] = [
    {"type": "input", "label": plain(f"Label of {one['type']}"), "hint": plain("hint"), "element": one}
    for one in [*TYPED, *PICKERS, *CHOICES]
]
