from typing import Any

from structlog.testing import capture_logs

from bot.domain.blocker import NO_TEXT
from bot.slack.messages import to_message
from tests.tables import each

IMAGE = {"type": "image", "image_url": "https://a.example", "alt_text": "a chart"}


def read(**message: Any) -> str:
    return to_message({"ts": "1.1", **message}).text


SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "The *real* answer"}}
ATTACHED = {
    "pretext": "p",
    "title": "t",
    "text": "x",
    "fields": [{"title": "f", "value": "v"}],
    "fallback": "no",
}


@each(
    ("message", "text"),
    [
        ({"text": "Hello &amp; welcome"}, "Hello & welcome"),
        ({"text": "New answer", "blocks": [SECTION]}, "The *real* answer"),
        (
            {"text": "The answer", "blocks": [{"type": "divider"}, {"type": "foo"}]},
            "The answer\n[block: foo]",
        ),
        ({"text": "first", "attachments": [ATTACHED]}, "first\np\nt\nx\nf: v"),
        ({"attachments": [{"fallback": "A chart of sales"}]}, "A chart of sales"),
    ],
)
def test_text_blocks_and_attachments_are_read_once(message: dict[str, Any], text: str) -> None:
    assert read(**message) == text


def test_rich_text_keeps_lists_code_and_quotes() -> None:
    def part(kind: str, *words: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "elements": [{"type": "text", "text": word} for word in words]} | more

    items = {"elements": [part("rich_text_section", "one"), part("rich_text_section", "two")]}
    parts = [
        part("rich_text_section", "Do ", "this:"),
        part("rich_text_list", style="ordered", **items),
        part("rich_text_list", style="bullet", indent=1, **items),
        part("rich_text_preformatted", "x = 1"),
        part("rich_text_quote", "said\ntwice"),
    ]
    said = "Do this:\n1. one\n2. two\n  - one\n  - two\n```\nx = 1\n```\n> said\n> twice"
    assert read(blocks=[{"type": "rich_text", "elements": parts}]) == said


@each("mark", ["from_url", "original_url", "is_msg_unfurl", "is_app_unfurl"])
def test_a_preview_of_a_link_is_not_read(mark: str) -> None:
    preview = {mark: "https://a.example", "title": "score: 5", "text": "A colleague's words"}
    assert read(text="See it", attachments=[preview, {"text": "mine"}]) == "See it\nmine"


def test_a_message_that_a_person_shared_is_read_and_marked() -> None:
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "It is [red]\nor &lt;blue&gt;"}},
        IMAGE,
    ]
    shared = {
        "is_share": True,
        "is_msg_unfurl": True,
        "from_url": "https://a.example",
        "author_id": "U2",
    }
    shared |= {"text": "no", "message_blocks": [{"message": {"blocks": blocks}}]}
    found = to_message({"ts": "1.1", "text": "Why?", "attachments": [shared]})
    assert found.text == "Why?\n[shared message: It is (red)\nor <blue>\n(picture: a chart)]"
    assert (found.read.shared_by, found.read.unread) == (("U2",), ("picture",))
    assert to_message({"ts": "1.1", "attachments": [shared]}).blocker is None


@each("message", [{"text": "", "files": [{"id": "F1"}]}, {"text": None}])
def test_a_message_without_text_has_none_to_score(message: dict[str, Any]) -> None:
    found = to_message({"ts": "1.1", **message})
    assert (found.text, found.blocker) == ("", NO_TEXT)


@each("content", [{"blocks": "words"}, {"text": 5}])
def test_a_message_in_a_shape_that_nobody_knows_is_named_unreadable(
    content: dict[str, Any],
) -> None:
    with capture_logs() as logs:
        found = to_message({"ts": "1.1", "user": "U1", "text": "a stub"} | content)
    assert [(entry["event"], entry["ts"]) for entry in logs] == [("message_unreadable", "1.1")]
    assert (found.text, found.author_id) == ("", "U1")
    assert found.blocker == "I cannot read that kind of message."


def test_a_parent_stands_in_no_thread_and_a_bot_may_have_its_bot_id_alone() -> None:
    parent = to_message({"ts": "1.1", "thread_ts": "1.1", "bot_id": "B1"})
    assert (parent.parent_ts, parent.author_id) == (None, "B1")
    assert to_message({"ts": "1.2", "thread_ts": "1.1", "text": "x"}).thread_ts == "1.1"
