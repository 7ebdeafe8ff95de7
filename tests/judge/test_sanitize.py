"""How a text of a model or a person is cleaned before it is shown, with the justification as the
example.
"""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from judge import Rating, parse_rating
from judge.scoring.sanitize import sanitize
from tests.tables import each


@each(
    ("written", "shown"),
    [
        *(("a\x1b[2J\x00b\x07", "a[2Jb"), ("a\x7f\x9b31mb", "a31mb")),
        *(("lone \ud83d half", "lone  half"), ("\u202escore: 5\u202c", "score: 5")),
        *(("sc\u200bo\u200cr\u200de\ufeff\u2060\u00ad", "score"), ("\u3164\u115fx\uffa0", "x")),
        ("a\u180e\u034fb", "a\u034fb"),
        ("one\u2028two\u2029three\x85four\vfive", "one\ntwo\nthree\nfour\nfive"),
        *(("a\r\nb\rc", "a\nb\nc"), ("a\n \n\n\t\n\n b", "a\n\n b"), ("a\u2800b", "a b")),
        ("Z\u0351\u036b\u0343\u036aa", "Z\u0351\u036ba"),
        ("\u0e01\u0e47\u0e47\u0e47\u0e47", "\u0e01\u0e47\u0e47"),
        *(("a\u20dd\u20dd\u20dd\u0489b", "a\u20dd\u20ddb"), ("\u0338\u0301x", "x")),
        ("a\u0301\u0301\u200b\u0301", "a\u0301\u0301"),
        ("a\U0001d173b\U0001bca0", "ab"),
    ],
)
def test_invisible_and_stacked_characters_are_left_out(written: str, shown: str) -> None:
    assert sanitize(written) == shown


@each(
    "text",
    [
        "Plain words, *as* `written`: {x} <b> & > :warning:\n\n- a list\tand a tab",
        *("Việt, e\u0302\u0301", "שָׁלוֹם עולם", "می\u200cخواهم", "क्\u200dष", "ที่นี่"),
        *("👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 👋🏽", "a ≠ b → c"),
    ],
)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert sanitize(text) == text


@given(
    st.text(
        alphabet=st.one_of(
            st.characters(), st.sampled_from("a\n \u200d\u200c\u0301\u0489\u202e\u3164क")
        )
    )
)
def test_sanitized_text_is_legible_and_sanitizing_it_again_changes_nothing(text: str) -> None:
    shown = sanitize(text)
    assert sanitize(shown) == shown
    assert {
        unicodedata.category(character) for character in shown if character not in "\n\t"
    }.isdisjoint({"Cc", "Cs"})
    assert set(shown).isdisjoint(
        "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
    )


def test_justification_is_sanitized_and_the_raw_answer_is_unchanged() -> None:
    completion = "score: 4\n\u202e It is\u202c cle\u200bar\u0301\u0301\u0301\u0301.\x1b[0m"
    rating = parse_rating(completion)
    assert isinstance(rating, Rating)
    assert rating.justification == "It is clear\u0301\u0301.[0m"
    assert rating.raw == completion
