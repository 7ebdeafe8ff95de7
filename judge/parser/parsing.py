"""From what a model wrote to a score, or to the reason why there is none.

Read permissively, decide strictly: all statements about the score are collected (`finder`), those that
the writer does not stand by are dropped (`context`), and what is left must agree. A wrong score is far
worse than none, so whatever is doubtful is `Unscored`, and the model is asked again.
"""

import re
from collections.abc import Sequence

from judge.parser.context import Role, is_own_by_clause
from judge.parser.finder import ANSWER_LANGUAGES, Found, find_statements
from judge.parser.justification import extract_justification
from judge.parser.objections import is_contradicted, is_disowned
from judge.parser.statements import Statement, Weight
from judge.ratings import Rating, Result, Unscored, UnscoredReason
from judge.rubric import Scale

# How models fence off their thinking.
_THOUGHT = re.compile(r"[<\[◁](?P<closing>/?)(?i:think(?:ing)?|reasoning|thought|analysis)[>\]▷]")
# So does gpt-oss where the server leaks its special tokens.
_FINAL = ("<|channel|>final<|message|>", "assistantfinal")
_FENCED = re.compile(r"```(?P<language>\w{0,20})[ \t]*\n(?P<inside>.*)\n```", re.DOTALL)
# Not the judge's words: what is struck out, what carries the tags of the prompt's two texts, and markup.
_FOREIGN = re.compile(
    r"~~[^~\n]{1,80}~~"
    r"|<(?=/?[a-zA-Z])(?i:question>[^<]*(?:<(?!/?question>)[^<]*)*</question>"
    r"|response>[^<]*(?:<(?!/?response>)[^<]*)*</response>"
    r"|/?(?:b|strong|em|i|u|p|br|span|div|h[1-6])(?:\s[^<>\n]{0,60})?/?>)"
)
# Asterisks are markup but for these.
_BULLET = re.compile(r"^[ \t]{0,8}\*(?=[ \t])", re.MULTILINE)
# "Score: 4 The response": a capital after the number begins a new sentence. In "It falls on 4 July" it does not.
_NEW_SENTENCE = re.compile(
    r"\d(?=[ *_]{1,4}[A-Z])"
    r"(?:(?<=[:=*_>].)|(?<=[:=*_>] .)|(?i:(?<=score .)|(?<=score of .)|(?<=rating of .)|(?<=\bis .)|(?<=\ba .)))"
    r"[ *_]{1,4}(?!(?:Out|Of|Points?|Stars?|Marks?|P[uo]n\w+))"
)
# One character for one, so that a place in the plain text is the same place in the original.
_PLAIN = str.maketrans(
    {chr(code): chr(code).lower() for code in (*range(0x41, 0x5B), *range(0xC0, 0x100), *range(0x400, 0x430), 0x110)}
    # Full width; its comma and stops stay, since they stand between sentences without a blank.
    | {chr(code): chr(code - 0xFEE0).lower() for code in range(0xFF01, 0xFF5F) if chr(code) not in "，；！？"}
    | dict.fromkeys("*_#\xa0\u200b\u200c\u200d\u2060\ufeff️⃣\u3000\t", " ")
)
_ECHO = re.compile(r"<\s{0,3}(?:total points|score|rating|number|n|x)\s{0,3}>")
_CUT_OFF = re.compile(r"(?:score|rating|total|grade)[\s:*\[(\"']{0,8}$")
_REFUSAL = re.compile(
    r"\b(?:i['’]?m sorry|i (?:cannot|can['’]t|can ?not|am unable to|won['’]t|am not able to)"
    r" (?:help|assist|evaluate|rate|score|judge|comply|provide|review|do))"
)

_DETAILS = {
    UnscoredReason.EMPTY: "The model wrote nothing.",
    UnscoredReason.REFUSED: "The model refused to judge.",
    UnscoredReason.FILTERED: "The server's content filter withheld the answer.",
    UnscoredReason.TRUNCATED: "The model's answer breaks off before the score is complete.",
    UnscoredReason.NO_SCORE: "The model's answer states no score for the response as a whole.",
    UnscoredReason.ECHOED: "The model echoed the answer format instead of filling it in.",
    UnscoredReason.NOT_ASSERTED: "The model only quotes, denies or supposes a score.",
    UnscoredReason.OFF_SCALE: "The model's score is not on the scale from {low} to {high}.",
    UnscoredReason.NOT_WHOLE: "The model's score is not a whole number.",
    UnscoredReason.UNCLEAR: "The model's score is a range or a guess, not one number.",
    UnscoredReason.CONFLICTING: "The model states several scores that do not agree.",
}


def parse_rating(completion: str, scale: tuple[int, int] = (0, 5)) -> Result:
    """The one score that `completion` asserts, with its justification, else `Unscored` with the reason.

    Never raises, never gives a score off `scale`, and takes time linear in the text.
    """
    scale = Scale(*scale)
    text = _answer_part(completion.replace("\r\n", "\n").replace("\r", "\n"))
    if text is None:
        return unscored(UnscoredReason.TRUNCATED, scale, completion)
    if not text:
        return unscored(UnscoredReason.EMPTY, scale, completion)
    verdict = _decide(_plain(text, scale), scale)
    if isinstance(verdict, UnscoredReason):
        return unscored(verdict, scale, completion)
    assert verdict.value.score is not None  # noqa: S101 - _decide gives none with a fault
    return Rating(
        score=verdict.value.score,
        justification=extract_justification(text, verdict.start, verdict.end),
        raw=completion,
    )


def unscored(reason: UnscoredReason, scale: Scale, raw: str = "") -> Unscored:
    """`Unscored` with the plain sentence that goes with `reason`."""
    return Unscored(reason=reason, detail=_DETAILS[reason].format(low=scale.low, high=scale.high), raw=raw)


def _answer_part(text: str) -> str | None:
    """The text without the model's thinking and without a fence round it; None when it never stopped thinking."""
    for mark in _FINAL:
        text = text.rpartition(mark)[2]
    said: list[str] = []
    start, is_thinking = 0, False
    for tag in _THOUGHT.finditer(text):
        if tag["closing"] == "":
            said += [] if is_thinking else [text[start : tag.start()]]
            is_thinking = True
        else:
            # Chat templates swallow the opening tag: then all that came before was thought.
            said = said if is_thinking else []
            start, is_thinking = tag.end(), False
    answer = "".join(said if is_thinking else [*said, text[start:]]).strip()
    if is_thinking and not answer:
        return None
    fenced = _FENCED.fullmatch(answer)
    if fenced and fenced["language"].lower() in ANSWER_LANGUAGES and "\n```" not in fenced["inside"]:
        return fenced["inside"].strip()
    return answer


def _plain(text: str, scale: Scale) -> str:
    """`text` in lower case, without markup and without what is not the judge's own, each place kept."""
    if "<" in text or "~~" in text:
        text = _FOREIGN.sub(_blank, text)
    text = _BULLET.sub(lambda match: match[0][:-1] + "-", text)
    text = _NEW_SENTENCE.sub(lambda match: match[0][0] + ":" + " " * (len(match[0]) - 2), text).translate(_PLAIN)
    if "on a scale" in text:
        known = rf"on a scale (?:of|from) {scale.low} ?(?:to|-|–) ?{scale.high}\b,?"
        text = re.sub(known, _blank, text)
    return text


def _blank(match: "re.Match[str]") -> str:
    return " " * len(match[0])


def _decide(text: str, scale: Scale) -> Statement | UnscoredReason:
    found = find_statements(text, scale)
    if found is None:
        return UnscoredReason.UNCLEAR
    statements = found.statements
    asserted = [statement for statement in statements if not statement.doubt]
    whole = [statement for statement in asserted if statement.role is Role.VERDICT]
    firm = [statement for statement in whole if statement.weight > Weight.PROSE and not statement.is_fenced]
    prose = [statement for statement in whole if statement.weight == Weight.PROSE and not statement.is_fenced]
    fenced = [statement for statement in whole if statement.is_fenced]
    for group in (firm, prose, fenced):
        if group:
            tally = [each for each in asserted if each.role is Role.TALLY]
            verdict = _settle(text, group, prose if group is firm else (), tally)
            return verdict if isinstance(verdict, UnscoredReason) else _unopposed(text, verdict, found, scale)
    return _why_nothing(text, statements)


def _unopposed(text: str, verdict: Statement, found: Found, scale: Scale) -> Statement | UnscoredReason:
    """`verdict`, unless the rest of the answer takes it back."""
    if is_disowned(text, verdict.end):
        return UnscoredReason.NOT_ASSERTED
    is_undone = any(_undoes(text, other, verdict) for other in found.statements)
    return (
        UnscoredReason.CONFLICTING
        if is_undone or is_contradicted(text, verdict.value, found.others, scale)
        else verdict
    )


def _undoes(text: str, other: Statement, verdict: Statement) -> bool:
    """Whether a later statement, dropped for its sentence or for what it scores, may be the verdict after all."""
    is_prose = other.weight is Weight.PROSE
    is_dropped = other.doubt is not None or (other.role is Role.CRITERION and not is_prose)
    if other.start < verdict.end or other.is_fenced or not is_dropped or _key(other) == _key(verdict):
        return False
    return is_own_by_clause(text, other.start, other.value.start, other.end, is_prose=is_prose)


def _settle(
    text: str, group: Sequence[Statement], prose: Sequence[Statement], tally: Sequence[Statement]
) -> Statement | UnscoredReason:
    """The verdict that `group` agrees on; `prose` must not contradict it, nor may it be a step of an open tally."""
    verdict = max(group, key=lambda statement: statement.weight)
    if len({_key(statement) for statement in group}) > 1:
        totalled = _totalled(group, tally)
        if totalled is None:
            return UnscoredReason.CONFLICTING
        verdict = totalled
    if any(_key(other) != _key(verdict) for other in prose):
        return UnscoredReason.CONFLICTING
    is_open = any(step.start < verdict.start for step in tally) or (len(group) > 1 and verdict.value.score == 1)
    if is_open and not (verdict.weight is Weight.TOTAL or _concludes(text, verdict, tally)):
        return UnscoredReason.CONFLICTING
    return verdict.value.fault or verdict


def _concludes(text: str, verdict: Statement, tally: Sequence[Statement]) -> bool:
    """Whether the answer ends with `verdict`, after steps in prose: "It earns 1 point. It earns another. Score: 2"."""
    is_last = not text[verdict.end :].strip(" \n\"'`.)]}")
    return is_last and bool(tally) and all(step.weight is Weight.PROSE for step in tally)


def _totalled(group: Sequence[Statement], tally: Sequence[Statement]) -> Statement | None:
    """The total that the other statements add up to, or lead up to; None when they contradict it."""
    totals = [statement for statement in group if statement.weight is Weight.TOTAL]
    steps = sorted((*tally, *(each for each in group if each.weight < Weight.TOTAL)), key=lambda step: step.start)
    scores = [step.value.score for step in steps if step.value.score is not None]
    if len({_key(statement) for statement in totals}) != 1 or not len(steps) == len(scores) >= 2:
        return None
    total = totals[0].value.score
    return totals[0] if total == sum(scores) or (total == scores[-1] and scores == sorted(scores)) else None


def _key(statement: Statement) -> tuple[int | None, UnscoredReason | None]:
    return statement.value.score, statement.value.fault


def _why_nothing(text: str, statements: Sequence[Statement]) -> UnscoredReason:
    if any(statement.doubt for statement in statements):
        return UnscoredReason.NOT_ASSERTED
    if _CUT_OFF.search(text[-60:]):
        return UnscoredReason.TRUNCATED
    if _ECHO.search(text):
        return UnscoredReason.ECHOED
    return UnscoredReason.REFUSED if _REFUSAL.search(text[:400]) else UnscoredReason.NO_SCORE
