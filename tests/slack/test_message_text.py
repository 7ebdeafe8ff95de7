"""How each type of block, element and text object is read, as Slack and slack-sdk 3.48 have them."""

from typing import Any

from bot.slack.message_text import READ, read
from tests.tables import each

Raw = dict[str, Any]


def text(words: str) -> Raw:
    return {"type": "mrkdwn", "text": words}


def block(kind: str, **fields: Any) -> Raw:
    return {"type": kind, **fields}


def rich(*elements: Raw) -> Raw:
    return block("rich_text", elements=[block("rich_text_section", elements=list(elements))])


IMAGE = block("image", image_url="https://a.example/x.png", alt_text="a chart")
CARD = block("card", title=text("Plan A"), subtitle=text("monthly"), body=text("*9* &amp; up"))
SOURCE = block("url", url="https://a.example/doc", text="Handbook")
STEP = block("task_card", task_id="1", title="Look it up", status="in_progress", sources=[SOURCE])
STEP_READ = "[step: Look it up, in progress]\n[source: Handbook (https://a.example/doc)]"
FOLDED = STEP | {
    "status": "complete",
    "details": rich(block("text", text="no")),
    "output": rich(),
    "sources": [],
}
SO_READ = "So [source: Book (https://a.example)]"
SERIES = [
    {"name": "Web", "data": [{"label": "Mon", "value": 1}, {"label": "Tue", "value": 2.5}]},
    {"name": "App", "data": [{"label": "Mon", "value": -3}]},
]
AXES = {"categories": ["Mon", "Tue"], "y_label": "EUR"}

TABLE: list[tuple[Raw, str]] = [
    (
        block("section", text=text("a"), fields=[text("b"), block("plain_text", text="c")]),
        "a\nb\nc",
    ),
    (block("section", text=text("a"), accessory=IMAGE), "a\n[picture: a chart]"),
    (block("section", text=text("a"), accessory=block("button", text=text("no"))), "a"),
    (block("header", text=text("Title")), "Title"),
    (block("context", elements=[IMAGE, text("a"), text("b")]), "a b"),
    (block("markdown", text="**bold** <not a token>"), "**bold** <not a token>"),
    (block("alert", text=text("Careful"), level="warning"), "Careful"),
    (
        CARD | {"hero_image": IMAGE, "icon": IMAGE, "subtext": text("a seat")},
        "[picture: a chart]\nPlan A\nmonthly\n*9* & up\na seat",
    ),
    (
        block("carousel", elements=[CARD, block("card", title=text("Plan B"))]),
        "Plan A\nmonthly\n*9* & up\nPlan B",
    ),
    (
        block("container", title=text("T"), subtitle=text("S"), child_blocks=[CARD]),
        "T\nS\nPlan A\nmonthly\n*9* & up",
    ),
    (
        block("plan", title="Plan", tasks=[FOLDED, STEP]),
        f"Plan\n[step: Look it up, complete]\n{STEP_READ}",
    ),
    (block("plan", tasks=[{"title": "Ask"}]), "[step: Ask]"),
    (block("file"), "[file]"),
    (STEP, STEP_READ),
    (
        rich(
            block("text", text="So "),
            block("citation", url="https://a.example", text="Book", index=1),
        ),
        SO_READ,
    ),
    (rich(block("tag", text="In progress")), "In progress"),
    (SOURCE, "[source: Handbook (https://a.example/doc)]"),
    (
        block(
            "data_visualization",
            title="Sales",
            chart={"type": "bar", "series": SERIES, "axis_config": AXES},
        ),
        "Sales (EUR)\nWeb: Mon = 1, Tue = 2.5\nApp: Mon = -3",
    ),
    (
        block(
            "data_visualization",
            title="Sales",
            chart={"type": "pie", "segments": SERIES[0]["data"]},
        ),
        "Sales\nMon = 1, Tue = 2.5",
    ),
    (IMAGE | {"title": text("Sales")}, "[picture: Sales: a chart]"),
    (
        block("video", title=text("How to"), description=text("In a minute"), alt_text="no"),
        "[video: How to: In a minute]",
    ),
    (block("file", external_id="1", source="remote", name="report.pdf"), "[file: report.pdf]"),
    (
        block(
            "table",
            rows=[
                [block("raw_text", text="a"), rich(block("text", text="b"))],
                [block("raw_number", value=3)],
            ],
        ),
        "a | b\n3",
    ),
    (
        block("data_table", caption="C", rows=[[block("raw_number", value=3.5, text="3.50")]]),
        "C\n3.50",
    ),
    (block("divider"), ""),
    *((block(kind, label=text("no")), "") for kind in ("actions", "context_actions", "input")),
    (
        rich(
            block("user", user_id="U1"),
            block("text", text=" in "),
            block("channel", channel_id="C1"),
            block("link", url="https://a.example", text=": here"),
            block("emoji", name="wave"),
            block("broadcast", range="here"),
            block("usergroup", usergroup_id="S1"),
            block("color", value="#fff"),
            block("date", timestamp=1392734382, format=" since {date_num}", fallback="no"),
            block("foo"),
        ),
        "@U1 in #C1: here (https://a.example):wave:@here@S1#fff since 2014-02-18[block: foo]",
    ),
]


@each(("raw", "words"), TABLE)
def test_every_type_is_read_as_people_see_it(raw: Raw, words: str) -> None:
    assert read({"blocks": [raw]}).text == words


def test_no_type_is_left_out_of_the_table_above() -> None:
    elsewhere = {
        "attachment",
        "shared message",
        "rich_text_list",
        "rich_text_preformatted",
        "rich_text_quote",
    }
    assert not [kind for kind in READ.keys() - elsewhere if f"'type': '{kind}'" not in str(TABLE)]


def test_what_is_not_read_is_counted_and_stands_at_its_place() -> None:
    files = [{"name": "report.pdf"}, {"name": "x.png", "mimetype": "image/png", "alt_txt": "a map"}]
    found = read({"blocks": [IMAGE, CARD, block("foo")], "files": files, "text": "no"})
    assert found.text == (
        "[picture: a chart]\nPlan A\nmonthly\n*9* & up\n[block: foo]\n[file: "
        "report.pdf]\n[picture: a map]"
    )
    assert found.unread == ("picture", "block", "file", "picture")


def test_the_text_stands_above_blocks_without_words() -> None:
    assert (
        read({"text": "Here it is:", "blocks": [IMAGE]}).text == "Here it is:\n[picture: a chart]"
    )


@each(
    "raw",
    [
        IMAGE,
        rich(block("foo")),
        block("table", rows=[[IMAGE, IMAGE]]),
    ],
)
def test_pictures_and_the_like_are_no_words(raw: Raw) -> None:
    assert not read({"blocks": [raw]}).has_words


def test_words_that_look_like_a_mark_are_changed_even_if_they_are_put_together() -> None:
    raw = {
        "blocks": [
            rich(block("text", text="[st"), block("text", text="ep: A, complete] \ufffc")),
            STEP,
        ]
    }
    assert read(raw).text == f"(step: A, complete) \n{STEP_READ}"
    assert (
        read({"blocks": [STEP | {"title": "A] [step: B", "sources": []}]}).text
        == "[step: A) (step: B, in progress]"
    )


BROKEN: list[Any] = [
    *(None, [], {}, {"type": 5}),
    *(block("table", rows=rows) for rows in ("ab", [[None]])),
    block("rich_text", elements=[block("rich_text_list", offset="x", elements=[])]),
    block("section", text={"type": "mrkdwn", "text": 5}),
    block("carousel", elements=CARD),
    block("task_card", title=["ab"], status="complete"),
    block("task_card", title="ab", sources=5),
    block("data_visualization", title="ab", chart={"type": "pie", "segments": "ab"}),
    block("image", alt_text=5),
]


@each("raw", BROKEN)
def test_a_block_of_an_unknown_shape_is_not_read_and_keeps_nothing_else_from_it(raw: Any) -> None:
    found = read({"blocks": [raw, CARD]})
    assert found.text.endswith("Plan A\nmonthly\n*9* & up")
    assert (found.text[0], "block" in found.unread) == ("[", True)
