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
from collections.abc import Iterable, Sequence
from itertools import islice

from judge.scoring.answers import (
    extract_justification,
    is_markup,
    is_quoted,
    packed,
    spoken,
    to_plain,
)
from judge.scoring.doubts import disclaimer, is_taken_back
from judge.scoring.ratings import Rating, Result, UnscoredReason, unscored
from judge.scoring.rubric import Scale
from judge.scoring.statements import (
    ITEM,
    LINE_END,
    NUMBER,
    OWN,
    Kind,
    Statement,
    is_announced,
    line_start_of,
    to_statement,
)

# A heading or an item with a number: "### Point 1", "2. Substance", "Criterion 3:".
_NUMBERED = re.compile(
    r"^[ #]{0,8}(?:[a-z]{1,20} )?\(?[0-9]{1,2}(?:[.):](?![0-9])|[ ]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_DIGITS = re.compile(r"[0-9]+")
_BEFORE_BLANK_LINE = re.compile(r"\n(?=[ \t]*\n)")
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
# no real judgement has more
_MOST_NUMBERS = 2_000
_MOST_ANNOUNCED = 200


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
    line = text[line_start_of(text, len(text)) :]
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
    above = sum(1 for _ in islice(_NUMBERED.finditer(text, 0, line_start_of(text, start)), 2))
    is_step = verdict.kind is not Kind.TOTAL and (
        above == 1 or (above > 1 and _NUMBERED.search(text, end))
    )
    if is_step or is_taken_back(text, start, end, score, scale, response):
        return UnscoredReason.CONFLICTING
    return disclaimer(text, scale, response) or (score, start, end)


def _statements(text: str, scale: Scale, response: str) -> list[Statement]:
    """All statements of a score in `text`, in order; a single unclear one if there are too many for
    a judgement.
    """
    numbers = list(islice(NUMBER.finditer(text), _MOST_NUMBERS + 1))
    announced = [number for number in numbers if is_announced(number)]
    if len(numbers) > _MOST_NUMBERS or len(announced) > _MOST_ANNOUNCED:
        return [Statement(0, 0, UnscoredReason.UNCLEAR, Kind.VERDICT)]
    statements = [said for number in announced if (said := to_statement(text, number, scale))]
    if response:
        _mark_quotes(text, statements, response)
    _mark_steps(text, [said for said in statements if said.kind in (Kind.VERDICT, Kind.PROSE)])
    return statements


def _mark_quotes(text: str, statements: Sequence[Statement], response: str) -> None:
    """Marks the scores that the response states, too."""
    wording = _wording(response)
    for said in statements:
        if _has_own_place(text, said):
            continue
        words = text[said.start : said.end]
        if is_quoted(words, response):
            said.kind = Kind.DENIED
        # Otherwise only verdicts that differ from the response's score would be read.
        elif said.kind in (*OWN, Kind.PROSE) and _wording(packed(words)).strip("\"'") in wording:
            said.kind = Kind.ASIDE


def _wording(text: str) -> str:
    return _DIGITS.sub("0", text)


def _has_own_place(text: str, said: Statement) -> bool:
    """Whether a score opens the answer or is its last line: then the judge gives it, even if the
    response does too.
    """
    if is_markup(text[: said.start]):
        return text[0] == "{" or text[said.end : said.end + 1] not in (",", "(")
    above = text[: line_start_of(text, said.start)]
    line = text[line_start_of(text, said.start) : said.start]
    return (
        is_markup(text[said.end :]) and is_markup(line) and not above.rstrip(' \n"').endswith(":")
    )


def _mark_steps(text: str, statements: Sequence[Statement]) -> None:
    """Marks the scores that belong to the items of a list, on an item's line or below it, however
    long the item is.
    """
    if not statements or not ITEM.search(text, 0, statements[-1].start):
        return
    items = [item.start() for item in ITEM.finditer(text)]
    blank_lines = [blank.start() for blank in _BEFORE_BLANK_LINE.finditer(text)]
    placed = defaultdict[str, list[Statement]](list)
    for said in statements:
        placed[_place(text, said, items, blank_lines)].append(said)
    steps = [*placed["on"], *placed["below"]]
    if len(steps) == 1 and placed["on"] and _is_verdict_item(text, steps[0], items):
        steps = []
    # One score between lists, or behind one, is the verdict; behind other steps of its kind it is
    # the last of them.
    doubtful = [*placed["between"], *placed["behind"]]
    counts = Counter(said.kind for said in doubtful)
    kinds = {said.kind for said in placed["below"]} | {
        said.kind for said in placed["between"] if counts[said.kind] > 1
    }
    for said in (*steps, *(said for said in doubtful if said.kind in kinds)):
        said.kind = Kind.STEP


def _is_verdict_item(text: str, only: Statement, items: Sequence[int]) -> bool:
    """Whether the only score on an item is the verdict: it is a whole item with its reasons in items
    after it, or it ends a list.
    """
    at = line_start_of(text, only.start)
    if items[-1] <= at:
        return items[0] < at
    return bool(LINE_END.match(text, only.end) and ITEM.fullmatch(text, at, only.start))


def _place(text: str, said: Statement, items: Sequence[int], blank_lines: Sequence[int]) -> str:
    """Where a score is: on an item's line, below it within the item, between two items, behind the
    last, or outside.
    """
    at = line_start_of(text, said.start)
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


def _decide(text: str, statements: Sequence[Statement]) -> Statement | UnscoredReason:
    """The statement that is the verdict: a total before own scores before prose, unless another
    one contradicts it.
    """
    if not statements:
        return _why_no_statement(text.rstrip())
    totals = _of_kind(statements, Kind.TOTAL)
    own = _of_kind(statements, *OWN)
    prose = _of_kind(statements, Kind.PROSE)
    asides = _of_kind(statements, Kind.ASIDE)
    candidates = totals or own or [each for each in prose if isinstance(each.value, int)]
    if not candidates:
        is_foreign = asides or _of_kind(statements, Kind.DENIED)
        return UnscoredReason.NOT_ASSERTED if is_foreign else UnscoredReason.UNCLEAR
    verdict = candidates[0]
    rivals = [each for each in (*own, *prose, *asides) if each.value != verdict.value]
    # A total may differ from the steps before it, if there are several.
    steps = [each for each in _of_kind(own, Kind.VERDICT) if each.start < verdict.start]
    if rivals and (len(steps) < 2 or any(rival not in steps for rival in rivals)):
        return UnscoredReason.CONFLICTING
    if not totals and len(own) > 1 and _are_criteria(text, own):
        return UnscoredReason.CONFLICTING
    return verdict.value if isinstance(verdict.value, UnscoredReason) else verdict


def _why_no_statement(text: str) -> UnscoredReason:
    for reason, sign in _SIGNS:
        if sign.search(text):
            return reason
    return UnscoredReason.NO_SCORE


def _of_kind(statements: Iterable[Statement], *kinds: Kind) -> list[Statement]:
    return [each for each in statements if each.kind in kinds]


def _are_criteria(text: str, own: Sequence[Statement]) -> bool:
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
    above = (text[line_start_of(text, statement.start) : statement.start] for statement in own)
    return not any(map(is_markup, above))
