"""The text of a model's answer without thinking, code and markup, and the justification in it."""

import json
import re
from itertools import islice
from typing import Any

from judge.scoring.sanitize import sanitize

# Tags around a model's thinking; `assistantfinal` and its like are special tokens of gpt-oss that
# some servers leak.
_TAG = r"(?:think(?:ing)?|reasoning|thought|analysis)"
_THOUGHT = re.compile(
    rf"[<\[◁]{_TAG}[>\]▷].*?(?:[<\[◁]/{_TAG}[>\]▷]|\Z)", re.DOTALL | re.IGNORECASE
)
_THOUGHT_END = re.compile(
    rf"[<\[◁]/{_TAG}[>\]▷]|<\|channel\|>final<\|message\|>|assistantfinal", re.IGNORECASE
)
_TEXT = r"(?:(?:plain)?text|txt|markdown|md|json|yaml|xml)?"
# A fenced block in a programming language, to its closing fence.
_CODE = re.compile(
    rf"^[ \t]*```(?![ \t]*{_TEXT}[ \t]*$)[^`\n]*\n(?:(?![ \t]*```)[^\n]*\n)*"
    r"(?:(?![ \t]*```)[^\n]+)?",
    re.MULTILINE | re.IGNORECASE,
)
# An answer that is a fenced block and nothing else.
_FENCED = re.compile(rf"```{_TEXT}[ \t]*\n(?P<inside>.*)```", re.DOTALL | re.IGNORECASE)
# An echo of the prompt's two texts.
_ECHO = re.compile(r"<(question|response)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_INK = re.compile(r"[^\n]")
_STAR = re.compile(r"^[ \t]*\*(?= )", re.MULTILINE)
# Each character becomes one character, so that an index in the plain text is the same index in the
# original.
_PLAIN = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys("*_#`\xa0\u200b\u2060\ufeff\u3000\t", " ")
    | dict.fromkeys("“”„«»「」『』", '"')
    | {"’": "'", "。": ".", "、": ","}
)


def spoken(completion: str) -> str:
    """The answer without a surrounding code fence and without the thinking, even if one of its tags
    is missing.
    """
    text = completion.replace("\r\n", "\n").replace("\r", "\n")
    if any(sign in text for sign in ("<", "[", "◁", "final")):
        text = _THOUGHT_END.split(_THOUGHT.sub("", text))[-1]
    text = text.strip()
    fenced = _FENCED.fullmatch(text) if text.startswith("```") and text.count("```") == 2 else None
    return fenced["inside"].strip() if fenced else text


def to_plain(text: str) -> str:
    """`text` with blanks instead of markup and code, so that every index stays the same."""
    if "* " in text:
        text = _STAR.sub(lambda star: star[0][:-1] + "-", text)
    if "```" in text:
        text = _CODE.sub(lambda code: _INK.sub(" ", code[0]), text)
    if "<" in text:
        text = _ECHO.sub(lambda echo: _INK.sub(" ", echo[0]), text)
    return text.translate(_PLAIN)


def packed(text: str) -> str:
    """`text` without markup and blanks, in lower case, so that two spellings of the same words are
    equal.
    """
    return "".join(to_plain(text).split()).lower()


def is_quoted(words: str, packed_text: str) -> bool:
    """Whether `packed_text` contains `words`; "score: 1" is not in "score: 10"."""
    wanted = packed(words).strip("\"'")
    return wanted in packed_text and bool(
        re.search(re.escape(wanted) + r"(?!\.?[0-9])", packed_text)
    )


MAX_WORDS = 100
CUT_MARK = "[…]"

_LEAD = re.compile(r"^(?:[\s\"'`)\]}.,;:|>*_#-]|—|–)+")
_LABEL = re.compile(
    r"^[#*_\s]*(?:brief |short "
    r")?(?:justification|explanation|reason(?:ing)?|rationale|feedback|comments?)"
    r"[*_\s]*[:：][*_\s]*",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[\s\"'`*_#~>|\[\](){}<>/.:;,$\\–—-]*")
_FENCE_LINE = re.compile(r"^[ \t]*```[^\n`]*$\n?", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]?(?=\s|$)|[。！？]")
_JSON_KEYS = (
    "justification",
    "reason",
    "reasoning",
    "explanation",
    "rationale",
    "feedback",
    "comment",
)


def extract_justification(text: str, start: int, end: int) -> str:
    """`text` without the score at `start:end`, sanitised, and cut with a mark to at most 100 words."""
    return sanitize(shorten(_from_json(text) or _without_score(text, start, end))).strip()


def shorten(text: str, most_words: int = MAX_WORDS) -> str:
    """`text`, or its first sentences and a mark for the cut if it has more than `most_words` words;
    the mark counts.

    It is also cut after ten characters per word, so that text without spaces is shortened too.
    """
    most_chars = most_words * 10
    if len(text) <= most_chars and len(text.split(maxsplit=most_words)) <= most_words:
        return text
    words = [word.end() for word in islice(re.finditer(r"\S+", text), most_words - 1)]
    limit = min(words[-1], most_chars)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, limit)]
    # If the sentences that fit are too short to say much, the cut falls between two words.
    end = ends[-1] if ends and ends[-1] > limit // 4 else limit
    return f"{text[:end].rstrip()} {CUT_MARK}"


def _without_score(text: str, start: int, end: int) -> str:
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    before = text[line_start:start]
    after = text[end:line_end]
    if is_markup(before) and is_markup(after):
        rest = text[:line_start] + text[line_end:]
    elif is_markup(before):
        rest = text[:line_start] + _LEAD.sub("", after) + text[line_end:]
    else:
        rest = text
    rest = (
        _FENCE_LINE.sub("", rest).strip()
        if "```" in rest[:40] or "```" in rest[-8:]
        else rest.strip()
    )
    return _LABEL.sub("", _LEAD_MARKS.sub("", rest)).strip()


_LEAD_MARKS = re.compile(r"^(?:\s|---+|[*_]{2}\s)+")


def is_markup(text: str) -> bool:
    return bool(_MARKUP.fullmatch(text))


def _from_json(text: str) -> str:
    first = text.find("{")
    last = text.rfind("}")
    if first < 0 or last < first or text[:first].strip(" \n`json"):
        return ""
    try:
        fields: dict[str, Any] = json.loads(text[first : last + 1])
    except (ValueError, RecursionError):
        return ""
    found = {key.lower(): value for key, value in fields.items()}
    return next((found[key].strip() for key in _JSON_KEYS if isinstance(found.get(key), str)), "")
