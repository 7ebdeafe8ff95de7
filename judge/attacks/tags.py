"""The prompt's own tags inside the texts that are judged: found in every spelling, and made harmless."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judge.attacks.folding import FoldedText, fold_aligned

_OPENING = re.compile(r"<[\s/\\]*(?:question|response)", re.IGNORECASE)
_CLOSING = re.compile(r"[^<>]{0,200}(>)")
# Only where one of these stands can the folded text hold a tag, so that nearly every text is done after this look:
# a `<` before a letter that begins neither word is no tag, nor a `&` before one that begins no entity for `<` or `&`.
_SUSPECT = re.compile(
    r"[<≮＜﹤‹〈\u2329⟨❮❰˂ᐸ](?![\s/]?(?![qr])[a-z\d=])|[&＆﹠](?![\s=&]|(?![ablnps])[a-z])"
    r"|[%％﹪\\＼﹨][0-9ux]{0,5}(?:3c|[^!-~\s])|\u0338",
    re.IGNORECASE,
)
_CODE = re.compile(r"\w<(?:Question|Response)[^\w\s]|\W?<Response \[[1-5]\d\d\]>")
_STROKE_OR_ESCAPE = re.compile("[&\u0338]")


class Tag(NamedTuple):
    """Where a text spells one of the prompt's tags.

    Attributes:
        opening: Its opening bracket, as [start, end) in the text.
        closing: Its closing bracket; None where it has none, which the text after it might bring.
        is_code: Whether it is the type parameter `List<Response>` or what Python prints, `<Response [200]>`.
    """

    opening: tuple[int, int]
    closing: tuple[int, int] | None
    is_code: bool


def find_tags(text: str) -> list[Tag]:
    """Every spelling of the prompt's tags, in order: any case, spacing, attributes, look-alikes, escapes, nesting."""
    return list(_tags(text, fold_aligned(text))) if _may_hold_tags(text) else []


def neutralise(text: str) -> str:
    """`text` with square brackets for the angle brackets of the prompt's tags, and else to the letter.

    A stroke that would fall on the prompt's own bracket before the text (U+0338, `>` with it is `≯`) gets a circle
    to stand on.
    """
    if not _may_hold_tags(text):
        return text
    folded = fold_aligned(text)
    first_visible = folded.starts[0] if folded.starts else len(text)
    pieces = ["◌"] if _STROKE_OR_ESCAPE.search(text, 0, first_visible) else []
    done = 0
    for tag in _tags(text, folded):
        for span, bracket in ((tag.opening, "["), (tag.closing, "]")):
            if span:
                pieces += [text[done : span[0]], bracket]
                done = span[1]
    return "".join([*pieces, text[done:]])


def _may_hold_tags(text: str) -> bool:
    if text.isascii() and not ("<" in text or "&" in text or "%" in text or "\\" in text):
        return False
    return _SUSPECT.search(text) is not None


def _tags(text: str, folded: FoldedText) -> Iterator[Tag]:
    for found in _OPENING.finditer(folded.text):
        if _goes_on_as_word(folded, found.end()):
            continue
        closing = _CLOSING.match(folded.text, found.end())
        at, name_ends = folded.starts[found.start()], folded.ends[found.end() - 1]
        yield Tag(
            opening=folded.span(found.start()),
            closing=folded.span(closing.start(1)) if closing else None,
            is_code=bool(_CODE.match(text, max(at - 1, 0), name_ends + 7)),
        )


def _goes_on_as_word(folded: FoldedText, at: int) -> bool:
    """Whether the tag's name is the beginning of a longer one, as in `<ResponseType>`, with nothing hidden between."""
    if at == len(folded.text) or not (folded.text[at].isalnum() or folded.text[at] == "_"):
        return False
    before = folded.ends[at - 1]
    return folded.span(at) == (before, before + 1)
