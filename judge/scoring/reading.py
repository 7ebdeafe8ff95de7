"""Reads the one score that a judge's answer states, or says why there is none.

It uses a short grammar, not lists of phrases. A score is a number that a label (`Score: 4`) or a
mark (`[[4]]`) announces and that ends its clause. In a list that continues after it, or has only
begun, it is a step. The remaining scores must all be the same number, but a total takes precedence
over the steps before it. Points tallied in prose do not count. Anything else is in doubt, and the
model is asked again: a missed score costs a second call, a wrong score costs trust.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from judge.scoring.answers import (
    extract_justification,
    is_markup,
    is_quoted,
    packed,
    spoken,
    to_plain,
)
from judge.scoring.doubts import denies, disclaimer, is_taken_back
from judge.scoring.ratings import Rating, Result, UnscoredReason, unscored
from judge.scoring.rubric import Scale

# A heading or an item with a number: "### Point 1", "2. Substance", "Criterion 3:".
_NUMBERED = re.compile(
    r"^[ #]{0,8}(?:[a-z]{1,20} )?\(?[0-9]{1,2}(?:[.):](?![0-9])|[ ]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"[0-9][0-9.,]*")
_DIGITS = re.compile(r"[0-9]+")
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
_LINE_END = re.compile(r"[ .,]*(?:\n|\Z)")
_ITEM = re.compile(
    r"^[ \t]*(?:[-–—+•·▪◦‣●○]|\(?(?:[0-9]{1,2}|[a-hA-H]|[ivIV]{1,3})[.)])[ \t]+", re.MULTILINE
)
_BEFORE_BLANK_LINE = re.compile(r"\n(?=[ \t]*\n)")
_CLAUSE = re.compile(r"[.,;:!?(){}\[\]|<>]|\s[-–—]\s")
_SIGNS = (
    (
        UnscoredReason.TRUNCATED,
        re.compile(r"(?:score|rating|total)[\s:*\[(\"']{0,8}\Z", re.IGNORECASE),
    ),
    (
        UnscoredReason.ECHOED,
        re.compile(r"<\s?(?:(?:total )?points|score|rating|number|n)\s?>", re.IGNORECASE),
    ),
    (UnscoredReason.ECHOED, re.compile(r"[Ss]core: N(?![\w/])")),
    (
        UnscoredReason.REFUSED,
        re.compile(r"\A.{0,80}?\bi(?:'m| am) sorry|\A.{0,80}?\bi can(?:no|')t ", re.IGNORECASE),
    ),
)
_TAGS = re.compile(r"</?answer>|</(?:score|rating)>", re.IGNORECASE)
_OPEN_TAG = re.compile(r"<\w{1,20}>[^<]*\Z")
_PAIRS = (("[", "]"), ("{", "}"), ("(", ")"))
_TWINS = ('"', "**", "`")
# A number that no word follows: it may be another score.
_LONE_NUMBER = re.compile(r"(?<![\w.])[0-9][0-9.]*(?<!\.)(?![\w%]|[ ]?\w)")
_LOOK_BACK = 60
_SENTENCE_LOOK_BACK = 400
# no real judgement has more
_MOST_NUMBERS = 2_000
_MOST_ANNOUNCED = 200

_Kind = Enum("_Kind", "TOTAL VERDICT PROSE STEP ASIDE DENIED")
_OWN = (_Kind.TOTAL, _Kind.VERDICT)


@dataclass(slots=True)
class _Statement:
    start: int
    end: int
    value: int | UnscoredReason
    kind: _Kind


def parse_rating(completion: str, scale: tuple[int, int] = (0, 5), *, response: str = "") -> Result:
    """A `Rating` with the one score that `completion` states and its justification, or `Unscored`
    with the reason.

    It never raises, never gives a score off `scale`, and takes time linear in the text.

    Args:
        completion: What the model wrote, unchanged.
        scale: Lowest and highest score, both included.
        response: The text that was judged, if it is known: a score that also occurs there is
            quoted, not given.
    """
    scale = Scale(*scale)
    text = spoken(completion)
    if not text:
        return unscored(
            UnscoredReason.TRUNCATED if completion.strip() else UnscoredReason.EMPTY,
            scale,
            completion,
        )
    plain = to_plain(text)
    verdict = _verdict(plain, scale, packed(response) if response else "")
    if isinstance(verdict, UnscoredReason):
        return unscored(verdict, scale, completion)
    score, start, end = verdict
    if _is_cut(text, end):
        return unscored(UnscoredReason.TRUNCATED, scale, completion)
    return Rating(
        score=score, justification=extract_justification(text, start, end), raw=completion
    )


def parse_score_line(completion: str, scale: Scale) -> Result:
    """The score in an answer to the request for the score alone: a number that needs no label if it
    is all.

    After a label, reasons may follow, but no other number that stands alone.
    """
    text = spoken(completion)
    plain = _TAGS.sub("", to_plain(text))
    for line in (plain, f"score: {plain}"):
        verdict = _verdict(line, scale, "")
        if not isinstance(verdict, tuple) or _is_cut(text, len(text)):
            continue
        score, start, end = verdict
        reasons = line[end:]
        is_label_first = line is plain and is_markup(line[:start]) and not reasons.startswith("(")
        numbers = _LONE_NUMBER.findall(reasons)
        if is_markup(line[:start] + reasons) or (
            is_label_first and all(each == str(score) for each in numbers)
        ):
            return Rating(score=score, justification="", raw=completion)
    return unscored(UnscoredReason.UNCLEAR, scale, completion)


def _is_cut(text: str, end: int) -> bool:
    """Whether the text ends with the number before `end`, and within brackets, quotes or bold type:
    `[[1`.
    """
    text = text.rstrip(" .,/")
    if not text[-1:].isdigit() or end < len(text):
        return False
    line = text[_line_start(text, len(text)) :]
    is_open = any(text.rfind(a) > text.rfind(z) or text.count(a) > text.count(z) for a, z in _PAIRS)
    return is_open or any(line.count(mark) % 2 for mark in _TWINS) or bool(_OPEN_TAG.search(line))


def _verdict(text: str, scale: Scale, response: str) -> tuple[int, int, int] | UnscoredReason:
    """The score that `text` states, with the start and end of its statement; or the reason why
    there is none.
    """
    verdict = _decide(text, _statements(text, scale, response))
    if isinstance(verdict, UnscoredReason):
        return verdict
    score = verdict.value
    start = verdict.start
    end = verdict.end
    assert isinstance(score, int)  # noqa: S101 - otherwise _decide returns the reason
    # A step is below the only numbered item or heading so far, or below several with another after
    # it.
    above = sum(1 for _ in islice(_NUMBERED.finditer(text, 0, _line_start(text, start)), 2))
    is_step = verdict.kind is not _Kind.TOTAL and (
        above == 1 or (above > 1 and _NUMBERED.search(text, end))
    )
    if is_step or is_taken_back(text, start, end, score, scale, response):
        return UnscoredReason.CONFLICTING
    return disclaimer(text, scale, response) or (score, start, end)


def _statements(text: str, scale: Scale, response: str) -> list[_Statement]:
    """All statements of a score in `text`, in order; a single unclear one if there are too many for
    a judgement.
    """
    numbers = list(islice(_NUMBER.finditer(text), _MOST_NUMBERS + 1))
    announced = [number for number in numbers if _is_announced(number)]
    if len(numbers) > _MOST_NUMBERS or len(announced) > _MOST_ANNOUNCED:
        return [_Statement(0, 0, UnscoredReason.UNCLEAR, _Kind.VERDICT)]
    found = [said for number in announced if (said := _statement(text, number, scale))]
    quotes = [said for said in found if not _has_own_place(text, said)] if response else []
    wording = _DIGITS.sub("0", response) if quotes else ""
    for said in quotes:
        words = text[said.start : said.end]
        if is_quoted(words, response):
            said.kind = _Kind.DENIED
        elif (
            said.kind in (*_OWN, _Kind.PROSE)
            and _DIGITS.sub("0", packed(words)).strip("\"'") in wording
        ):
            said.kind = (
                _Kind.ASIDE
            )  # otherwise only verdicts that differ from the response's score would be read
    _mark_steps(text, [said for said in found if said.kind in (_Kind.VERDICT, _Kind.PROSE)])
    return found


def _has_own_place(text: str, said: _Statement) -> bool:
    """Whether a score opens the answer or is its last line: then the judge gives it, even if the
    response does too.
    """
    if is_markup(text[: said.start]):
        return text[0] == "{" or text[said.end : said.end + 1] not in (",", "(")
    above = text[: _line_start(text, said.start)]
    line = text[_line_start(text, said.start) : said.start]
    return (
        is_markup(text[said.end :]) and is_markup(line) and not above.rstrip(' \n"').endswith(":")
    )


def _mark_steps(text: str, statements: Sequence[_Statement]) -> None:
    """Marks the scores that belong to the items of a list, on an item's line or below it, however
    long the item is.
    """
    if not statements or not _ITEM.search(text, 0, statements[-1].start):
        return
    items = [item.start() for item in _ITEM.finditer(text)]
    blank_lines = [blank.start() for blank in _BEFORE_BLANK_LINE.finditer(text)]
    placed = defaultdict[str, list[_Statement]](list)
    for said in statements:
        placed[_place(text, said, items, blank_lines)].append(said)
    steps = [*placed["on"], *placed["below"]]
    if len(steps) == 1 and placed["on"]:
        # An item is the verdict if it is only a score and its reasons are items after it, or if it
        # ends a list.
        at = _line_start(text, steps[0].start)
        is_whole_item = _LINE_END.match(text, steps[0].end) and _ITEM.fullmatch(
            text, at, steps[0].start
        )
        if is_whole_item if items[-1] > at else items[0] < at:
            steps = []
    # One score between lists, or behind one, is the verdict; behind other steps of its kind it is
    # the last of them.
    doubtful = [*placed["between"], *placed["behind"]]
    counts = Counter(said.kind for said in doubtful)
    kinds = {said.kind for said in placed["below"]} | {
        said.kind for said in placed["between"] if counts[said.kind] > 1
    }
    for said in (*steps, *(said for said in doubtful if said.kind in kinds)):
        said.kind = _Kind.STEP


def _place(text: str, said: _Statement, items: Sequence[int], blank_lines: Sequence[int]) -> str:
    """Where a score is: on an item's line, below it within the item, between two items, behind the
    last, or outside.
    """
    at = _line_start(text, said.start)
    above = bisect_right(items, at)
    if not above:
        return "outside"
    if items[above - 1] == at:
        return "on"
    blanks = bisect_left(blank_lines, said.end)
    is_in_paragraph = bisect_left(blank_lines, items[above - 1]) == blanks
    if above == len(items):
        return "below" if is_in_paragraph and above == 1 else "behind"
    words = text[said.end : items[above]].rstrip()
    if is_in_paragraph:
        goes_on = bisect_left(blank_lines, said.end + len(words)) == blanks
        return "below" if goes_on or above == 1 else "behind"
    if words.strip(" ."):
        return "outside"
    return "below" if bisect_left(blank_lines, items[above]) > blanks else "between"


def _is_announced(number: re.Match[str]) -> bool:
    at = number.start()
    before = number.string[max(0, at - 16) : at].rstrip("-−")
    head = before.rstrip(_OPENERS)
    if head.endswith(_ANNOUNCERS) or "\n" in before[len(head) :]:
        return True
    return before.endswith("[[") or number.string.startswith("점", number.end())


def _statement(text: str, number: re.Match[str], scale: Scale) -> _Statement | None:
    """What `number` states; None unless a mark, a label or a sentence announces it."""
    digits = number[0].rstrip(".,")
    at = number.start()
    end = number.start() + len(digits)
    if text[at - 1 : at] in ("-", "−"):
        at = at - 1
        digits = f"-{digits}"
    before = text[max(0, at - _LOOK_BACK) : at]
    is_marked = (
        before.endswith("[[")
        and text.startswith("]]", end)
        and not before.endswith(("=[[", "= [["))
    )
    label = _LABEL.search(before)
    said = None if label or is_marked else _SENTENCE_LABEL.search(before)
    after = _AFTER.match(text, end)
    assert after  # noqa: S101 - all of it is optional
    value = _value(digits, after, label, scale)
    end = after.end()
    if before.rstrip().endswith("<") and ">" not in after[0]:
        value = UnscoredReason.UNCLEAR
    is_vague = False
    if label and not is_marked:
        # "Total: 4 apples", or a number on the line below: then nothing may follow it on its line.
        is_vague = not (label["name"] or after["unit"] or after["of"])
        if (is_vague or "\n" in label[0]) and not _LINE_END.match(text, end):
            return None
        if isinstance(value, int) and not _CLAUSE_END.match(text, end):
            value = UnscoredReason.UNCLEAR
    elif not is_marked and not (
        _SENTENCE_END.match(text, end) if said else _KOREAN_VERB.match(text, end)
    ):
        return None
    words = label or said
    start = at - (len(words[0]) if words else 2 if is_marked else 0)
    kind = _kind(text, start, end, words, is_marked=is_marked)
    return _Statement(start, end, value, _Kind.ASIDE if is_vague and kind in _OWN else kind)


def _value(
    number: str, after: re.Match[str], label: re.Match[str] | None, scale: Scale
) -> int | UnscoredReason:
    whole, _, decimals = number.partition(".")
    if "," in number or decimals.strip("0."):
        return UnscoredReason.NOT_WHOLE
    if after["of"] and not after["high"]:
        return UnscoredReason.TRUNCATED
    high = after["high"] or (label and label["high"]) or scale.high
    is_on_scale = len(whole) < 9 and scale.low <= int(whole) <= scale.high == int(high)
    return int(whole) if is_on_scale else UnscoredReason.OFF_SCALE


def _kind(
    text: str, start: int, end: int, label: re.Match[str] | None, *, is_marked: bool
) -> _Kind:
    line_start = _line_start(text, start)
    line = text[max(line_start, start - _SENTENCE_LOOK_BACK) : start]
    is_prose = not is_marked and (label is None or label.re is _SENTENCE_LABEL)
    if line.strip():
        is_in_quotes = line.endswith('"')
        # `It is: "score: 4".` is the judge's own; `It says "score: 4"` is not.
        is_own = line[:-1].rstrip()[-1:] in ("", ":") and _SENTENCE_END.match(text, end)
        if text[line_start] == ">" or (is_in_quotes and not is_own):
            return _Kind.ASIDE
        if (is_in_quotes or not is_marked) and denies(line + (label["lead"] if label else "")):
            return _Kind.DENIED
        if label and not is_marked and _is_after_words(text, line_start, start, len(line)):
            is_of_whole = _ARTICLE.search(label["lead"]) or (is_prose and label["verb"])
            return _Kind.PROSE if is_of_whole else _Kind.STEP
    if is_prose:
        return _Kind.PROSE
    return _Kind.TOTAL if label and _TOTAL.search(label[0]) else _Kind.VERDICT


def _is_after_words(text: str, line_start: int, start: int, length: int) -> bool:
    """Whether words of the same clause stand before a label: "clarity score: 4"."""
    item = _ITEM.match(text, line_start, start)
    begin = max(item.end() if item else 0, start - length)
    clause = _CLAUSE.split(text[begin:start])[-1].rstrip(" \"'")
    return clause[-1:].isalnum()


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _decide(text: str, statements: Sequence[_Statement]) -> _Statement | UnscoredReason:
    """The statement that is the verdict: a total before own scores before prose, unless another
    one contradicts it.
    """
    if not statements:
        end = text.rstrip()
        return next(
            (reason for reason, sign in _SIGNS if sign.search(end)), UnscoredReason.NO_SCORE
        )
    totals = [each for each in statements if each.kind is _Kind.TOTAL]
    own = [each for each in statements if each.kind in _OWN]
    prose = [each for each in statements if each.kind is _Kind.PROSE]
    asides = [each for each in statements if each.kind is _Kind.ASIDE]
    whole_numbers = [statement for statement in prose if isinstance(statement.value, int)]
    candidates = totals or own or whole_numbers
    if not candidates:
        is_foreign = asides or any(each.kind is _Kind.DENIED for each in statements)
        return UnscoredReason.NOT_ASSERTED if is_foreign else UnscoredReason.UNCLEAR
    verdict = candidates[0]
    rivals = [
        statement for statement in (*own, *prose, *asides) if statement.value != verdict.value
    ]
    # A total may differ from the steps before it, if there are several.
    steps = [each for each in own if each.kind is _Kind.VERDICT and each.start < verdict.start]
    if rivals and (len(steps) < 2 or any(rival not in steps for rival in rivals)):
        return UnscoredReason.CONFLICTING
    if not totals and len(own) > 1 and _are_criteria(text, own):
        return UnscoredReason.CONFLICTING
    return verdict.value if isinstance(verdict.value, UnscoredReason) else verdict


def _are_criteria(text: str, own: Sequence[_Statement]) -> bool:
    """Whether equal scores are those of criteria, scored one by one without a total, which look
    like a repeated verdict, mostly of 1: `Score: 1` for the first.
    """
    if len(own) > 2:
        return True
    if own[0].value == 1 and text[own[-1].end :].strip():
        return True
    # So are several keys of one JSON text, and scores each after words on its line.
    if text[0] in "{[":
        return all(text[statement.start] == '"' for statement in own)
    above = (text[_line_start(text, statement.start) : statement.start] for statement in own)
    return not any(map(is_markup, above))
