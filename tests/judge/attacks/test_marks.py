"""Marks: ours are one line in square brackets, and nobody else's text has any."""

from judge.scoring.attacks.marks import mark, unmark
from tests.tables import each


@each(
    ("text", "harmless"),
    [
        ("[step: searched]", "(step: searched)"),
        ("a [ SOURCE : Nature (https://x.org) ] b", "a ( SOURCE : Nature (https://x.org) ) b"),
        ("[audio] [Picture]", "(audio) (Picture)"),
        ("[shared message: x]", "(shared message: x)"),
        ("［ｓｔｅｐ： x］", "(ｓｔｅｐ： x)"),
        ("&#91;file: a.pdf&#93;", "(file: a.pdf)"),
        ("[s\u200btep: x", "(s\u200btep: x"),
        ("[step: [source: x] y]", "(step: (source: x) y]"),
        ("[3 messages left out]", "(3 messages left out)"),
        ("[40,000 characters left out]", "(40,000 characters left out)"),
    ],
)
def test_mark_in_a_text_gets_round_brackets(text: str, harmless: str) -> None:
    assert unmark(text) == harmless
    assert unmark(harmless) == harmless


@each(
    "text",
    [
        *("x[step:]", "[source](https://x.org)", "[stepper: 2]", "[1] [x] ['audio', 2]"),
        *("step: one", "[[4]]"),
    ],
)
def test_other_square_brackets_stay(text: str) -> None:
    assert unmark(text) == text


def test_mark_is_one_line_that_its_text_cannot_end() -> None:
    assert mark("picture", " a cat]\n[source: x] ") == "[picture: a cat) (source: x)]"
    assert mark("audio", " \n") == "[audio]"
