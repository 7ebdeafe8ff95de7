"""Marks in square brackets for what is no plain text: `[step: ...]`, `[source: ...]`, `[picture: ...]`, `[audio]`.

Whoever puts a text together from parts writes them with `mark`, each on its own line or after a blank, and calls
`unmark` on every part that somebody else wrote.
"""

import re

from judge.scoring.attacks.folding import fold_aligned

_KINDS = r"step|source|picture|file|audio|video|block|shared(?:\s+message)?"
# A word or a bracket right before it makes it an index or a slice, `x[step:]`; a link is `[file](...)`.
_MARK = re.compile(
    rf"(?<![\w)\]])\[\s*(?:(?:{_KINDS})\s*(?::|\](?!\())|[\d,.]+\s+(?:messages?|characters?)\s+left\s+out)",
    re.IGNORECASE,
)
_ONLY_MARKS = re.compile(r"(?:\[(step|source|picture|file|audio|video|block)(?:: [^\]\n]*)?\]\s*)+")
_MAY_BE = re.compile(r"[\[［﹇&%\\]")
_ROUND = str.maketrans("[]［］﹇﹈", "()()()")


def mark(kind: str, text: str = "") -> str:
    """`[kind: text]`, with the text on one line and in it round brackets for square ones; without text `[kind]`."""
    words = " ".join(text.split()).translate(_ROUND)
    return f"[{kind}: {words}]" if words else f"[{kind}]"


def only_mark(text: str) -> str | None:
    """The kind of the last mark if `text` has nothing but marks, by which no text can be judged."""
    return found[1] if (found := _ONLY_MARKS.fullmatch(text.strip())) else None


def unmark(text: str) -> str:
    """`text` with round brackets for the square ones of what looks like a mark, in any case, spacing or disguise."""
    if not _MAY_BE.search(text):
        return text
    folded = fold_aligned(text)
    changes: dict[tuple[int, int], str] = {}
    for found in _MARK.finditer(folded.text):
        changes[folded.span(found.start())] = "("
        if (closing := folded.text.find("]", found.start())) >= 0:
            changes[folded.span(closing)] = ")"
    pieces, done = [], 0
    for (start, end), instead in sorted(changes.items()):
        pieces += [text[done:start], instead]
        done = end
    return "".join([*pieces, text[done:]])
