"""One of every block and of every input that the sandbox accepts."""

from typing import Any

Json = dict[str, Any]


def plain(text: str = "words") -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str = "words") -> Json:
    return {"type": "mrkdwn", "text": text}


def option(name: str) -> Json:
    return {"text": plain(name), "value": name}


def element(kind: str, **more: Any) -> Json:
    return {"type": kind, "action_id": kind} | more


def raw(text: str) -> Json:
    return {"type": "raw_text", "text": text}


def rich(kind: str, text: str, **style: bool) -> Json:
    return {
        "type": kind,
        "elements": [{"type": "text", "text": text} | ({"style": style} if style else {})],
    }


OPTIONS = [option("one"), option("two")]
CHOSEN = {"text": plain("Good"), "value": "good"}
PICTURE = {
    "type": "image",
    "image_url": "https://example.com/a.png",
    "alt_text": "A picture from elsewhere",
}
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

CARD = {
    "type": "card",
    "hero_image": PICTURE,
    "icon": PICTURE,
    "title": mrkdwn("*Reset* a password"),
    "subtitle": plain("Handbook, chapter 4"),
    "body": mrkdwn("Open <https://example.com|the portal> and choose _Forgotten_."),
    "actions": [element("button", text=plain("Open"))],
}
DETAILS = {"type": "rich_text", "elements": [rich("rich_text_section", "Searched three chapters")]}
SOURCES = [{"type": "url", "url": "https://example.com/4", "text": "Chapter 4"}]
TASKS: list[Json] = [
    {
        "task_id": "1",
        "title": "Look it up",
        "status": "complete",
        "details": DETAILS,
        "sources": SOURCES,
    },
    {"task_id": "2", "title": "Check the rights", "status": "in_progress"},
    {"task_id": "3", "title": "Ask the portal", "status": "error"},
]

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
    {
        "type": "section",
        "text": mrkdwn(FORMATTED),
        "accessory": element("button", text=plain("Go"), style="primary"),
    },
    {"type": "section", "fields": [mrkdwn("*Mean*\n3.4"), plain("a field")]},
    {"type": "divider"},
    {"type": "context", "elements": [PICTURE, mrkdwn("context")]},
    {
        "type": "actions",
        "elements": [element("button", text=plain("Stop"), style="danger"), *PICKERS],
    },
    {"type": "actions", "elements": [*CHOICES, element("overflow", options=OPTIONS)]},
    {
        "type": "context_actions",
        "elements": [
            element(
                "feedback_buttons",
                positive_button=CHOSEN,
                negative_button={"text": plain("Bad"), "value": "bad"},
            ),
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
        "rows": [
            [raw("Channel"), raw("Scores")],
            [raw("help"), {"type": "raw_number", "value": 42}],
        ],
    },
    {
        "type": "data_visualization",
        "title": "By day",
        "chart": {"type": "bar", "series": SERIES, "axis_config": AXES},
    },
    {"type": "data_visualization", "title": "Shares", "chart": {"type": "pie", "segments": POINTS}},
    CARD,
    {
        "type": "carousel",
        "elements": [
            {**CARD, "actions": []},
            {**CARD, "title": mrkdwn("Second card"), "actions": []},
        ],
    },
    {
        "type": "container",
        "title": plain("Two records"),
        "subtitle": mrkdwn("to be _changed_"),
        "icon": PICTURE,
        "is_collapsible": True,
        "child_blocks": [
            {"type": "section", "text": mrkdwn("*One*")},
            {"type": "context", "elements": [mrkdwn("inside")]},
        ],
    },
    {"type": "plan", "title": "Three steps", "tasks": TASKS},
    {"type": "task_card", **TASKS[0]},
    {
        "type": "video",
        "title": plain("A film"),
        "title_url": "https://example.com/film",
        "description": plain("How to reset a password"),
        "provider_name": "Example",
        "author_name": "Ann",
        "alt_text": "The first picture of the film",
        "video_url": "https://example.com/embed",
        "thumbnail_url": "https://example.com/film.png",
    },
]

TYPED = [
    element("plain_text_input", multiline=True),
    element("number_input", is_decimal_allowed=True),
    element("rich_text_input"),
]

EVERY_INPUT: list[Json] = [
    {
        "type": "input",
        "label": plain(f"Label of {one['type']}"),
        "hint": plain("hint"),
        "element": one,
    }
    for one in [*TYPED, *PICKERS, *CHOICES]
]
