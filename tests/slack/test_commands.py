from bot.slack.invocation import TypedTexts, Word, parse_command
from bot.slack.messages import Permalink, parse_permalink
from tests.tables import each

LINK = "https://acme.slack.com/archives/C0123ABC/p1700000000000100"


@each("text", [LINK, f"<{LINK}>", f"  {LINK} ", f"<{LINK}|a label>"])
def test_a_link_alone_is_a_link(text: str) -> None:
    assert parse_command(text) == Permalink("C0123ABC", "1700000000.000100", None)
    for other in (f"see {text}", LINK[:-1], "https://[bad", "ftp://a/b"):
        assert parse_permalink(other) is None


def test_a_link_into_a_thread_names_the_parent() -> None:
    link = f"{LINK}?thread_ts=1699999999.000200&cid=C0123ABC"
    assert parse_permalink(link) == Permalink("C0123ABC", "1700000000.000100", "1699999999.000200")
    assert parse_permalink(link.replace("&", "&amp;")) == parse_permalink(link)


@each(
    ("text", "question", "response"),
    [
        ("What? | That.", "What?", "That."),
        ("a|b | c | d", "a|b", "c | d"),
        ("What? |", "What?", ""),
        ("1 &lt; 2? | <https://a.example|yes>", "1 < 2?", "yes (https://a.example)"),
    ],
)
def test_a_bar_parts_question_and_response(text: str, question: str, response: str) -> None:
    assert parse_command(text) == TypedTexts(question, response)


def test_anything_else_is_a_word_and_no_text_is_no_request() -> None:
    assert parse_command("HELP me") == Word("help", "me")
    assert parse_command("   ") is None
