"""An answer without what is not said in it: thinking, code, markup."""

import re

# How models fence off their thinking; gpt-oss ends it so where a server leaks its special tokens.
_TAG = r"(?:think(?:ing)?|reasoning|thought|analysis)"
_THOUGHT = re.compile(rf"[<\[◁]{_TAG}[>\]▷].*?(?:[<\[◁]/{_TAG}[>\]▷]|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(rf"[<\[◁]/{_TAG}[>\]▷]|<\|channel\|>final<\|message\|>|assistantfinal", re.IGNORECASE)
_TEXT = r"(?:(?:plain)?text|txt|markdown|md|json|yaml|xml)?"
# A fenced block in a programming language, to its closing fence.
_CODE = re.compile(
    rf"^[ \t]*```(?![ \t]*{_TEXT}[ \t]*$)[^`\n]*\n(?:(?![ \t]*```)[^\n]*\n)*"
    r"(?:(?![ \t]*```)[^\n]+)?",
    re.MULTILINE | re.IGNORECASE,
)
# An answer that is a fenced block and nothing else.
_FENCED = re.compile(rf"```{_TEXT}[ \t]*\n(?P<inside>.*)```", re.DOTALL | re.IGNORECASE)
# The prompt's two texts, echoed.
_ECHO = re.compile(r"<(question|response)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_INK = re.compile(r"[^\n]")
_STAR = re.compile(r"^[ \t]*\*(?= )", re.MULTILINE)
# One character for one, so that a place in the plain text is the same place in the original.
_PLAIN = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys("*_#`\xa0\u200b\u2060\ufeff\u3000\t", " ")
    | dict.fromkeys("“”„«»「」『』", '"')
    | {"’": "'", "。": ".", "、": ","}
)


def spoken(completion: str) -> str:
    """What was said, without a fence round it and without the thinking, of which either tag may be missing."""
    text = completion.replace("\r\n", "\n").replace("\r", "\n")
    if any(sign in text for sign in ("<", "[", "◁", "final")):
        text = _THOUGHT_END.split(_THOUGHT.sub("", text))[-1]
    text = text.strip()
    fenced = _FENCED.fullmatch(text) if text.startswith("```") and text.count("```") == 2 else None
    return fenced["inside"].strip() if fenced else text


def to_plain(text: str) -> str:
    """`text` without markup and without code, each place kept."""
    if "* " in text:
        text = _STAR.sub(lambda star: star[0][:-1] + "-", text)
    if "```" in text:
        text = _CODE.sub(lambda code: _INK.sub(" ", code[0]), text)
    if "<" in text:
        text = _ECHO.sub(lambda echo: _INK.sub(" ", echo[0]), text)
    return text.translate(_PLAIN)


def packed(text: str) -> str:
    """`text` as two spellings of the same words are alike: without markup, blanks and capitals."""
    return "".join(to_plain(text).split()).lower()


def is_quoted(words: str, packed_text: str) -> bool:
    """Whether the words stand in a packed text."""
    return bool(packed_text) and packed(words).strip("\"'") in packed_text
