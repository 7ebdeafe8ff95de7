"""The prompt's tags, models' special tokens, and our marks of what is no plain text, in texts that
others wrote.

Marks are in square brackets: `[step: ...]`, `[source: ...]`, `[picture: ...]`, `[audio]`. Whoever
puts a text together from parts writes them with `mark`, each on its own line or after a blank, and
calls `unmark` on each part that others wrote.
"""

import re
from collections.abc import Iterator
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
    "<": r"/?s>|(?:bos|eos|eot|eom|pad|unk|sop|eop)(?:_token)?>|/?(?:think|tools?|tool_(?:call|response)s?)>"
    r"|fim_[a-z]{2,16}>|(?:extra_id_|unused_?|reserved_|special_)\d{1,5}>",
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


Also = tuple[
    str, ...
]  # the names of tags that count, too, since the prompt has them: "turn", "reference"


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
    first_visible = folded.starts[0] if folded.starts else len(text)
    pieces = ["◌"] if _STROKE_OR_ESCAPE.search(text, 0, first_visible) else []
    changes = [
        (*bracket, sign)
        for tag in _tags(text, folded, also)
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


@cache
def _opening(also: Also) -> re.Pattern[str]:
    return re.compile(rf"<[\s/\\]*(?:{'|'.join(('question', 'response', *also))})", re.IGNORECASE)


def _tags(text: str, folded: FoldedText, also: Also) -> Iterator[Tag]:
    for found in _opening(also).finditer(folded.text):
        # Part of a longer word: a letter follows the name directly and does not come from an
        # escape.
        before = folded.ends[found.end() - 1]
        behind = folded.text[found.end() : found.end() + 1]
        if (behind.isalnum() or behind == "_") and folded.span(found.end()) == (before, before + 1):
            continue
        closing = _CLOSING.match(folded.text, found.end())
        at = folded.starts[found.start()]
        name_ends = folded.ends[found.end() - 1]
        yield Tag(
            opening=folded.span(found.start()),
            closing=folded.span(closing.start(1)) if closing else None,
            is_code=bool(_CODE.match(text, max(at - 1, 0), name_ends + 7)),
        )


_KINDS = r"step|source|picture|file|audio|video|block|shared(?:\s+message)?"
# A word or a bracket right before it makes it an index or a slice, `x[step:]`; a link is
# `[file](...)`.
_MARK = re.compile(
    rf"(?<![\w)\]])\[\s*(?:(?:{_KINDS})\s*(?::|\](?!\())|[\d,.]+\s+(?:messages?|characters?)\s+left\s+out)",
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
    return found[1] if (found := _ONLY_MARKS.fullmatch(text.strip())) else None


def unmark(text: str) -> str:
    """`text` with round brackets for the square ones of what looks like a mark, in any case,
    spacing or disguise.
    """
    if not _MAY_BE.search(text):
        return text
    folded = fold_aligned(text)
    changes: dict[tuple[int, int], str] = {}
    for found in _MARK.finditer(folded.text):
        changes[folded.span(found.start())] = "("
        if (closing := folded.text.find("]", found.start())) >= 0:
            changes[folded.span(closing)] = ")"
    pieces = []
    done = 0
    for (start, end), instead in sorted(changes.items()):
        pieces += [text[done:start], instead]
        done = end
    return "".join([*pieces, text[done:]])
