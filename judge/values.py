"""Reads one number as a score: permissive in how it is dressed, strict in what it may be."""

import re
from dataclasses import dataclass

from judge.ratings import UnscoredReason
from judge.rubric import Scale

# What may stand between a label and its number: markup, brackets, quotes, LaTeX.
OPEN = r"(?:[\s\"'`“‘«<\[\]({$|]|\\boxed\{|\\text\{){0,12}"
NUMBER_AHEAD = r"(?=[-+−]?\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b)"

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = re.compile(rf"(?P<sign>[-+−]?)(?:(?P<digits>\d{{1,4}})|(?P<word>{'|'.join(_WORDS)})\b)", re.IGNORECASE)
_WHOLE_DECIMAL = re.compile(r"\.0{1,3}(?!\d)")
_UNIT = re.compile(
    r"[ \t\]*)}]{0,4}(?:-\s?)?"
    r"(?:(?:total |full )?(?:points?|stars?|marks?|pts?|punkte?n?|puntos?|pontos?|punti)\b\.?"
    r"|점|点|點|分|балл\w{0,3})",
    re.IGNORECASE,
)
_CLOSE = r"[ \t\])}*\"'”’`$(\[]{0,8}"
_OUT_OF = re.compile(
    rf"{_CLOSE}(?:/|out\s+of|of|von|sur|de|su|из)\s*(?:an?\s+|the\s+|possible\s+|maximum\s+){{0,2}}[\s\[(*{{]{{0,4}}(\d{{1,4}})(?!\d)",
    re.IGNORECASE,
)
_CUT_OFF = re.compile(rf"{_CLOSE}/")
_SUM = re.compile(r"(?:\s?\+\s?\d{1,3}){1,12}\s?=\s?(\d{1,4})(?![\d.])")
_NOT_WHOLE = re.compile(r"[.,·]\d|\s?[½¼¾⅓⅔]|\s\d/\d")
_UNCLEAR = re.compile(
    r"[ \t]?[%+?~≤≥]|[ \t]?percent\b|[ \t]?(?:-|–|—|→|->|,|;|、|or|to|and|through)[ \t]?[-+]?\d|[ \t]\d",
    re.IGNORECASE,
)
_GLUED = re.compile(r"\d|[a-z_](?<![.])|-[a-z]", re.IGNORECASE)


# "one of the best" is no score.
_WORD_AFTER = re.compile(r"[ \t]*(?!out of\b)[^\W\d_]", re.IGNORECASE)


@dataclass(frozen=True)
class Value:
    """A number in the text: `score` when it is on the scale, else `fault`."""

    start: int
    end: int
    score: int | None
    fault: UnscoredReason | None = None
    has_unit: bool = False
    has_maximum: bool = False

    @property
    def is_explicit(self) -> bool:
        """Whether a unit or a maximum says that the number is a score: "4 points", "4/5"."""
        return self.has_unit or self.has_maximum


def read_value(text: str, start: int, scale: Scale) -> Value | None:
    """The score that begins at `start`; None where no number stands there by itself (`4th`, `3-step`)."""
    number = _NUMBER.match(text, start)
    if number is None:
        return None
    end, amount = number.end(), _amount(number)
    if decimal := _WHOLE_DECIMAL.match(text, end):
        end = decimal.end()
    if total := _SUM.match(text, end):
        end, amount = total.end(), int(total[1])
    elif fault := _fault_after(text, end):
        return Value(start, end, None, fault)
    unit = _UNIT.match(text, end)
    maximum = _OUT_OF.match(text, unit.end() if unit else end)
    is_in_a_phrase = _GLUED.match(text, end) or (number["word"] and _WORD_AFTER.match(text, end))
    if not (unit or maximum) and is_in_a_phrase:
        return None
    if not maximum and _CUT_OFF.match(text, end):
        return Value(start, end, None, UnscoredReason.TRUNCATED)
    end = maximum.end() if maximum else unit.end() if unit else end
    is_on_scale = scale.low <= amount <= scale.high and (not maximum or int(maximum[1]) == scale.high)
    score, fault = (amount, None) if is_on_scale else (None, UnscoredReason.OFF_SCALE)
    return Value(start, end, score, fault, has_unit=bool(unit), has_maximum=bool(maximum))


def _amount(number: "re.Match[str]") -> int:
    amount = _WORDS.index(number["word"].lower()) if number["word"] else int(number["digits"])
    return -amount if number["sign"] in ("-", "−") else amount


def _fault_after(text: str, end: int) -> UnscoredReason | None:
    if _NOT_WHOLE.match(text, end):
        return UnscoredReason.NOT_WHOLE
    if text[end : end + 1].isdigit():
        return UnscoredReason.OFF_SCALE
    return UnscoredReason.UNCLEAR if _UNCLEAR.match(text, end) else None
