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
from itertools import islice

from judge.context import Role, doubt_about, is_total, role_of, scores_part, sentence_before
from judge.ratings import UnscoredReason
from judge.rubric import Scale
from judge.values import NUMBER_AHEAD, OPEN, Value, read_value

MAX_STATEMENTS = 60

# Words for a score in the languages that judges were seen to answer in.
_LABEL = (
    r"scores?|ratings?|grade|marks?|points|verdict|total|overall|final"
    r"|점수|평점|スコア|点数|得点|評点|评分|得分|分数|評分|总分"
    r"|puntuaci[oó]n|puntaje|calificaci[oó]n|pontua[cç][aã]o|punteggio|bewertung|punktzahl|оценка|puan|ocena|điểm"
)
# These stand before many things that are no score ("Total: 4 apples"), so what follows must look like one.
_VAGUE_LABELS = frozenset({"total", "overall", "final", "points", "mark", "marks"})
_LABELLED = re.compile(
    # The first letters once more, since a set is quick to rule out where thirty words are not.
    rf"(?=[srgmptvofbcоđ점평ス点得評评分总])(?<![^\W_])(?P<label>{_LABEL})(?:(?![^\W_])|(?=[는은は]\s?\d))"
    # Without a mark or a digit soon there is nothing to look for; said first, since the rest is slow to fail.
    r"(?=[^.!?\d:=\n>|→⇒–—-]{0,90}+[\d:=\n>|→⇒–—-])"
    r"[ \t\"'`”’»\])}]{0,6}+"
    r"(?:\([^()\n]{0,40}\)[ \t\"'`:]{0,4})?"
    r"(?:\b(?:awarded|given|assigned|for|of)\b[^:=.!?\n\d]{0,60})?"
    r"(?P<sep>:|=|->|→|⇒|\||>|\bis\b:?|\bare\b:?|[-–—](?=\s)|\n|(?:는|은|は)(?=\s?\d))"
    rf"{OPEN}{NUMBER_AHEAD}",
    re.IGNORECASE,
)
# Not after "=", "(" or a name: there it is an array in somebody's code.
_BRACKETED = re.compile(r"(?<![=(]\s)(?<![=(,\[A-Za-z0-9_])\[\[\s{0,3}(?=[-+]?\d)")
# "receives a score of 4", "rate it a 4", "gets 4 points": without the word score, the number needs an article, the
# thing scored, or a unit. Looked for backwards from each number, in its own clause, which keeps the time linear.
_VERB = re.compile(
    r"\b(?:rate[sd]?|give[sn]?|gave|award(?:s|ed)?|assign(?:s|ed)?|grade[sd]?|receive[sd]?|earn(?:s|ed)?"
    r"|deserve[sd]?|deservedly|merit(?:s|ed)?|warrants?|gets?|got|score[sd]?)\b",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"\b(?:(?P<noun>(?:score|rating|grade)\s(?:of|is|as))|an?|as|at|it|this|response|answer)$", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\d.])\d")
_LAST_DIGIT = re.compile(r".*\d")
_MAX_NUMBERS = 1000
_PROSE_CHARS = 120
_KOREAN_PROSE = re.compile(r"(?<![\d.])(?=\d{1,3}\s?점(?:으로|을|이라)\s?(?:평가|주겠|부여|드리|매기))")
_KOREAN_SUBJECT = re.compile(r"답변|따라서|종합|전체")
# Prometheus and its kin close with this.
_RESULT = re.compile(r"\[RESULT\]\s{0,3}\(?(?=[-+]?\d)")
# Words of a tally: then "earns 2 points" is a step on the way.
_STEPS = re.compile(
    r"\b(?:another|additional|second|third|fourth|fifth|extra|more) points?\b|\+\s?1\b|\b(?:1|one) point\b",
    re.IGNORECASE,
)
# A line with nothing but "4/5" may be the answer to a question about fractions.
_JUDGES = re.compile(r"\b(?:response|assistant)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(
    r"[\s*\"'”’`)\]}]{0,4}(?:[.,;:|<\n(—–]|-\s|$|\b(?:because|since|as|due|based|overall|for|on|with|given|and|but)\b)"
)
_OPENERS = " \t\"'`“‘«<[({$|"
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
        if value and "]" in text[value.start : value.end + 3]:
            yield _judged(text, match.start(), value, Weight.PLAIN, is_marked=True)
    for match in _RESULT.finditer(text):
        if value := read_value(text, match.end(), scale):
            yield _judged(text, match.start(), value, Weight.PLAIN, is_marked=True)
    yield from _prose(text, scale)
    yield from _korean_prose(text, scale)


def _labelled(text: str, scale: Scale) -> Iterator[Statement]:
    for match in islice(_LABELLED.finditer(text), _MAX_NUMBERS):
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
        is_alone = value and not text[value.end : line_end].strip(" \"'`)]}.*")
        if value and is_alone and value.is_explicit and _JUDGES.search(text):
            yield Statement(start, value.end, value, Weight.PLAIN)


def _prose(text: str, scale: Scale) -> Iterator[Statement]:
    has_steps = _STEPS.search(text) is not None
    for number in islice(_NUMBER.finditer(text), _MAX_NUMBERS):
        value = read_value(text, number.start(), scale)
        clause_start, before = _clause_before(text, number.start())
        link = _LINK.search(before, max(0, len(before) - 12))
        if value is None or not _is_score_in_prose(text, link, value):
            continue
        verbs = list(_VERB.finditer(before))
        if not verbs:
            continue
        start = clause_start + verbs[-1].start()
        statement = _judged(text, start, value, Weight.PROSE)
        is_named = bool(link and link["noun"])
        is_step = not is_named and not value.has_maximum and (has_steps or value.score == 1)
        yield replace(statement, role=Role.TALLY) if is_step else statement


def _clause_before(text: str, at: int) -> tuple[int, str]:
    """Where the clause before `at` begins, and its words."""
    start = max(0, at - _PROSE_CHARS)
    start = max(start, *(text.rfind(mark, start, at) + 1 for mark in ".!?\n:"))
    clause = text[start:at].rstrip(_OPENERS)
    digits = _LAST_DIGIT.search(clause)
    skipped = digits.end() if digits else 0
    return start + skipped, clause[skipped:]


def _korean_prose(text: str, scale: Scale) -> Iterator[Statement]:
    for match in _KOREAN_PROSE.finditer(text):
        value = read_value(text, match.end(), scale)
        if value and _KOREAN_SUBJECT.search(sentence_before(text, match.start())):
            yield Statement(match.start(), value.end, value, Weight.PROSE)


def _is_score_in_prose(text: str, link: "re.Match[str] | None", value: Value) -> bool:
    if value.is_explicit or (link and link["noun"]):
        return True
    return bool(link and _CLAUSE_END.match(text, value.end))


def _judged(text: str, start: int, value: Value, weight: Weight, *, is_marked: bool = False) -> Statement:
    doubt = doubt_about(text, start, value.start, value.end)
    if weight is Weight.PROSE:  # no look at the clause before: its verb is in the pattern
        role = Role.TALLY if scores_part(text, value.end) else Role.VERDICT
    else:
        role = role_of(text, start, value.end, is_marked=is_marked)
    return Statement(start, value.end, value, weight, doubt, role)


def _needs_explicit(match: "re.Match[str]") -> bool:
    return match["label"].lower() in _VAGUE_LABELS or match["sep"] in ("-", "–", "—", "\n")


def _looks_final(text: str, value: Value) -> bool:
    rest = text[value.end : value.end + 8].lstrip(" *\"'`)]}|>")
    return value.is_explicit or not rest or rest[0] in "\n.,;(<"
