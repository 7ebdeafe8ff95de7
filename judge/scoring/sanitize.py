"""Makes untrusted text safe to show: nothing invisible, nothing that reverses a line or piles up
marks on it.
"""

import re
import unicodedata

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_MANY_LINE_ENDS = re.compile(r"\n(?:[^\S\n]*\n){2,}")
# Controls, lone surrogates, bidi marks, overrides and isolates, zero-width and filling characters,
# tags, annotations. Source: Default_Ignorable_Code_Point of
# https://www.unicode.org/Public/UNIDATA/DerivedCoreProperties.txt, no marks.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
# Joiners have a meaning between letters of Persian or Hindi and between emoji; in Latin or Greek
# they only hide.
_JOINED = "[\u0590-\u1fff\u2190-\U0010ffff]"
_LOOSE_JOINER = re.compile(f"(?<!{_JOINED})[\u200c\u200d]|[\u200c\u200d](?!{_JOINED})")
_MOST_MARKS = 2
_MAY_PILE = re.compile("\\A[\u0300-\U0010ffff]+|[\u0300-\U0010ffff]{3,}")


def sanitize(text: str) -> str:
    """`text` without control characters, bidi overrides and zero-width characters; at most two
    marks on a letter.

    Visible text stays unchanged, except that several blank lines become one. Vietnamese and Thai
    need two marks on one letter; Hebrew with all its points, and Tibetan, may lose some.
    """
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        text = _LINE_ENDS.sub("\n", text).replace("\u2800", " ")
        text = _LOOSE_JOINER.sub("", _UNSEEN.sub("", text))
        text = _MAY_PILE.sub(_without_piles, text)
    return _MANY_LINE_ENDS.sub("\n\n", text) if text.count("\n") > 2 else text


def one_line(text: str, most: int | None = None) -> str:
    """`text` sanitized and on one line; what is longer than `most` characters is cut, and ends with
    "…".
    """
    line = " ".join(sanitize(text).split())
    return line if most is None or len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _without_piles(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = (
        0 if run.start() else _MOST_MARKS
    )  # a mark before the first letter would combine with a character of ours
    for character in run[0]:
        marks = marks + 1 if unicodedata.category(character) in {"Mn", "Me"} else 0
        if marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)
