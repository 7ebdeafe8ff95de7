"""Finds what a completion states about the score: every number that could be a verdict, and how far to trust it.

Nothing is decided here. Models put the score first, last or in prose, tally criteria, quote the response, echo the
prompt and speculate, so a number alone says nothing. What stands before it does: a label ("Score:"), a mark ("[["), a
line of its own, or a verb in the same clause ("I rate it a 4"). All looks back and ahead are bounded and so is the
number of numbers, which keeps the time linear in the text.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from judge.parser.context import (
    Role,
    doubt_about,
    is_announced,
    is_total,
    role_of,
    scores_part,
    scores_whole,
    sentence_before,
)
from judge.parser.values import NUMBER, Value, read_value
from judge.ratings import UnscoredReason
from judge.rubric import Scale

# A judgement has a handful; a text with more than this is none.
_MAX_NUMBERS = 500
_MAX_STATEMENTS = 60
_LOOK_BACK = 160

# Words for a score in the languages that judges were seen to answer in.
_LABEL = (
    r"scores?|ratings?|grade|marks?|points|verdict|total|overall|final|note"
    r"|점수|평점|スコア|点数|得点|評点|評価|评分|得分|分数|評分|总分"
    r"|puntuaci[oó]n|puntaje|calificaci[oó]n|pontua[cç][aã]o|punteggio|nota|bewertung|(?:gesamt)?punktzahl|оценка"
    r"|puan|ocena|điểm|evaluation|assessment|conclusion|judge?ment"
)
# These stand before many things that are no score ("Total: 4 apples"), so what follows must look like one.
_VAGUE_LABEL = re.compile(r"verdict|total|overall|final|points|marks?|note|evaluation|assessment|conclusion|judge?ment")
# What may stand between a label and its number: markup, brackets, quotes, LaTeX.
_OPEN = r"(?:[\s\"'`“‘«<\[\]({}$|]|\\boxed\{|\\text\{){0,12}"
_LABELLED = re.compile(
    rf"(?<![a-z0-9à-ÿа-я])(?P<label>{_LABEL})(?:(?![^\W_])|(?=[는은は]))"
    r"[ \t\"'`”’»\])}]{0,6}+"
    r"(?:[(\[](?P<aside>[^()\[\]\n]{0,40})[)\]][ \t\"'`:]{0,4})?"
    r"(?:\b(?:awarded|given|assigned|earned|received|(?P<about>for|of))\b(?P<subject>[^:=.!?\n\d]{0,60}))?"
    r"(?P<sep>:|=|->|→|⇒|\||>|\bis\b:?|\bare\b:?|[-–—](?=\s)|\n|(?:는|은|は)(?=\s?\Z))"
    rf"{_OPEN}\Z"
)
# "Points:" and below it "1. Relevance".
_LIST_ITEM = re.compile(r"[.)][ \t]+\S")
_SEPARATORS = (":", "=", ">", "→", "⇒", "|", "-", "–", "—", " is", " are", "는", "은", "は", "\\boxed", "\\text")
_OPENERS = " \t\n\"'`“‘«<[({}$"
_LINE_MARKUP = " \t\"'`“‘«<[(){}$|].*>"
# Not after "=", "(" or a name: there it is an array in somebody's code. "[RESULT]" is how Prometheus and its kin close.
_MARK = re.compile(r"(?:(?<![=(]\s)(?<![=(,\[a-z0-9_])\[\[\s{0,3}|\[result\]:?\s{0,3}\(?|\\boxed\{\s{0,3})\Z")
# "receives a score of 4", "rate it a 4", "gets 4 points". Who gives must be the judge, who gets must be what is judged,
# and nothing else may stand between: "critics give the film a 4". Without the word score, a number needs an article,
# the thing scored, or a unit.
_VERB = re.compile(
    r"\b(?:(?P<gives>rate|give|gave|award|assign|grade|score)|(?P<sums>resulting in|totall?ing|for(?= a total))"
    r"|rated|given|awarded|assigned|graded|scored|(?P<gets>scores|receive[sd]?|earn(?:s|ed)?|deserve[sd]?|deservedly"
    r"|merit(?:s|ed)?|warrants?|gets?|got|accumulate[sd]?))\b"
    r"(?P<object>(?:[\s\"'`“‘«<(\[{$]|['’]s\b|\b(?:it|this|that|the|its|their|them|my|an?|(?:sub)?total|final|overall|score"
    r"|rating|grade|mark|of|is|as|at|response|answer|reply|assistant|ai|model|user|quality|only|just|about|around|most|least|out"
    r"|maximum|perfect|strong|solid|clear|full|generous|low|high|weak|therefore|thus|deservedly)\b){0,20})\Z"
)
_LINK = re.compile(
    r"\b(?:(?P<noun>(?:score|rating|grade|total)\s(?:of|is|as))"
    r"|(?:an?|as|at|it|this|response|answer)(?:\s(?:strong|solid|clear|full|perfect|generous|low|high|weak))?)\s*\Z"
)
_JUDGE = re.compile(r"\b(?:i|we|would|will|must|shall)\b|['’](?:d|ll|ve)\b")
_JUDGED = re.compile(
    r"\b(?:response|answer|reply|assistant|it|rating|score|ai"
    r"|this (?:is|was|would|gets|got|earns|deserves|merits|receives|warrants|scores|therefore))\b"
)
_PROSE_CHARS = 120
_WHOLE_ASIDE = re.compile(r"overall|total|final|scale|out of|max|points|stars|integer|number|response|answer|five|ten")
_DIGITS = re.compile(r"\d+")
_KOREAN_VERB = re.compile(r"(?:으로|을|이라)\s?(?:평가|주겠|부여|드리|매기)")
_KOREAN_SUBJECT = re.compile(r"답변|따라서|종합|전체")
# Words of a tally: then "earns 2 points" is a step on the way.
_STEPS = re.compile(r"(?:another|additional|second|third|fourth|fifth|extra|more) points?\b|(?:1|one) point\b|\+ ?1\b")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)[ \t]*(?P<language>\w*)", re.MULTILINE)
ANSWER_LANGUAGES = frozenset({"", "json", "text", "xml", "yaml"})


class Weight(IntEnum):
    """How much a statement counts in the decision."""

    PROSE = 1
    PLAIN = 2
    TOTAL = 3


@dataclass(frozen=True)
class Statement:
    """One place that states a score. `doubt` is None for an assertion, else why it is not one."""

    start: int
    end: int
    value: Value
    weight: Weight
    doubt: UnscoredReason | None = None
    role: Role = Role.VERDICT
    is_fenced: bool = False


class Found(NamedTuple):
    """What the numbers of a text are: statements of a score, and `others`, both in order."""

    statements: list[Statement]
    others: list[Value]


def find_statements(text: str, scale: Scale) -> Found | None:
    """What the numbers of `text` are; None when it holds more of them, or more statements, than a judgement could."""
    judges = "response" in text or "assistant" in text
    found: list[Statement] = []
    others: list[Value] = []
    end = 0
    for count, number in enumerate(NUMBER.finditer(text)):
        if count == _MAX_NUMBERS or len(found) > _MAX_STATEMENTS:
            return None
        value = read_value(text, number.start(), scale) if number.start() >= end else None
        statement = value and (
            _labelled(text, value, scale, found)
            or _marked(text, value, found, judges=judges)
            or _alone(text, value, judges=judges)
            or _tallied(value, judges=judges)
            or _prose(text, value)
        )
        if statement:
            found.append(statement)
            end = statement.end
        elif value:
            others.append(value)
    return Found(_without_code(text, found) if "```" in text or "~~~" in text else found, others)


def _labelled(text: str, value: Value, scale: Scale, found: Sequence[Statement]) -> Statement | None:
    """`Score: 4`; `found` are the statements before it."""
    since = found[-1].end if found else 0
    low = max(0, value.start - _LOOK_BACK)
    tail = text[low : value.start].rstrip(_OPENERS)
    opening = text[low + len(tail) : value.start]
    if not (tail.endswith(_SEPARATORS) or "\n" in opening):
        return None
    label = _LABELLED.search(text, low, value.start)
    if label is None or ("\n" in opening and _LIST_ITEM.match(text, value.end)):
        return None
    if _needs_explicit(label) and not (value.is_complete and (value.is_explicit or _ends_line(text, label, value))):
        return None
    if fault := _fault_of_label(label, opening, text, value, scale):
        value = replace(value, score=None, fault=fault)
    if _names_part(label):
        return replace(Statement(label.start(), value.end, value, Weight.PLAIN), role=Role.TALLY)
    weight = Weight.TOTAL if is_total(text, label.start(), label["label"]) else Weight.PLAIN
    return Statement(
        label.start(),
        value.end,
        value,
        weight,
        _doubt(text, label.start(), value, found),
        role_of(text, label.start(), value.end, since=since),
    )


def _doubt(text: str, start: int, value: Value, found: Sequence[Statement]) -> UnscoredReason | None:
    """Why the score line at `start` is not asserted. After another verdict an announced one is a conflict instead."""
    if start and all(statement.doubt for statement in found) and is_announced(text, start):
        return UnscoredReason.NOT_ASSERTED
    return doubt_about(text, start, value.start, value.end)


def _names_part(label: "re.Match[str]") -> bool:
    """Whether the label is of one criterion or of somebody else: "Score for accuracy", "Score (accuracy)"."""
    aside = label["aside"] or ""
    is_named = aside.strip() != "" and not _DIGITS.search(aside) and not _WHOLE_ASIDE.search(aside)
    return is_named or (label["about"] is not None and not scores_whole(label["subject"]))


def _needs_explicit(label: "re.Match[str]") -> bool:
    return _VAGUE_LABEL.fullmatch(label["label"]) is not None or label["sep"] in ("-", "–", "—", "\n")


def _ends_line(text: str, label: "re.Match[str]", value: Value) -> bool:
    """Whether "Total: 4" is said as a verdict is; "the total is 12, not 15" is not."""
    rest = text[value.end : value.end + 8].lstrip(" \"'`)]}|>")
    return label["sep"][:2] not in ("is", "ar") and (not rest or rest[0] in "\n.(<")


def _fault_of_label(
    label: "re.Match[str]", opening: str, text: str, value: Value, scale: Scale
) -> UnscoredReason | None:
    """What is wrong with a number that is otherwise fine: "Score (1-10): 5", "Score: <4", "Score: 4 steps"."""
    bounds = _DIGITS.findall(label["aside"] or "")
    if bounds and int(bounds[-1]) != scale.high:
        return value.fault or UnscoredReason.OFF_SCALE
    closing = text[value.end : value.end + 8]
    is_open = ("<" in opening and ">" not in closing) or ("$" in opening and "$" not in closing)
    return value.fault or (UnscoredReason.UNCLEAR if is_open or not value.is_complete else None)


def _marked(text: str, value: Value, found: Sequence[Statement], *, judges: bool) -> Statement | None:
    r"""`[[4]]` and `[RESULT] 4`, and `\boxed{4}` where a response is judged."""
    mark = _MARK.search(text, max(0, value.start - 14), value.start)
    if mark is None or not _closes_mark(text, mark[0], value) or (mark[0][0] == "\\" and not judges):
        return None
    doubt = _doubt(text, mark.start(), value, found)
    role = role_of(text, mark.start(), value.end, is_marked=True)
    return Statement(mark.start(), value.end, value, Weight.PLAIN, doubt, role)


def _closes_mark(text: str, mark: str, value: Value) -> bool:
    rest = text[value.start : value.end + 3]
    if mark.startswith("\\"):
        return "}" in rest
    return mark.startswith("[r") or "]" in rest


def _alone(text: str, value: Value, *, judges: bool) -> Statement | None:
    """A first or last line that is only `4/5` or `4 points`; a lone `4` may as well answer the question."""
    before, after = text[max(0, value.start - 12) : value.start], text[value.end : value.end + 12]
    line_start, line_end = before.rfind("\n"), after.find("\n")
    is_first = line_start < 0 and value.start < 12
    is_last = line_end < 0 and value.end + 12 > len(text)
    if not judges or not value.is_explicit or not (is_first or (line_start >= 0 and is_last)):
        return None
    around = before[line_start + 1 :] + (after if line_end < 0 else after[:line_end])
    is_line = (line_end >= 0 or is_last) and not around.strip(_LINE_MARKUP)
    return Statement(value.start, value.end, value, Weight.PLAIN) if is_line else None


def _tallied(value: Value, *, judges: bool) -> Statement | None:
    """`1 + 1 + 1 + 0 = 3`, the points counted up."""
    return Statement(value.start, value.end, value, Weight.TOTAL) if value.is_tally and judges else None


def _prose(text: str, value: Value) -> Statement | None:
    """`I rate it a 4`, `receives a score of 4`, `earns 4 points`."""
    if _KOREAN_VERB.match(text, value.end):
        is_verdict = _KOREAN_SUBJECT.search(sentence_before(text, value.start))
        return Statement(value.start, value.end, value, Weight.PROSE) if is_verdict else None
    start, clause = _clause_before(text, value.start)
    verb = _VERB.search(clause)
    link = verb and _LINK.search(verb["object"].rstrip(_OPENERS))
    if verb is None or not value.is_complete or not (value.is_explicit or link):
        return None
    subject = clause[: verb.start()]
    is_judge = not verb["gets"] and _JUDGE.search(subject)
    is_judged = not verb["gives"] and _JUDGED.search(subject)
    if not (is_judge or is_judged or (verb["sums"] and value.is_explicit)):
        return None
    is_points = not (link and link["noun"]) and not value.has_maximum
    is_step = is_points and (value.score == 1 or (value.has_unit and _has_steps(text)))
    role = Role.TALLY if is_step or scores_part(text, value.end) else Role.VERDICT
    start += verb.start()
    return Statement(start, value.end, value, Weight.PROSE, doubt_about(text, start, value.start, value.end), role)


@lru_cache(maxsize=1)
def _has_steps(text: str) -> bool:
    """Whether points are added up in `text`; kept, since every number may ask."""
    return _STEPS.search(text) is not None


def _clause_before(text: str, at: int) -> tuple[int, str]:
    """Where the clause before `at` begins, and its words."""
    start = max(0, at - _PROSE_CHARS)
    start = max(start, *(text.rfind(mark, start, at) + 1 for mark in ".!?\n:"))
    return start, text[start:at]


def _without_code(text: str, statements: list[Statement]) -> list[Statement]:
    """Those outside fences, and, marked, those in fences that may hold an answer: `total = 0` in Python is none."""
    fences = list(_FENCE.finditer(text))
    starts = [fence.start() for fence in fences]
    kept = []
    for statement in statements:
        before = bisect_left(starts, statement.start)
        if before % 2 == 0:
            kept.append(statement)
        elif "=" not in text[statement.start : statement.end] and (
            fences[before - 1]["language"] in ANSWER_LANGUAGES
            or not text[fences[before - 1].end() : statement.start].strip()
        ):
            kept.append(replace(statement, is_fenced=True))
    return kept
