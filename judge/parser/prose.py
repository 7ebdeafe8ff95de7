"""Scores in a sentence: "I rate it a 4", "the response receives a score of 4", "it earns 4 points"."""

import re
from functools import lru_cache

from judge.parser.context import Role, doubt_about, names_part, scores_part, sentence_before
from judge.parser.statements import Statement, Weight
from judge.parser.values import OPENERS, Value
from judge.ratings import UnscoredReason

# "receives a score of 4", "rate it a 4", "gets 4 points". Who gives must be the judge, who gets must be what is judged,
# and nothing else may stand between: "critics give the film a 4". Without the word score, a number needs an article,
# the thing scored, or a unit.
_VERB = re.compile(
    r"\b(?:(?P<gives>rate|give|gave|award|assign|grade|score"
    r"|(?:(?<=i['’]m )|(?<=i am ))(?:giving|awarding|assigning|rating))"
    r"|(?P<sums>resulting in|totall?ing|for(?= a total))"
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
# "Most graders would give it a 3": with a subject of its own, such a verb is not the judge's.
_HIMSELF = re.compile(
    r"\b(?:i|we)\b|(?:^|,)\W*(?:(?:and|so|thus|hence|therefore|overall)\W+)?(?:would|will|must|shall)\b"
)
_JUDGED = re.compile(
    r"\b(?:response|answer|reply|assistant|it|rating|score|ai"
    r"|this (?:is|was|would|gets|got|earns|deserves|merits|receives|warrants|scores|therefore))\b"
)
_PROSE_CHARS = 120
_KOREAN_VERB = re.compile(r"(?:으로|을|이라)\s?(?:평가|주겠|부여|드리|매기)")
_KOREAN_SUBJECT = re.compile(r"답변|따라서|종합|전체")
# Words of a tally: then "earns 2 points" is a step on the way.
_STEPS = re.compile(r"(?:another|additional|second|third|fourth|fifth|extra|more) points?\b|(?:1|one) point\b|\+ ?1\b")


def read_prose(text: str, value: Value) -> Statement | None:
    """The statement of a clause whose verb gives `value` to what is judged."""
    if _KOREAN_VERB.match(text, value.end):
        is_verdict = _KOREAN_SUBJECT.search(sentence_before(text, value.start))
        return Statement(value.start, value.end, value, Weight.PROSE) if is_verdict else None
    start, clause = _clause_before(text, value.start)
    verb = _VERB.search(clause)
    link = verb and _LINK.search(verb["object"].rstrip(OPENERS))
    if verb is None or not value.is_complete or not (value.is_explicit or link):
        return None
    subject = clause[: verb.start()]
    is_judge = not verb["gets"] and _JUDGE.search(subject)
    is_judged = not verb["gives"] and _JUDGED.search(subject)
    if not (is_judge or is_judged or (verb["sums"] and value.is_explicit)):
        return None
    is_points = not (link and link["noun"]) and not value.has_maximum
    is_step = is_points and (value.score == 1 or (value.has_unit and _has_steps(text)))
    is_part = scores_part(text, value.end) or names_part(clause)
    role = Role.TALLY if is_step or is_part else Role.VERDICT
    start += verb.start()
    is_others = is_judge and not is_judged and not _HIMSELF.search(subject)
    doubt = UnscoredReason.NOT_ASSERTED if is_others else doubt_about(text, start, value.start, value.end)
    return Statement(start, value.end, value, Weight.PROSE, doubt, role)


@lru_cache(maxsize=1)
def _has_steps(text: str) -> bool:
    """Whether points are added up in `text`; kept, since every number may ask."""
    return _STEPS.search(text) is not None


def _clause_before(text: str, at: int) -> tuple[int, str]:
    """Where the clause before `at` begins, and its words."""
    start = max(0, at - _PROSE_CHARS)
    start = max(start, *(text.rfind(mark, start, at) + 1 for mark in ".!?\n:"))
    return start, text[start:at]
