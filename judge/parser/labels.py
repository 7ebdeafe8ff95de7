"""Scores that stand out: behind a label ("Score: 4"), in a mark ("[[4]]"), alone on a line, or as a sum."""

import re
from collections.abc import Sequence
from dataclasses import replace

from judge.parser.context import Role, doubt_about, is_announced, is_total, role_of, scores_whole
from judge.parser.statements import Statement, Weight
from judge.parser.values import OPENERS, Value
from judge.ratings import UnscoredReason
from judge.rubric import Scale

_LOOK_BACK = 160

# Words for a score in the languages that judges were seen to answer in.
_LABEL = (
    r"scores?|ratings?|grade|marks?|points|verdict|total|overall|final"
    r"|점수|평점|スコア|点数|得点|評点|評価点?|评分|得分|打分|分数|評分|总分|(?:итоговый )?балл|оценка"
    r"|(?:puntuaci[oó]n|puntaje|calificaci[oó]n|pontua[cç][aã]o|punteggio|nota|voto|valutazione|note)"
    r"(?: (?:finale?|totale?|globale?))?|(?:gesamt)?(?:punktzahl|bewertung)|puan|ocena|điểm"
    r"|evaluation|assessment|conclusion|judge?ment"
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
_LINE_MARKUP = " \t\"'`“‘«<[(){}$|].*>"
# Not after "=", "(" or a name: there it is an array in somebody's code. "[RESULT]" is how Prometheus and its kin close.
_MARK = re.compile(r"(?:(?<![=(]\s)(?<![=(,\[a-z0-9_])\[\[\s{0,3}|\[result\]:?\s{0,3}\(?|\\boxed\{\s{0,3})\Z")
_WHOLE_ASIDE = re.compile(r"overall|total|final|scale|out of|max|points|stars|integer|number|response|answer|five|ten")
_DIGITS = re.compile(r"\d+")


def read_label(text: str, value: Value, scale: Scale, found: Sequence[Statement]) -> Statement | None:
    """The statement of a label, `Score: 4`; `found` are the statements before it."""
    since = found[-1].end if found else 0
    low = max(0, value.start - _LOOK_BACK)
    tail = text[low : value.start].rstrip(OPENERS)
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


def read_mark(text: str, value: Value, found: Sequence[Statement], *, judges: bool) -> Statement | None:
    r"""The statement of a mark, `[[4]]` or `[RESULT] 4`, and `\boxed{4}` where a response is judged."""
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


def read_line(text: str, value: Value, *, judges: bool) -> Statement | None:
    """The statement of a first or last line that is only `4/5` or `4 points`; a lone `4` may answer the question."""
    before, after = text[max(0, value.start - 12) : value.start], text[value.end : value.end + 12]
    line_start, line_end = before.rfind("\n"), after.find("\n")
    is_first = line_start < 0 and value.start < 12
    is_last = line_end < 0 and value.end + 12 > len(text)
    if not judges or not value.is_explicit or not (is_first or (line_start >= 0 and is_last)):
        return None
    around = before[line_start + 1 :] + (after if line_end < 0 else after[:line_end])
    is_line = (line_end >= 0 or is_last) and not around.strip(_LINE_MARKUP)
    return Statement(value.start, value.end, value, Weight.PLAIN) if is_line else None


def read_tally(value: Value, *, judges: bool) -> Statement | None:
    """The statement of points counted up, `1 + 1 + 1 + 0 = 3`."""
    return Statement(value.start, value.end, value, Weight.TOTAL) if value.is_tally and judges else None
