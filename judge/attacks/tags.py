"""The prompt's own tags, and the special tokens of chat templates, inside the texts that are judged: made harmless."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judge.attacks.folding import FoldedText, fold_aligned

_BARRED = r"\|/?▁?[^\W\d][\w▁.:/-]{1,63}\|?>|[^\W\d][\w▁]{1,63}\|>"
_TURNS = r"/?(?:start|begin|end)_of_[a-z]\w{0,31}>|</?sys>>|/?seed:[a-z_]{2,31}>"
_MISTRAL = r"/?(?:inst|system_prompt|available_tools|tool_(?:calls|results|content)|model_settings|gmask)\]"
_EXAONE = r"\|(?:system|user|assistant|tool|endofturn)\|\]"

CONTROL = {"<": f"{_BARRED}|{_TURNS}", "[": f"{_MISTRAL}|{_EXAONE}"}
"""Words that stand in hardly any text but a chat template; a response that holds one is flagged."""

EVERYDAY = {
    "<": r"/?s>|(?:bos|eos|eot|eom|pad|unk|sop|eop)(?:_token)?>|/?(?:think|tools?|tool_(?:call|response)s?)>"
    r"|fim_[a-z]{2,16}>|(?:extra_id_|unused_?|reserved_|special_)\d{1,5}>",
    "[": r"/?(?-i:THINK|BOS|EOS|EOT|UNUSED_TOKEN_\d{1,5})\]",
}
"""Tokens that are something else elsewhere (`<s>` strikes a word through in HTML): broken up, and not flagged."""


_OPENING = re.compile(r"<[\s/\\]*(?:question|response)", re.IGNORECASE)
_CLOSING = re.compile(r"[^<>]{0,200}(>)")
_TOKEN = re.compile("|".join(rf"\{sign}(?:{CONTROL[sign]}|{EVERYDAY[sign]})" for sign in "<["), re.IGNORECASE)
# Without one of these, or one of what folds to them, a text holds neither a tag nor a token, nor a loose stroke.
_SIGNS = re.compile("[][<&%\\\\\u0338≮＜﹤‹〈\u2329⟨❮❰˂ᐸ［﹇＆﹠％﹪＼﹨]")
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
    return list(_tags(text, fold_aligned(text))) if _SIGNS.search(text) else []


def neutralise(text: str) -> str:
    """`text` with square brackets for the angle brackets of the prompt's tags, and a blank in each special token.

    The blank stands behind the token's bracket, `< |im_end|>` and `[ INST]`: no tokenizer takes that for the token, and
    a reader sees what stood there. All else stays to the letter. A stroke that would fall on the prompt's own bracket
    before the text (U+0338, `>` with it is `≯`) gets a circle to stand on.
    """
    if not _SIGNS.search(text):
        return text
    folded = fold_aligned(text)
    first_visible = folded.starts[0] if folded.starts else len(text)
    pieces = ["◌"] if _STROKE_OR_ESCAPE.search(text, 0, first_visible) else []
    changes = [
        (*bracket, sign)
        for tag in _tags(text, folded)
        for bracket, sign in ((tag.opening, "["), (tag.closing, "]"))
        if bracket
    ]
    blanks = (folded.ends[token.start()] for token in _TOKEN.finditer(folded.text))
    changes += [(after, after, " ") for after in blanks]
    done = 0
    for start, end, instead in sorted(changes):
        pieces += [text[done:start], instead]
        done = end
    return "".join([*pieces, text[done:]])


def _tags(text: str, folded: FoldedText) -> Iterator[Tag]:
    for found in _OPENING.finditer(folded.text):
        # Of a longer word: a letter that stands right behind the name, and out of no escape.
        before = folded.ends[found.end() - 1]
        behind = folded.text[found.end() : found.end() + 1]
        if (behind.isalnum() or behind == "_") and folded.span(found.end()) == (before, before + 1):
            continue
        closing = _CLOSING.match(folded.text, found.end())
        at, name_ends = folded.starts[found.start()], folded.ends[found.end() - 1]
        yield Tag(
            opening=folded.span(found.start()),
            closing=folded.span(closing.start(1)) if closing else None,
            is_code=bool(_CODE.match(text, max(at - 1, 0), name_ends + 7)),
        )
