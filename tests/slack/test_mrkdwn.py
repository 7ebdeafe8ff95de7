import re

from hypothesis import given
from hypothesis import strategies as st

from bot.slack.mrkdwn import clip, escape, excerpt, to_plain
from tests.tables import each


@each(
    ("incoming", "read"),
    [
        ("<@U1|HIDDEN> asks", "@U1 asks"),
        ("see <#C1|HIDDEN>", "see #C1"),
        ("<!here|HIDDEN>", "@here"),
        ("<!subteam^S1|HIDDEN>", "@S1"),
        ("<!date^1392734382^At {date_long_pretty}, {time}|HIDDEN>", "At 2014-02-18, 14:39 UTC"),
        (
            "<!date^1392734382^{time_secs}^https://a.example|HIDDEN>",
            "14:39 UTC (https://a.example)",
        ),
        ("<!date^99999999999999^{date}|HIDDEN>", "99999999999999"),
        ("<!date^never^{date}|soon>", "soon"),
        ("<https://a.example/x|label>", "label (https://a.example/x)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&lt;@U1&gt; is no token", "<@U1> is no token"),
        ("if 1 < 2 and 3 > 2", "if 1 < 2 and 3 > 2"),
        ("a\x00b\x1b[31m\x7f\x9f\ta", "ab[31m\ta"),
        ("lone \ud83d surrogate", "lone  surrogate"),
    ],
)
def test_incoming_text_reads_as_in_slack(incoming: str, read: str) -> None:
    assert to_plain(incoming) == read


@given(st.text())
def test_no_outgoing_text_can_be_a_mention_or_link(text: str) -> None:
    assert not set("<>") & set(escape(text))


def test_text_at_the_limit_is_not_cut() -> None:
    assert clip("abcde", 5) == "abcde"
    assert clip("abcdef", 5) == "abcd…"
    assert clip("<b> & c", 5) == "&lt;b&gt;…"


def test_excerpt_stands_on_one_line() -> None:
    assert (
        excerpt("one\n\n  two\tthree \u200b four\u2800\u2800five", 40) == "one two three four five"
    )


@each(
    ("written", "sent"),
    [
        *(
            ("*Score 5 of 5*", "Score 5 of 5"),
            ("_a_ __b__ ~c~ `d` ```e```", "a b c d e"),
            ("a*b*c", "abc"),
        ),
        *(
            (":warning: read", ": warning: read"),
            ("a:+1::skin-tone-2: b", "a: +1:: skin-tone-2: b"),
            (":*x*:", ": x:"),
        ),
        *(
            ("> a\n>> b\n *> c", "a\nb\nc"),
            ("a > b", "a &gt; b"),
            ("<!here> & <@U1>", "&lt;!here&gt; &amp; &lt;@U1&gt;"),
        ),
        *(
            ("snake_case_name at 10:30:00, a: b: c", "snake_case_name at 10:30:00, a: b: c"),
            ("2 × 3 – “x”", "2 × 3 – “x”"),
        ),
        *(("\u202eevil\u202c \x1b[0m", "evil [0m"), ("a\u0336\u0336\u0336", "a\u0336\u0336")),
    ],
)
def test_foreign_words_in_a_line_of_ours_format_nothing(written: str, sent: str) -> None:
    assert clip(written, 100) == sent


@given(st.text(alphabet="*_~`:> \n\u200b\u2800ab1&<", max_size=30))
def test_no_mark_is_left_however_marks_are_mixed(text: str) -> None:
    sent = clip(text, 1_000)
    assert not set("*~`") & set(sent)
    assert not re.search(r":[ab]+:|(^|\W)_|_(\W|$)|^\s*&gt;", sent, re.MULTILINE)
