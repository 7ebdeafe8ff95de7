"""Finds what a completion states about the score: every number that could be a verdict, and how far to trust it.

Nothing is decided here. Models put the score first, last or in prose, tally criteria, quote the response, echo the
prompt and speculate, so a number alone says nothing. What stands before it does: a label ("Score:"), a mark ("[["), a
line of its own, or a verb in the same clause ("I rate it a 4"). All looks back and ahead are bounded and so is the
number of numbers, which keeps the time linear in the text.
"""

import re
from bisect import bisect_left
from dataclasses import replace
from typing import NamedTuple

from judge.parser.labels import read_label, read_line, read_mark, read_tally
from judge.parser.prose import read_prose
from judge.parser.statements import Statement
from judge.parser.values import NUMBER, Value, read_value
from judge.rubric import Scale

# A judgement has a handful; a text with more than this is none.
_MAX_NUMBERS = 500
_MAX_STATEMENTS = 60

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)[ \t]*(?P<language>\w*)", re.MULTILINE)
ANSWER_LANGUAGES = frozenset({"", "json", "text", "xml", "yaml"})


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
            read_label(text, value, scale, found)
            or read_mark(text, value, found, judges=judges)
            or read_line(text, value, judges=judges)
            or read_tally(value, judges=judges)
            or read_prose(text, value)
        )
        if statement:
            found.append(statement)
            end = statement.end
        elif value:
            others.append(value)
    return Found(_without_code(text, found) if "```" in text or "~~~" in text else found, others)


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
