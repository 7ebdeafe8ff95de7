"""Reads one number as a score: permissive in how it is dressed, strict in what it may be.

All texts here are in lower case (`parsing` sees to that), which spares the patterns a slow comparison.
"""

import re
from dataclasses import dataclass

from judge.ratings import UnscoredReason
from judge.rubric import Scale

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORD = rf"(?:{'|'.join(_WORDS)})(?![^\W_])"
# Where a number may begin; in "3.5" it is one. Words by their first letters: a long list is slow to rule out.
NUMBER = re.compile(r"\d[\d.]*|zero|one|t(?:wo|hree|en)|f(?:our|ive)|s(?:ix|even)|eight|nine")
# What may open right before it: brackets, quotes, LaTeX.
OPENERS = " \t\n\"'`“‘«<[({}$"

_AMOUNT = re.compile(rf"(?P<digits>\d{{1,4}})|(?<![^\W_])(?P<word>{_WORD})")
_WHOLE_DECIMAL = re.compile(r"\.0{1,3}(?!\d)")
_UNIT = re.compile(
    r"[ \t\]*)}]{0,4}(?:-\s?)?"
    r"(?:(?:total |full )?(?:points?|stars?|marks?|pts?|punkte?n?|puntos?|pontos?|punti)\b"
    r"|점|点|點|分|балл\w{0,3})"
)
_CLOSE = r"[ \t\])}\"'”’`$(\[]{0,8}"
_OUT_OF = re.compile(
    rf"{_CLOSE}(?:/|out\s+of|of|von|sur|de|su|из|max(?:imum)?\b:?)\s*(?:an?\s+|the\s+|possible\s+"
    rf"|maximum\s+(?:of\s+)?){{0,2}}"
    rf"[\s\[({{]{{0,4}}(?P<maximum>\d{{1,4}}(?!\d)|{_WORD})"
)
_CUT_OFF = re.compile(rf"{_CLOSE}/")
_SUM = re.compile(r"(?P<terms>(?:\s?\+\s?\d{1,3}){1,12})\s?=\s?(?P<total>\d{1,4})(?!\d|[.,]\d)")
_NOT_WHOLE = re.compile(
    r"[.,·٫]\d|\.\s\d{1,2}\s*(?:$|\n)|\s?[½¼¾⅓⅔]|\s\.\s?\d|\s\d/\d|[ \t]and (?:a|one) (?:half|quarter)\b|-and-a-half\b"
)
# A range, a choice or a change: "3-4", "3 to 4", "3〜4", "3 → 4".
_JOINED = (
    r"(?:[-‐‑‒–—―−〜…→⇒,;、|&\\]|->|>>|to|and|through|bis|oder|ou|[oayàи]|или|до|到|至|或|か|または|から|에서|또는)"
    r"[ \t]?[-+]?\d"
)
_UNCLEAR = re.compile(
    rf"[ \t]?(?:[%+~≤≥]|[\"'`”)\]]{{0,3}}\?|percent\b|\.\.+[ \t]?\d)"
    # "4, 2 of the 3 parts ..." and "4; 3 steps are given" go on with something else.
    rf"|[ \t]?(?![,;] \d{{1,3}} (?:of\b|(?!points|marks|stars)[a-z]{{4,}}s\b)){_JOINED}"
    r"|[ \t]{1,3}\d|:\d|-[ \t]*(?:\n|$)"
    # "3, maybe a 4", "4 (or 5)"; "4 (not final)", "4 (-1)"
    rf"|[ \t.,;(]{{0,3}}(?:or|maybe|perhaps|possibly)\b(?: \w{{1,20}})? ?(?:\d|{_WORD})"
    r"|[ \t]?[(\[](?:[-−]\d|(?:not (?:yet |quite |so )?(?:final|sure|certain|settled)"
    r"|preliminary|tentative|provisional|initial|so far|draft|tbd|to be \w+|placeholder)\b)"
    # "3 (could be 4)"; "2 (human), 4 (metric)"
    r"|[ \t]?\((?:[^()\d\n]{0,40}\b)?(?:could|might|borderline|leaning|closer|alternatively|was)\b[^()\d\n]{0,30}\d\)"
    r"|[ \t]?\([^()\d\n]{1,30}\)[ \t]?(?:[,;|/]|or|and)[ \t]?\d[ \t]?\("
)
# "three (4)"; "three (3)" says the same twice.
_AGAIN = re.compile(rf"[ \t]\((?P<again>\d{{1,4}}|{_WORD})\)")
# Another scale named behind the number: "4 (0-10)", "4, scale 1-10", "4\nMax: 10", "4 (1 = worst, 10 = best)",
# "4 on a ten-point scale", "4, where 10 is best".
_BOUNDS = r"\d{1,3}\s?(?:-|–|to|bis|a)\s?"
_SCALE_AFTER = re.compile(
    r"[\s\"'”’`)\]}.,;(\[{|$-]{0,8}+(?:the )?"
    rf"(?:(?:\\?/|⁄|out[ _]of|from|max\w*(?:[ _](?:score|rating|points))?|(?:on )?(?:an? |the )?(?:rating )?(?:scale"
    rf"|range)(?: (?:of|from))?"
    rf"|满分|滿分|満点)(?: is)?[\"'’\s:=(.]{{0,6}}(?:{_BOUNDS})?(?P<a>\d{{1,4}})(?![\w.]*\d)"
    rf"|(?P<b>\d{{1,4}})\s?(?:点満点|점 ?만점|分制|分满分|(?:points? )?max\b)"
    rf"|(?:(?:on|using) )?(?:an? )?(?P<e>\d{{1,3}}|{_WORD})[- ]point scale|where (?P<f>\d{{1,3}}) (?:is|means)\b)"
    rf"|[ \t]?[(\[]\s?(?:{_BOUNDS}(?P<c>\d{{1,4}})\s?(?:scale)?[)\]]|\d{{1,3}}\s?=[^\d\n]{{1,24}}(?P<d>\d{{1,4}})\s?=)"
)
_ALONE = re.compile(r"[:=]\s*\S*$")
_LINE_END = re.compile(r"[ \t\"'.)\]}*|]*(?:points?)?[ .]*(?:\n|$)")
_PERCENT_AFTER = re.compile(r"[ \t]?\((?P<percent>\d{1,3})[ \t]?%")
# "one of the best" is no score.
_WORD_AFTER = re.compile(r"[ \t]*(?!out of\b)[^\W\d_]")
# What may follow a number that says all there is to say. With "steps", "at most" or "x 2" behind it, it does not.
_COMPLETE = re.compile(
    r"(?!-[a-z])[ \t\"'”’`)\]}>$|]{0,8}"
    r"(?:$|[^ \ta-z0-9_À-ɏ=<+×/%^~?]|<[/a-z|]"
    r"|(?:because|since|as|due|based|overall|for|on|with|given|and|but|in|so|which|reflecting"
    r"|although|though|the|this|it|awarded|score|rating|justif\w*|reason\w*|rationale|explanation|feedback|here"
    r"|comments?|to (?:it|this|the (?:response|answer|reply|assistant))(?!['’]s))\b)"
)


@dataclass(frozen=True)
class Value:
    """A number in the text: `score` when it is on the scale, else `fault`.

    `is_complete` is False where the words behind it make it a number of something else.
    """

    start: int
    end: int
    score: int | None
    fault: UnscoredReason | None = None
    has_unit: bool = False
    has_maximum: bool = False
    is_tally: bool = False
    is_complete: bool = True

    @property
    def is_explicit(self) -> bool:
        """Whether a unit or a maximum says that the number is a score: "4 points", "4/5"."""
        return self.has_unit or self.has_maximum


def read_value(text: str, at: int, scale: Scale) -> Value | None:
    """The score whose digits begin at `at`; None where no number stands there by itself ("one of")."""
    number = _AMOUNT.match(text, at)
    if number is None or text[max(0, at - 1) : at] == ".":
        return None
    sign = _sign(text, at)
    terms = [-_to_int(number[0]) if sign in ("-", "−") else _to_int(number[0])]
    start, end = at - len(sign), number.end()
    if decimal := _WHOLE_DECIMAL.match(text, end):
        end = decimal.end()
    if added := _SUM.match(text, end):
        end = added.end()
        terms += [int(term) for term in added["terms"].split("+")[1:]]
        fault = None if sum(terms) == int(added["total"]) else UnscoredReason.UNCLEAR
    else:
        fault = _fault_after(text, number[0], end)
    if fault:
        return Value(start, end, None, fault)
    value = _with_maximum(text, start, end, terms, scale)
    is_phrase = number["word"] and not value.is_explicit and _WORD_AFTER.match(text, end)
    return None if is_phrase else value


def _with_maximum(text: str, start: int, end: int, terms: list[int], scale: Scale) -> Value:
    """The sum of `terms`, with the unit and the maximum behind it ("4 points", "4 out of 5 points"), on the scale."""
    unit = _UNIT.match(text, end)
    maximum = _OUT_OF.match(text, unit.end() if unit else end)
    after = maximum.end() if maximum else unit.end() if unit else end
    if not maximum and _CUT_OFF.match(text, end):
        return Value(start, end, None, UnscoredReason.TRUNCATED)
    if maximum:
        unit = _UNIT.match(text, maximum.end())
    end = unit.end() if unit else maximum.end() if maximum else end
    score = sum(terms)
    is_on_scale = (
        scale.low <= score <= scale.high
        and (not maximum or _to_int(maximum["maximum"]) == scale.high)
        and not _is_of_another_scale(text, after, score, scale)
    )
    return Value(
        start,
        end,
        score if is_on_scale else None,
        None if is_on_scale else UnscoredReason.OFF_SCALE,
        has_unit=unit is not None,
        has_maximum=maximum is not None,
        is_tally=len(terms) > 2 and max(terms) == 1,
        is_complete=_COMPLETE.match(text, end) is not None,
    )


def _is_of_another_scale(text: str, end: int, score: int, scale: Scale) -> bool:
    """Whether what follows the number at `end` names a maximum or a percentage that does not fit `scale`."""
    named = _SCALE_AFTER.match(text, end)
    # On a line below, a scale is named by itself: "Max: 10", and not "Out of 10 steps, 9 are right."
    if named and ("\n" not in named[0] or _ALONE.search(named[0]) or _LINE_END.match(text, named.end())):
        return _to_int(named[named.lastindex or 0]) != scale.high
    percent = _PERCENT_AFTER.match(text, end)
    return percent is not None and int(percent["percent"]) * scale.high != score * 100


def _sign(text: str, at: int) -> str:
    """The sign right before `at`; a dash after a word or a number is none."""
    sign = text[max(0, at - 1) : at]
    return sign if sign in "+-−" and not text[max(0, at - 2) : max(0, at - 1)].isalnum() else ""


def _to_int(number: str) -> int:
    return _WORDS.index(number) if number in _WORDS else int(number)


def _fault_after(text: str, number: str, end: int) -> UnscoredReason | None:
    if _NOT_WHOLE.match(text, end):
        return UnscoredReason.NOT_WHOLE
    if text[end : end + 1].isdigit():
        return UnscoredReason.OFF_SCALE
    again = _AGAIN.match(text, end)
    if again and _to_int(again["again"]) != _to_int(number):
        return UnscoredReason.UNCLEAR
    return UnscoredReason.UNCLEAR if _UNCLEAR.match(text, end) else None
