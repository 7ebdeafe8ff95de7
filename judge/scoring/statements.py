"""Finds the numbers in a judge's answer that state a score, and says of what kind each is.

A score is a number that a label (`Score: 4`) or a mark (`[[4]]`) announces and that ends its clause.
"""

import re
from dataclasses import dataclass
from enum import Enum

from judge.scoring.doubts import denies
from judge.scoring.ratings import UnscoredReason
from judge.scoring.rubric import Scale

NUMBER = re.compile(r"[0-9][0-9.,]*")
_LEAD = (
    r"(?<![a-z])(?<![a-z]-)(?:[\"'](?=[^\"'\n]{1,30}[\"'] "
    r"*:))?(?P<lead>(?:(?:the|a|an|my|our|its|this|so|is|therefore"
    r"|thus|total|final|overall|cumulative|evaluation|response|answer|assistant|judge|points?)(?:'s)? +"
    r"|(?:최종|총|종합|평가|総合|最終|总|最终|综合) *)*)"
)
_OPENERS = " \n\"'([{$<"
_OPEN = r"[\s\"'(\[{$<]{0,12}(?:\\boxed\{)?\Z"
# `Score: 4`, `"score": 4`, `[[rating]]: 4`, `Total points: 4`, `| Total | 4 |`, `Score (0-5): 4`
_LABEL = re.compile(
    rf"{_LEAD}(?:(?P<name>score|rating|grade|result(?=\])|(?<=total "
    r")points|점수|평점|총점|スコア|点数|評点|評価|総合点"
    r"|评分|得分|打分|分数|评价|总分|punktzahl|bewertung|puntuación|pontuação|punteggio|оценка)"
    r"|total|overall|points|verdict)(?![a-z])"
    r" *(?:\([^()\n]{0,30}?(?P<high>[0-9]{1,4})\))?[ "
    rf"\"'\])}}]*(?::|=|->|→|\||>|[-–—](?= )|(?<=\])|\n){_OPEN}",
    re.IGNORECASE,
)
# "receives a score of 4", "the score is 4", "I rate this response as a 4"
_WORD = (
    r" "
    r"(?:is|are|was|of|as|at|an?|the|this|its?|for|each|assistant(?:'s)?|response|conversation|evaluation|therefore)\b"
)
_SENTENCE_LABEL = re.compile(
    rf"{_LEAD}(?:(?P<verb>rated?|scored|score(?= "
    r"(?:the|this|it)\b))|(?:score|rating|grade)s?|점수|평점|スコア|点数)"
    rf"(?:(?:{_WORD}){{0,8}}(?: (?:is|are|was|of|as|at|an?)\b:?|:)|는|은|は){_OPEN}",
    re.IGNORECASE,
)
# The ends of labels and of such sentences: a quick check that avoids the search for most numbers.
_ANNOUNCERS = (
    *":=>→|]-–—는은は",
    r"\boxed",
    " is",
    " are",
    " was",
    " of",
    " as",
    " at",
    " a",
    " an",
)
_KOREAN_VERB = re.compile(r"(?:으로|을) ?(?:평가|부여|주)")
_SAID_SO = rf"입니다|です|{_KOREAN_VERB.pattern}"
_ARTICLE = re.compile(r"\b(?:the|an?|my|our|its|this)\b", re.IGNORECASE)
_TOTAL = re.compile(
    r"total|final|overall|cumulative|총|최종|종합|総|最終|总|最终|综合", re.IGNORECASE
)

_CLOSE = r"[ \"'\])}>$]{0,8}"
_AFTER = re.compile(
    rf"{_CLOSE}(?P<unit>-?(?:points?|stars?|marks?)\b|점|点|分)?{_CLOSE}"
    r"(?P<of>\(?(?:/|out of\b|of\b) "
    rf"*(?P<high>[0-9]{{1,4}})?{_CLOSE}(?:(?:points?|stars?|marks?)\b)?{_CLOSE})?",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    rf"\Z|\n|[.!](?!\.?[0-9])|[,:|<](?! ?[\[(]{{0,2}}[0-9])"
    # "; 2" is another score, "; 2 steps" a reason
    rf"|;(?!\.?[0-9]| [\[(]{{0,2}}[0-9]{{1,4}}{_CLOSE}(?:[.,;\n]|\Z))|{_SAID_SO}"
    r"|(?<= )(?:[-–—] (?![0-9])|\((?![^)\n]{0,80}[0-9])|[A-Z]|(?:because|since|as|due)\b)"
)
_SENTENCE_END = re.compile(rf"[.;!](?![0-9])|\n|\Z|(?<= )(?:because|since|as|due)\b|{_SAID_SO}")
LINE_END = re.compile(r"[ .,]*(?:\n|\Z)")
ITEM = re.compile(
    r"^[ \t]*(?:[-–—+•·▪◦‣●○]|\(?(?:[0-9]{1,2}|[a-hA-H]|[ivIV]{1,3})[.)])[ \t]+", re.MULTILINE
)
_CLAUSE = re.compile(r"[.,;:!?(){}\[\]|<>]|\s[-–—]\s")
_LOOK_BACK = 60
_SENTENCE_LOOK_BACK = 400

Kind = Enum("Kind", "TOTAL VERDICT PROSE STEP ASIDE DENIED")
OWN = (Kind.TOTAL, Kind.VERDICT)


@dataclass(slots=True)
class Statement:
    start: int
    end: int
    value: int | UnscoredReason
    kind: Kind


@dataclass(slots=True)
class _Number:
    """A number, with what announces it and what follows it."""

    digits: str  # with its sign
    at: int
    is_marked: bool  # stands in double square brackets
    words: re.Match[str] | None  # the label, or the words of a sentence, before it
    after: re.Match[str]  # its unit, and the scale's end

    @property
    def label(self) -> re.Match[str] | None:
        return self.words if self.words and self.words.re is _LABEL else None

    @property
    def is_vague(self) -> bool:
        """Whether only "Total:" and its like announce it, and no unit follows."""
        if self.label is None or self.is_marked:
            return False
        return not (self.label["name"] or self.after["unit"] or self.after["of"])


def is_announced(number: re.Match[str]) -> bool:
    at = number.start()
    before = number.string[max(0, at - 16) : at].rstrip("-−")
    head = before.rstrip(_OPENERS)
    if head.endswith(_ANNOUNCERS) or "\n" in before[len(head) :]:
        return True
    return before.endswith("[[") or number.string.startswith("점", number.end())


def to_statement(text: str, found: re.Match[str], scale: Scale) -> Statement | None:
    """What the number `found` states; None unless a mark, a label or a sentence announces it."""
    number = _to_number(text, found)
    if not (number.is_marked or _ends_as_score(text, number)):
        return None
    words = number.words
    marked = 2 if number.is_marked else 0
    start = number.at - (len(words[0]) if words else marked)
    end = number.after.end()
    kind = _kind(text, start, end, words, is_marked=number.is_marked)
    if kind in OWN and number.is_vague:
        kind = Kind.ASIDE
    return Statement(start, end, _value(text, number, scale), kind)


def _to_number(text: str, found: re.Match[str]) -> _Number:
    digits = found[0].rstrip(".,")
    at = found.start()
    after = _AFTER.match(text, at + len(digits))
    assert after  # noqa: S101 - all of it is optional
    if text[at - 1 : at] in ("-", "−"):
        at = at - 1
        digits = f"-{digits}"
    before = text[max(0, at - _LOOK_BACK) : at]
    is_marked = (
        before.endswith("[[") and after[0].startswith("]]") and not before.endswith(("=[[", "= [["))
    )
    words = _LABEL.search(before)
    if not (words or is_marked):
        words = _SENTENCE_LABEL.search(before)
    return _Number(digits, at, is_marked, words, after)


def _ends_as_score(text: str, number: _Number) -> bool:
    """Whether what follows a number lets it be a score."""
    end = number.after.end()
    if number.words is None:
        return bool(_KOREAN_VERB.match(text, end))
    if number.label is None:
        return bool(_SENTENCE_END.match(text, end))
    # "Total: 4 apples", or a number on the line below: then nothing may follow it on its line.
    is_last = number.is_vague or "\n" in number.label[0]
    return not is_last or bool(LINE_END.match(text, end))


def _value(text: str, number: _Number, scale: Scale) -> int | UnscoredReason:
    after = number.after
    before = text[max(0, number.at - _LOOK_BACK) : number.at]
    if before.rstrip().endswith("<") and ">" not in after[0]:
        return UnscoredReason.UNCLEAR
    whole, _, decimals = number.digits.partition(".")
    if "," in number.digits or decimals.strip("0."):
        return UnscoredReason.NOT_WHOLE
    if after["of"] and not after["high"]:
        return UnscoredReason.TRUNCATED
    label = number.label
    high = after["high"] or (label and label["high"]) or scale.high
    is_on_scale = len(whole) < 9 and scale.low <= int(whole) <= scale.high == int(high)
    if not is_on_scale:
        return UnscoredReason.OFF_SCALE
    goes_on = label and not number.is_marked and not _CLAUSE_END.match(text, after.end())
    return UnscoredReason.UNCLEAR if goes_on else int(whole)


def _kind(text: str, start: int, end: int, label: re.Match[str] | None, *, is_marked: bool) -> Kind:
    line_start = line_start_of(text, start)
    line = text[max(line_start, start - _SENTENCE_LOOK_BACK) : start]
    is_prose = not is_marked and (label is None or label.re is _SENTENCE_LABEL)
    if line.strip():
        is_in_quotes = line.endswith('"')
        # `It is: "score: 4".` is the judge's own; `It says "score: 4"` is not.
        is_own = line[:-1].rstrip()[-1:] in ("", ":") and _SENTENCE_END.match(text, end)
        if text[line_start] == ">" or (is_in_quotes and not is_own):
            return Kind.ASIDE
        if (is_in_quotes or not is_marked) and denies(line + (label["lead"] if label else "")):
            return Kind.DENIED
        if label and not is_marked and _is_after_words(text, line_start, start, len(line)):
            is_of_whole = _ARTICLE.search(label["lead"]) or (is_prose and label["verb"])
            return Kind.PROSE if is_of_whole else Kind.STEP
    if is_prose:
        return Kind.PROSE
    return Kind.TOTAL if label and _TOTAL.search(label[0]) else Kind.VERDICT


def _is_after_words(text: str, line_start: int, start: int, length: int) -> bool:
    """Whether words of the same clause stand before a label: "clarity score: 4"."""
    item = ITEM.match(text, line_start, start)
    begin = max(item.end() if item else 0, start - length)
    clause = _CLAUSE.split(text[begin:start])[-1].rstrip(" \"'")
    return clause[-1:].isalnum()


def line_start_of(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1
