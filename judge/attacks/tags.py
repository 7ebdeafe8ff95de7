"""The prompt's own tags, and the special tokens of chat templates, inside the texts that are judged: made harmless."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from judge.attacks import tags as tokens
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
_TOKENS = {sign: f"{tokens.CONTROL[sign]}|{tokens.EVERYDAY[sign]}" for sign in "<["}
# Only where a sign with one of these behind it stands can the folded text hold a tag or a token, so that nearly every
# text is done after a quick look: a bracket with a plain word behind it is none, unless the word is theirs, as long as
# what ends the word is plain, too, and cannot fold away; nor is a `&` before what begins no entity for a bracket.
_PLAIN_WORD = r"""[a-z\d_]+(?=[ \n\t!"#$'()*+,./:;<=>?@\[\]^`{}~-]|\Z)"""
_OTHER_LETTERS = "\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3"  # those that no Latin letter folds out of
_CODE_OF_BRACKET = r"[0-9ux]{0,5}(?:3c|5b|[^!-~\s])"
_BEHIND = {
    "<": rf"(?!=|[\s/]?(?![qr]){_PLAIN_WORD})|{_TOKENS['<']}",
    "[": rf"(?![\s!\"#$'()*+,.:;<=>?@\[\]^`{{}}~{_OTHER_LETTERS}-]|\Z|/?{_PLAIN_WORD})|{_TOKENS['[']}",
    "&": r"(?![\s=&]|(?![ablnps])[a-z])",
    "%": _CODE_OF_BRACKET,
    "\\": _CODE_OF_BRACKET,
}
_LIKE = {"<": "≮＜﹤‹〈\u2329⟨❮❰˂ᐸ", "[": "［﹇", "&": "＆﹠", "%": "％﹪", "\\": "＼﹨"}
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
    return list(_tags(text, fold_aligned(text))) if _is_suspect(text) else []


def neutralise(text: str) -> str:
    """`text` with square brackets for the angle brackets of the prompt's tags, and a blank in each special token.

    The blank stands behind the token's bracket, `< |im_end|>` and `[ INST]`: no tokenizer takes that for the token, and
    a reader sees what stood there. All else stays to the letter. A stroke that would fall on the prompt's own bracket
    before the text (U+0338, `>` with it is `≯`) gets a circle to stand on.
    """
    if not _is_suspect(text):
        return text
    folded = fold_aligned(text)
    first_visible = folded.starts[0] if folded.starts else len(text)
    pieces = ["◌"] if _STROKE_OR_ESCAPE.search(text, 0, first_visible) else []
    done = 0
    for start, end, instead in sorted([*_exchanged_brackets(text, folded), *_blanks(folded)]):
        pieces += [text[done:start], instead]
        done = end
    return "".join([*pieces, text[done:]])


def _exchanged_brackets(text: str, folded: FoldedText) -> Iterator[tuple[int, int, str]]:
    for tag in _tags(text, folded):
        yield (*tag.opening, "[")
        if tag.closing:
            yield (*tag.closing, "]")


def _blanks(folded: FoldedText) -> Iterator[tuple[int, int, str]]:
    for token in _token().finditer(folded.text):
        end = folded.ends[token.start()]
        yield end, end, " "


def _is_suspect(text: str) -> bool:
    is_ascii = text.isascii()
    if is_ascii and not ("<" in text or "[" in text or "&" in text or "%" in text or "\\" in text):
        return False
    return any(look.search(text) for look in _looks(is_ascii))


@cache
def _looks(is_ascii: bool) -> list[re.Pattern[str]]:
    signs = {sign: "" if is_ascii else likes for sign, likes in _LIKE.items()}
    patterns = [f"[{re.escape(sign)}{likes}](?:{_BEHIND[sign]})" for sign, likes in signs.items()]
    return [re.compile(pattern, re.IGNORECASE | re.ASCII) for pattern in (*patterns, "\u0338")]


@cache
def _token() -> re.Pattern[str]:
    return re.compile(rf"<(?:{_TOKENS['<']})|\[(?:{_TOKENS['[']})", re.IGNORECASE)


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
    if at == len(folded.text) or not (folded.text[at].isalnum() or folded.text[at] == "_"):
        return False
    before = folded.ends[at - 1]
    return folded.span(at) == (before, before + 1)
