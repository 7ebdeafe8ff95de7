"""Finds what a completion states about the score: every place that could be a verdict, and how far to trust
it.

Nothing is decided here. Models put the score first, last or in prose, tally criteria, quote the response,
echo the prompt and speculate, so a number alone says nothing; where it stands does. All patterns are
bounded and the number of statements is capped, so that the time stays linear in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from judge.context import Role, doubt_about, is_total, role_of
from judge.ratings import UnscoredReason
from judge.rubric import Scale
from judge.values import NUMBER_AHEAD, OPEN, Value, read_value

MAX_STATEMENTS = 60

# Words for a score in the languages that judges were seen to answer in.
_LABEL = (
    r"scores?|ratings?|grade|marks?|points|verdict|total|overall|final|evaluation|assessment"
    r"|점수|평점|평가|評価|スコア|点数|得点|評点|评分|得分|分数|評分|总分"
    r"|puntuaci[oó]n|puntaje|calificaci[oó]n|pontua[cç][aã]o|punteggio|bewertung|punktzahl|оценка|puan|ocena|điểm"
)
# These stand before many things that are no score ("Total: 4 apples"), so what follows must look like one.
_VAGUE_LABELS = frozenset({"total", "overall", "final", "points", "evaluation", "assessment", "mark", "marks"})
_LABELLED = re.compile(
    rf"(?<![^\W_])(?P<label>{_LABEL})(?![^\W_])[\s\"'`”’»\])}}]{{0,6}}"
    r"(?:\([^()\n]{0,40}\)[\s\"'`:]{0,4})?"
    r"(?:\b(?:awarded|given|assigned|for|of)\b[^:=.!?\n\d]{0,60})?"
    r"(?P<sep>:|=|->|→|⇒|\||>|\bis\b|\bare\b|[-–—](?=\s)|\n|(?:는|은|は)(?=\s?[\d\[]))"
    rf"{OPEN}{NUMBER_AHEAD}",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"(?<![=(,\w] )(?<![=(,\w\[])\[\[\s{0,3}(?=[-+]?\d)")
_PROSE = re.compile(
    r"\b(?:rate[sd]?|give[sn]?|gave|award(?:s|ed)?|assign(?:s|ed)?|grade[sd]?|receive[sd]?|earn(?:s|ed)?"
    r"|deserve[sd]?|deservedly|merit(?:s|ed)?|warrants?|gets?|got|score[sd]?|are|is)\b"
    r"(?P<gap>[^.!?\n\d:]{0,80}?)(?:\b(?P<link>an?|as|at|of|it|this|response|answer)\b|\s)"
    rf"{OPEN}(?=\d)",
    re.IGNORECASE,
)
_KOREAN_PROSE = re.compile(r"(?<![\d.])(?=\d{1,3}\s?점(?:으로|을|이라)\s?(?:평가|주겠|부여|드리|매기))")
_CLAUSE_END = re.compile(
    r"[\s*\"'”’`)\]}]{0,4}(?:[.,;:|<\n(—–]|-\s|$|\b(?:because|since|as|due|based|overall|for|on|with|given|and|but)\b)"
)
_SPACE = re.compile(r"[\s\"'`“‘«<\[\]({$|]*")


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


def find_statements(text: str, scale: Scale) -> list[Statement]:
    """All statements in `text`, in order, at most `MAX_STATEMENTS` + 1 of them."""
    found: dict[int, Statement] = {}
    for candidate in _candidates(text, scale):
        known = found.get(candidate.value.start)
        if known is None or known.weight < candidate.weight:
            found[candidate.value.start] = candidate
        if len(found) > MAX_STATEMENTS:
            break
    fences = [match.start() for match in re.finditer(r"^ {0,3}```", text, re.MULTILINE)][:100]
    return [replace(found[at], is_fenced=sum(fence < at for fence in fences) % 2 == 1) for at in sorted(found)]


def _candidates(text: str, scale: Scale) -> Iterator[Statement]:
    yield from _bare_lines(text, scale)
    yield from _labelled(text, scale)
    for match in _BRACKETED.finditer(text):
        value = read_value(text, match.end(), scale)
        if value and text[value.end : value.end + 4].lstrip().startswith((",", "]", ".")):
            yield _judged(text, match.start(), value, Weight.PLAIN)
    yield from _prose(text, scale)


def _labelled(text: str, scale: Scale) -> Iterator[Statement]:
    for match in _LABELLED.finditer(text):
        value = read_value(text, match.end(), scale)
        if value is None or (_needs_explicit(match) and not _looks_final(text, value)):
            continue
        weight = Weight.TOTAL if is_total(text, match.start(), match["label"]) else Weight.PLAIN
        yield _judged(text, match.start(), value, weight)


def _bare_lines(text: str, scale: Scale) -> Iterator[Statement]:
    """A first or last line that is only `4/5` or `4 points`; a lone `4` may as well answer the question."""
    last = text.rfind("\n") + 1
    for line_start in sorted({0, last}):
        line_end = text.find("\n", line_start)
        line_end = len(text) if line_end < 0 else line_end
        start = _SPACE.match(text, line_start, line_end).end()  # type: ignore[union-attr]
        value = read_value(text, start, scale)
        if value and value.is_explicit and not text[value.end : line_end].strip(" \"'`)]}.*"):
            yield Statement(start, value.end, value, Weight.PLAIN)


def _prose(text: str, scale: Scale) -> Iterator[Statement]:
    for match in _PROSE.finditer(text):
        value = read_value(text, match.end(), scale)
        if value is None or not (value.is_explicit or (match["link"] and _CLAUSE_END.match(text, value.end))):
            continue
        yield _judged(text, match.start(), value, Weight.PROSE)
    for match in _KOREAN_PROSE.finditer(text):
        if value := read_value(text, match.end(), scale):
            yield Statement(match.start(), value.end, value, Weight.PROSE)


def _judged(text: str, start: int, value: Value, weight: Weight) -> Statement:
    doubt = doubt_about(text, start, value.start, value.end)
    # Prose needs no look at its clause: the verb is in the pattern.
    role = Role.VERDICT if weight is Weight.PROSE else role_of(text, start, value.end)
    return Statement(start, value.end, value, weight, doubt, role)


def _needs_explicit(match: "re.Match[str]") -> bool:
    return match["label"].lower() in _VAGUE_LABELS or match["sep"] in ("-", "–", "—", "\n")


def _looks_final(text: str, value: Value) -> bool:
    rest = text[value.end : value.end + 8].lstrip(" *\"'`)]}|>")
    return value.is_explicit or not rest or rest[0] in "\n.,;(<"
