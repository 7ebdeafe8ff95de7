"""What the rest of an answer says against its score: another one in other words, or a list that goes on behind it."""

import re

from judge.markup import is_quoted
from judge.rubric import Scale

_SENTENCE_END = re.compile(r"[.!?\n]")
_SENTENCE_CHARS = 200
_DIGIT = re.compile(r"[0-9]")
# Of a sentence that denies a score, supposes one, or shows the format.
_DENIED = re.compile(
    r"\b(?:not|never|nor|no|cannot|without|than|from|short|if|unless|could|might|had|examples?|e\.g|format"
    r"|to (?:\w+ ){1,2}an?)\b|n't\b",
    re.IGNORECASE,
)
# "The correct score is 2", "the score drops to 0"; but "a score of 5 would need sources" only supposes one.
_ANOTHER = re.compile(
    r"\b(?:score|rating|total|grade)s?\b[^.\n0-9]{0,40}?(?P<number>[0-9]{1,4})(?![0-9]|\.[0-9])", re.IGNORECASE
)
_SUPPOSED = re.compile(r"\bwould\b", re.IGNORECASE)
# A heading or an item with a number: "### Point 1", "2. Substance", "Criterion 3:".
_NUMBERED = re.compile(
    r"^[ #]{0,8}(?:[a-z]{1,20} )?\(?[0-9]{1,2}(?:[.):](?![0-9])|[ ]*$)", re.IGNORECASE | re.MULTILINE
)


def denies(line: str) -> bool:
    """Whether the last sentence of `line` denies a score, supposes one, or shows the format."""
    return bool(_DENIED.search(_SENTENCE_END.split(line)[-1]))


def is_taken_back(text: str, end: int, score: int, scale: Scale, response: str) -> bool:
    """Whether what stands behind a score speaks of another one on the scale, in whatever words but the response's.

    `response` is packed.
    """
    if not _DIGIT.search(text, end):
        return False
    for other in _ANOTHER.finditer(text, end):
        is_another = scale.low <= int(other["number"]) <= scale.high and int(other["number"]) != score
        if is_another and not _is_supposed(text, end, other) and not is_quoted(other[0], response):
            return True
    return False


def is_step_of_a_list(text: str, start: int, end: int) -> bool:
    """Whether a score stands below a numbered item or heading, with another one behind it."""
    if not _DIGIT.search(text, end) or not _DIGIT.search(text[:start]):
        return False
    above = text[: text.rfind("\n", 0, start) + 1]
    return bool(_NUMBERED.search(text, end)) and bool(_NUMBERED.search(above))


def _is_supposed(text: str, end: int, other: re.Match[str]) -> bool:
    before = _SENTENCE_END.split(text[max(end, other.start() - _SENTENCE_CHARS) : other.end()])[-1]
    after = _SENTENCE_END.split(text[other.end() : other.end() + _SENTENCE_CHARS])[0]
    return denies(before) or bool(_SUPPOSED.search(before + after))
