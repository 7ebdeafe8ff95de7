"""The justification in a completion: what remains without the score line, at most 100 words."""

import json
import re
from itertools import islice

from judge.legible import legible

MAX_WORDS = 100
_WORD_CHARS = 10
CUT_MARK = "[…]"

_LEAD = re.compile(r"^(?:[\s\"'`)\]}.,;:|>*_#-]|—|–)+")
_LABEL = re.compile(
    r"^[#*_\s]*(?:brief |short )?(?:justification|explanation|reason(?:ing)?|rationale|feedback|comments?)"
    r"[*_\s]*[:：][*_\s]*",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[\s\"'`*_#~>|\[\](){}<>/.:;,$\\–—-]+")
_FENCE_LINE = re.compile(r"^[ \t]*```[^\n`]*$\n?", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]?(?=\s|$)|[。！？]")
_JSON_KEYS = ("justification", "reason", "reasoning", "explanation", "rationale", "feedback", "comment")


def extract_justification(text: str, start: int, end: int) -> str:
    """What `text` says besides the score at `start:end`: at most 100 words, the cut marked, all of it legible."""
    return legible(shorten(_from_json(text) or _without_score(text, start, end))).strip()


def shorten(text: str, most_words: int = MAX_WORDS) -> str:
    """`text` itself, or its first sentences with the cut marked: at most `most_words` words, the mark among them.

    Words of ten characters, that is: text without spaces is cut as well.
    """
    most_chars = most_words * _WORD_CHARS
    if len(text) <= most_chars and len(text.split(maxsplit=most_words)) <= most_words:
        return text
    words = [word.end() for word in islice(re.finditer(r"\S+", text), most_words - 1)]
    limit = min(words[-1], most_chars)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, limit)]
    # A first sentence of a few words says too little; then the cut falls between two words.
    end = ends[-1] if ends and ends[-1] > limit // 4 else limit
    return f"{text[:end].rstrip()} {CUT_MARK}"


def _without_score(text: str, start: int, end: int) -> str:
    line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    before, after = text[line_start:start], text[end:line_end]
    if _is_markup(before) and _is_markup(after):
        rest = text[:line_start] + text[line_end:]
    elif _is_markup(before):
        rest = text[:line_start] + _LEAD.sub("", after) + text[line_end:]
    else:
        rest = text
    rest = _FENCE_LINE.sub("", rest).strip() if "```" in rest[:40] or "```" in rest[-8:] else rest.strip()
    return _LABEL.sub("", _LEAD_MARKS.sub("", rest)).strip()


_LEAD_MARKS = re.compile(r"^(?:\s|---+|[*_]{2}\s)+")


def _is_markup(text: str) -> bool:
    return not _MARKUP.sub("", text)


def _from_json(text: str) -> str:
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first or text[:first].strip(" \n`json"):
        return ""
    try:
        fields = json.loads(text[first : last + 1])
    except (ValueError, RecursionError):
        return ""
    if not isinstance(fields, dict):
        return ""
    found = {str(key).lower(): value for key, value in fields.items()}
    return next((found[key].strip() for key in _JSON_KEYS if isinstance(found.get(key), str)), "")
