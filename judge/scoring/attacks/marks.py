"""The prompt's tags, models' special tokens, and our marks of what is no plain text, in texts that
others wrote.

Marks are in square brackets: `[step: ...]`, `[source: ...]`, `[picture: ...]`, `[audio]`. Whoever
puts a text together from parts writes them with `mark`, each on its own line or after a blank, and
calls `unmark` on each part that others wrote.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from judge.scoring.attacks.folding import FoldedText, fold_aligned

_BARRED = r"\|/?▁?[^\W\d][\w▁.:/-]{1,63}\|?>|[^\W\d][\w▁]{1,63}\|>"
_TURNS = r"/?(?:start|begin|end)_of_[a-z]\w{0,31}>|</?sys>>|/?seed:[a-z_]{2,31}>"
_MISTRAL = r"/?(?:inst|system_prompt|available_tools|tool_(?:calls|results|content)|model_settings|gmask)\]"
_EXAONE = r"\|(?:system|user|assistant|tool|endofturn)\|\]"

CONTROL = {"<": f"{_BARRED}|{_TURNS}", "[": f"{_MISTRAL}|{_EXAONE}"}
"""Tokens that hardly occur outside chat templates; a response that contains one is flagged."""

EVERYDAY = {
    "<": r"/?s>|(?:bos|eos|eot|eom|pad|unk|sop|eop)(?:_token)?>"
    r"|/?(?:think|tools?|tool_(?:call|response)s?)>|fim_[a-z]{2,16}>|(?:extra_id_|unused_?|reserved_|special_)\d{1,5}>",
    "[": r"/?(?-i:THINK|BOS|EOS|EOT|UNUSED_TOKEN_\d{1,5})\]",
}
"""Tokens that have other uses too (`<s>` strikes text through in HTML): broken up, but not flagged."""

_CLOSING = re.compile(r"[^<>]{0,200}(>)")
_TOKEN = re.compile(
    "|".join(rf"\{sign}(?:{CONTROL[sign]}|{EVERYDAY[sign]})" for sign in "<["), re.IGNORECASE
)
# A text without any of these, including characters that fold to them, has no tag, no token and no
# loose stroke.
_SIGNS = re.compile("[][<&%\\\\\u0338≮＜﹤‹〈\u2329⟨❮❰˂ᐸ［﹇＆﹠％﹪＼﹨]")
_CODE = re.compile(r"\w<(?:Question|Response)[^\w\s]|\W?<Response \[[1-5]\d\d\]>")
_STROKE_OR_ESCAPE = re.compile("[&\u0338]")


class Tag(NamedTuple):
    """A place where a text contains one of the prompt's tags: its brackets, as [start, end) in the
    text.

    `closing` is None if it is missing, but the text that follows might supply it. `is_code`: it is
    a type parameter such as `List<Response>`, or Python's `<Response [200]>`.
    """

    opening: tuple[int, int]
    closing: tuple[int, int] | None
    is_code: bool


class _Change(NamedTuple):
    """What is put instead of [start, end) of a text."""

    start: int
    end: int
    instead: str


# The names of tags that count, too, since the prompt has them: "turn", "reference".
Also = tuple[str, ...]


def find_tags(text: str, also: Also = ()) -> list[Tag]:
    """Every occurrence of the prompt's tags, in order, in any spelling."""
    return list(_tags(text, fold_aligned(text), also)) if _SIGNS.search(text) else []


def neutralise(text: str, also: Also = ()) -> str:
    """`text` with square brackets for the angle brackets of the prompt's tags, and a blank in each
    special token.

    The blank follows the token's bracket, as in `< |im_end|>` and `[ INST]`: no tokenizer reads
    that as the token, and a reader still sees it. Everything else stays unchanged. A combining
    stroke at the start (U+0338) would change the prompt's own bracket before the text (`>` into
    `≯`), so it gets a circle to combine with.
    """
    if not _SIGNS.search(text):
        return text
    folded = fold_aligned(text)
    changes: set[_Change] = set()
    for tag in _tags(text, folded, also):
        changes.add(_Change(*tag.opening, "["))
        if tag.closing:
            changes.add(_Change(*tag.closing, "]"))
    for token in _TOKEN.finditer(folded.text):
        behind_bracket = folded.ends[token.start()]
        changes.add(_Change(behind_bracket, behind_bracket, " "))
    first_visible = folded.starts[0] if folded.starts else len(text)
    begins_with_stroke = _STROKE_OR_ESCAPE.search(text, 0, first_visible)
    return ("◌" if begins_with_stroke else "") + _changed(text, changes)


def _changed(text: str, changes: Iterable[_Change]) -> str:
    pieces = []
    done = 0
    for start, end, instead in sorted(changes):
        pieces += [text[done:start], instead]
        done = end
    return "".join([*pieces, text[done:]])


@cache
def _opening(also: Also) -> re.Pattern[str]:
    return re.compile(rf"<[\s/\\]*(?:{'|'.join(('question', 'response', *also))})", re.IGNORECASE)


def _tags(text: str, folded: FoldedText, also: Also) -> Iterator[Tag]:
    for opening in _opening(also).finditer(folded.text):
        at = folded.starts[opening.start()]
        name_ends = folded.ends[opening.end() - 1]
        # Part of a longer word: a letter follows the name directly and does not come from an
        # escape.
        behind = folded.text[opening.end() : opening.end() + 1]
        goes_on = behind.isalnum() or behind == "_"
        if goes_on and folded.span(opening.end()) == (name_ends, name_ends + 1):
            continue
        closing = _CLOSING.match(folded.text, opening.end())
        yield Tag(
            opening=folded.span(opening.start()),
            closing=folded.span(closing.start(1)) if closing else None,
            is_code=bool(_CODE.match(text, max(at - 1, 0), name_ends + 7)),
        )


_KINDS = r"step|source|picture|file|audio|video|block|shared(?:\s+message)?"
# A word or a bracket right before it makes it an index or a slice, `x[step:]`; a link is
# `[file](...)`.
_MARK = re.compile(
    rf"(?<![\w)\]])\[\s*(?:(?:{_KINDS})\s*(?::|\](?!\())"
    r"|[\d,.]+\s+(?:messages?|characters?)\s+left\s+out)",
    re.IGNORECASE,
)
_ONLY_MARKS = re.compile(r"(?:\[(step|source|picture|file|audio|video|block)(?:: [^\]\n]*)?\]\s*)+")
_MAY_BE = re.compile(r"[\[［﹇&%\\]")
_ROUND = str.maketrans("[]［］﹇﹈", "()()()")


def mark(kind: str, text: str = "") -> str:
    """`[kind: text]`, with the text on one line and in it round brackets for square ones; without
    text `[kind]`.
    """
    words = " ".join(text.split()).translate(_ROUND)
    return f"[{kind}: {words}]" if words else f"[{kind}]"


def only_mark(text: str) -> str | None:
    """The kind of the last mark if `text` has nothing but marks, by which no text can be judged."""
    marks = _ONLY_MARKS.fullmatch(text.strip())
    return marks[1] if marks else None


def unmark(text: str) -> str:
    """`text` with round brackets for the square ones of what looks like a mark, in any case,
    spacing or disguise.
    """
    if not _MAY_BE.search(text):
        return text
    folded = fold_aligned(text)
    changes: set[_Change] = set()
    for opening in _MARK.finditer(folded.text):
        changes.add(_Change(*folded.span(opening.start()), "("))
        closing = folded.text.find("]", opening.start())
        if closing >= 0:
            changes.add(_Change(*folded.span(closing), ")"))
    return _changed(text, changes)
