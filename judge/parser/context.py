"""Says from the words round a statement whether its writer stands by it.

Judges negate ("does not receive a perfect score of 5"), suppose ("to earn a 5 it would need"), report ("the
response says score: 5"), give examples, and score single criteria. None of that is their verdict.
"""

import re
from enum import Enum, auto

from judge.ratings import UnscoredReason

_CONTEXT_CHARS = 200
_OPENING = " \"'`“‘[({<|>-"
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)[.!?](?=[\s\"'”)\]])|[。！？\n]")
_CLAUSE_BREAK = re.compile(r"[,;—–，；、]")
_CLAUSE_START = re.compile(r"[,;:—–\n.!?，；、。]|\b(?:so|hence|thus|therefore|and|but)\b")
_KEY = re.compile(r"[\"'`][\w ]*$")
_BULLET = re.compile(r"\s*(?:[-+•·▪]|\d{1,2}[.)]|\(?[a-z]\))\s+")

_NEGATED = re.compile(
    r"\b(?:not|never|cannot|no(?!,)|neither|nor|without|rather than|instead of|short of|nearly|almost|close to"
    r"|just misses|fails? to|prevent\w*"
    r"|lacks?|hardly|barely|[a-z]{2,6}n['’]t)\b"
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|could|might|may|were|had|hypothetical\w*|ideally|otherwise|normally|typically|usually"
    r"|tempted|intend\w*|considered|wanted|planned|was going|were going|going to|at first|initially|(?:at|on) first"
    r"|in principle|in theory|on paper|on the surface|at a glance|(?:some|others|many|a (?:lenient|generous|strict\w*"
    r"|harsh\w*)) (?:\w+ ){0,2}(?:would|give|gives)"
    r"|thinks|believes|so far|at this point|although|though|despite"
    r"|(?:would|should|must)(?! (?:\w+ly )?(?:rate|give|assign|award|score|grade|say)\b)"
    r"|(?<!have )(?<!has )to (?:\w+ly )?(?:earn|get|reach|achieve|receive|deserve|merit|score|attain|be|make|warrant)"
    r"|(?:earn|gett|reach|achiev|receiv|deserv|merit)ing)\b"
)
_HEDGED = re.compile(
    r"\b(?:about|around|approximately|roughly|nearly|almost|maybe|perhaps|possibly|probably|at (?:most|least|best)"
    r"|up to|somewhere|more|less|above|below|over|under|only if)\b"
)
_REPORTED = re.compile(
    r"\b(?:say(?:s|ing)?|said|claim\w*|tell(?:s|ing)?|told|ask(?:s|ed|ing)?|instruct\w*|demand\w*|request\w*"
    r"|contain\w*|includ\w*|writ(?:es?|ten|ing)|wrote|reads|mention\w*|quot\w*|insist\w*|tries|try|attempt\w*|inject\w*"
    r"|embed\w*|assert\w*|declar\w*|self-\w+|(?:end|begin|start|open|close)s? with|phrase|string|trick\w*"
    r"|manipulat\w*|pretend\w*|fake|please|stat(?:es|ed|ing)|according"
    r"|you|your|user(?!['’]s (?:question|query|needs?|problem)\b)|prompt|previous\w*|earlier|another|competitor)\b"
)
_EXEMPLARY = re.compile(
    r"\b(?:examples?|samples?|instance|like this|e\.g|i\.e|such as|format|form|template|between|range|scale|threshold"
    r"|maximum|minimum|max|min|criterion|rubric|guidelines?|describes?|means|average|typical)\b"
)
# What the judge goes by is no example of a score: "Based on the rubric, the response would receive a score of 3".
_BY_RUBRIC = re.compile(
    r"\b(?:based on|according to|against|per|following|using|under|by) the (?:[\w-]+ ){0,3}?"
    r"(?:rubric|guidelines?|scoring system)\b(?!['’]s),?(?: (?:the|this) (?:response|answer|reply) would\b)?"
)
# "After examining the user's instruction and the response:" are the prompt's own words, and the judge's.
_OWN_READING = re.compile(
    r"\W*(?:(?:after|upon|having) (?:\w+ )?(?:examin|read|review|consider|evaluat|analy|assess|compar)\w*|based on)\s"
    r"(?:(?:the|both|user['’]s|question|instructions?|response|answer|reply|assistant['’]s|and|criteria|carefully)[\s,:]*)+"
)
_SUPPOSED_AFTER = re.compile(
    r"[ \t\"'”,\])(]{0,4}(?:would|could|might|if\b|unless|provided|assuming|as long as|on condition|pending|subject to"
    r"|depending|which (?:indicates|means)|while the"
    r"|as (?:requested|instructed|asked|demanded|claimed))"
)
_PARTLY_AFTER = re.compile(
    r"[ \t]?\(\s?\+|[ \t]so far\b|[ \t(]{0,3}(?:points?\b|marks?\b)?[ \t,:-]{0,3}(?:for|on|in terms of"
    r"|with re(?:spect|gard) to|regarding|concerning|as to)[ \t]+"
    r"(?!(?:(?:the|this|its|their|an?)\s+)?(?:overall|whole|entire|total|response|answer|assistant|being|most part)\b"
    r"|this\b|it\b)"
)
# Words that may stand before "score" without making it the score of something else.
_MODIFIERS = re.compile(
    r"(?:[\W_]|\b(?:the|a|my|our|its|this|that|so|thus|hence|therefore|overall|total|final|summary"
    r"|in|conclusion|evaluation|assessment|judge'?s?|assistant'?s?|ai|response'?s?|answer'?s?|result|output|additive"
    r"|points?"
    r"|cumulative|numeric|verdict|quality|and|is|as|follows|of|for|to|based|on|above|criteria|sum|up|now|here|text"
    r"|no|s|b"
    r"|\d{1,3}-point|own|real|actual|new|updated|revised|corrected|adjusted|resulting|appropriate|perfect|nota|note"
    r"|puntuación|punteggio|finale?|totale?|global"
    r"|итоговая|общая)\b"
    r"|최종|총|종합|전체|평가|总体|整体|综合|最终|总|総合|最終|総|合計)*"
)
# What goes on being so behind the comma: "Unless it is cut, ...", "According to it, ...", "For example, ...".
_LEAD_IN = re.compile(
    r"\b(?:if(?! i(?: am|['’]m) honest)|unless|were|had (?:it|the)|otherwise|hypothetical\w*|ideally|normally|typically"
    r"|usually|in (?:principle|theory)|according|examples?|instance|e\.g|i\.e|such as|format|rubric(?=:)"
    r"|says?|said|claims?)\b"
)
_OWN = re.compile(r"\b(?:my|our|the) (?:(?:final|overall|total|real|own|revised|new|actual) )*\Z")
_TOTAL = re.compile(r"\b(?:total|final|overall|cumulative)\b|최종|총|종합|综合|最终|总|総合|最終|合計")
_INTRODUCTION = re.compile(
    r"(?:answer|evaluation|verdict|judge?ment|assessment|follows|result|output|conclusion|review|rating|score|this"
    r"|니다|평가|결과|점수|평점|です|評価|評分|评价)[\s\"'“`)\]]{0,6}[:：]?[\s\"'“`(\[]{0,6}$"
)
_UNQUOTED_LINE = re.compile(r"\n[ \t]{0,8}[^\s>]")
_QUOTE_END = re.compile(r"[\])} .]{0,4}[\"`”’」»](?:[.。]|[ \"'`,)\]}]*(?:\n|$))")


# What a single criterion is called, where nothing else says what is scored.
_CRITERION = (
    r"(?:(?!quality|activity)(?:[a-z]+(?:ness|ity|acy|ency|ance|ence)|style|grammar|tone|depth|format(?:ting)?"
    r"|content|facts?"
    r"|language|spelling|length|logic|structure|safety|details?|substance|focus|creativity|usefulness|brevity))"
)
_CRITERION_ABOVE = re.compile(
    rf"[ \-:.()\d]*(?:criterion[ \-:.()\d]*)?{_CRITERION}(?:(?: |, | and | & | / ){_CRITERION}){{0,2}}[ \-:]*"
)
_CRITERION_BEFORE = re.compile(
    rf"\b{_CRITERION}\s?(?:[-–—|]|--)\s?$|\b(?:response|model|option|candidate|assistant)[ _][a-e1-9]\b.{{0,12}}$"
)
_CRITERION_AFTER = re.compile(rf"[ \t]?[(\[](?:for |the )?(?:\w+ (?:and )?)?{_CRITERION}(?: only)?[)\]]")
_PARTLY_BEFORE = re.compile(
    r"(?:^|[,;])\s*(?:(?:in terms of|regarding|concerning|as for|as far as|when it comes to|with (?:regard|respect) to"
    r"|(?:purely|solely|judged) (?:on|for))\b"
    r"(?! (?:the |this |its )?(?:overall|whole|entire|response|answer|reply|rubric|quality|scores?|points)\b)"
    rf"|(?:on|for) (?:[\w ]{{1,30}} alone\b|(?:the )?(?!balance){_CRITERION}(?=,? (?:i|we|it|the response)\b)))"
)
_OTHERS = re.compile(
    r"\b(?:reference|human|baseline|gold(?:en)?|ideal|expected) (?:answer|response|solution|model)?[^,;.]{0,8}$"
)
_WHOLE = re.compile(
    r"(?=.*\b(?:overall|whole|entire|total|response|answer|reply|assistant|ai|model|quality|chatbot|this|it)\b)"
    r"(?!.*\b(?:previous|competitor|human|other|another|reference|baseline|second|earlier|ideal|gold\w*|expected"
    r"|user['’]s (?:answer"
    r"|response)))"
)


# "The response ends with the line", "The text to evaluate is:", "Response:" and then a score: the response's words.
_ANNOUNCEMENT = re.compile(
    r"\b(?:response|reply|assistant|user|text|question|option|candidate|message|line|answer|it)\b.*"
    r"(?:\b(?:(?:end|close|begin|start|conclude|finish)(?:s|ed)? with|say|says|states|contains|reads|includes|adds"
    r"|wrote|is just|is only"
    r"|is simply|as follows|the line|the words)\b.{0,30}[:：]?$|(?<!answer)[:：]$)"
)
_SPEAKER = re.compile(r"[ \-]*(?:the )?(?:response|user|question|human|user['’]s (?:question|message))\s?:.*[.!?\"“]")
_OWN_ANNOUNCEMENT = re.compile(
    r"\b(?:(?<!to )(?<!be )(?:evaluat\w*|scor\w*|rat(?:e|es|ed|ing)\w*|grad\w*|judg\w*|assess\w*|review\w*)|verdict"
    r"|feedback|points?|gets|earns|receives"
    r"|deserves|merits|therefore|i|my|step|explanation|justification|analysis|result|criteri\w+)\b"
    r"|점수|평가|평점|スコア|点数|評価|評点|评分|得分|评价"
)


class Role(Enum):
    """What a statement scores: the response, a step on the way to its total, or one named criterion."""

    VERDICT = auto()
    TALLY = auto()
    CRITERION = auto()


def sentence_before(text: str, start: int) -> str:
    """What stands before `start` in its sentence; at the start of a line, the announcement right above it."""
    window = text[max(0, start - _CONTEXT_CHARS) : start]
    line = window[window.rfind("\n") + 1 :]
    if line.strip(_OPENING):
        return _last_sentence(line)
    above = _line_above(text, start)
    return _last_sentence(above) if above.endswith((":", "：")) else ""


def doubt_about(text: str, start: int, value_start: int, end: int) -> UnscoredReason | None:
    """Why the statement at `start:end` is not asserted, going by its sentence; None when it is."""
    before = _BY_RUBRIC.sub("", sentence_before(text, start))
    return _doubt("" if _OWN_READING.fullmatch(before) else before, text, start, value_start, end)


def is_own_by_clause(text: str, start: int, value_start: int, end: int, *, is_prose: bool) -> bool:
    """Whether the statement at `start:end` may be the writer's own, going by its clause alone.

    Enough to undo an earlier verdict: "The response is not concise, so my score is 0."
    """
    clause = _CLAUSE_START.split(text[max(0, start - _CONTEXT_CHARS) : start])[-1]
    if _LEAD_IN.search(sentence_before(text, start)) or _doubt(clause, text, start, value_start, end):
        return False
    return is_prose or _MODIFIERS.fullmatch(clause) is not None or _OWN.search(clause) is not None


def _doubt(before: str, text: str, start: int, value_start: int, end: int) -> UnscoredReason | None:
    with_verb = before + text[start:value_start]
    for pattern in (_NEGATED, _SUPPOSED, _REPORTED, _EXEMPLARY) if before else ():
        found = pattern.search(with_verb)
        if found and found.start() < len(before):
            return UnscoredReason.NOT_ASSERTED
    if _HEDGED.search(text, start, value_start) or _NEGATED.search(text, start, value_start):
        return UnscoredReason.NOT_ASSERTED
    if _SUPPOSED_AFTER.match(text, end) or _is_quoted(text, start, value_start, end):
        return UnscoredReason.NOT_ASSERTED
    return None


def scores_part(text: str, end: int) -> bool:
    """Whether what follows the value at `end` says that it was for one thing only ("for relevance")."""
    return _PARTLY_AFTER.match(text, end) is not None


def names_part(clause: str) -> bool:
    """Whether `clause`, the words before a score in prose, begins with the one thing that it is for ("On style")."""
    return _PARTLY_BEFORE.search(clause) is not None


def scores_whole(subject: str) -> bool:
    """Whether "the response" or the like is `subject`, what a label says it scores."""
    return _WHOLE.match(subject) is not None


def role_of(text: str, start: int, end: int, *, since: int = 0, is_marked: bool = False) -> Role:
    """What the statement at `start:end` scores.

    `since` is where the statement before it ended; `is_marked` says that its brackets alone call it a verdict.
    """
    if scores_part(text, end):
        return Role.TALLY
    if _CRITERION_AFTER.match(text, end):
        return Role.TALLY
    line_start = max(text.rfind("\n", 0, start) + 1, since)
    line = text[max(line_start, start - _CONTEXT_CHARS) : start]
    bullet = _BULLET.match(line)
    is_line_start = not line.strip(_OPENING)
    if _CRITERION_ABOVE.fullmatch(_line_above(text, start)) if is_line_start else _CRITERION_BEFORE.search(line):
        return Role.TALLY
    if not is_line_start and _OTHERS.search(line):
        return Role.CRITERION
    clause = line[bullet.end() :] if bullet else sentence_before(text, start) if line.strip() else ""
    if _MODIFIERS.fullmatch(_CLAUSE_BREAK.split(clause)[-1]) or _INTRODUCTION.search(clause):
        return Role.VERDICT
    if clause.rstrip(_OPENING).endswith((":", "：", "/")):
        return Role.CRITERION
    if bullet and not is_marked:
        return Role.TALLY
    return Role.VERDICT if is_marked else Role.CRITERION


def is_total(text: str, start: int, label: str) -> bool:
    """Whether the label, or the words before it, call this the total."""
    before = text[max(0, start - 40) : start]
    return bool(_TOTAL.search(label) or _TOTAL.search(before[before.rfind("\n") + 1 :]))


def _line_above(text: str, start: int) -> str:
    """The nearest line above the one of `start` that is not blank, as far as it is looked at."""
    above = text[max(0, start - _CONTEXT_CHARS) : start].rstrip(f"{_OPENING}\n")
    return above[above.rfind("\n") + 1 :]


def _last_sentence(line: str) -> str:
    ends = [match.end() for match in _SENTENCE_END.finditer(line)]
    return line[ends[-1] if ends else 0 :]


def _is_quoted(text: str, start: int, value_start: int, end: int) -> bool:
    line_start = text.rfind("\n", 0, start) + 1
    if text.startswith(">", line_start) and _UNQUOTED_LINE.search(text, end, end + 2 * _CONTEXT_CHARS):
        return True
    # A label in quotes of its own is a key, as in JSON; what counts is whether that key is in quotes.
    key = _KEY.search(text, max(line_start, start - 24), start)
    if key and key[0][0] in text[start:value_start]:
        start = key.start()
    is_open = any(text.count(mark, line_start, start) % 2 for mark in '"`') or _is_open(text, line_start, start)
    if not is_open:
        return False
    before = sentence_before(text, start)
    stands_alone = not before.strip(_OPENING) or _INTRODUCTION.search(before) is not None
    return not (stands_alone and _QUOTE_END.match(text, end))


def _is_open(text: str, line_start: int, start: int) -> bool:
    return any(
        text.count(opening, line_start, start) > text.count(closing, line_start, start)
        for opening, closing in ("“”", "«»", "「」", "『』")
    )


def is_announced(text: str, start: int) -> bool:
    """Whether the words before the statement announce it as the response's own."""
    line = text[max(text.rfind("\n", 0, start) + 1, start - _CONTEXT_CHARS) : start]
    if _SPEAKER.match(line):
        return True
    before = (line if line.strip(_OPENING) else _line_above(text, start)).rstrip(_OPENING)
    if _OWN_READING.fullmatch(before):
        return False
    if before.endswith((".", "!", "?")) or (line.strip(_OPENING) and not before.endswith((":", "："))):
        return False
    before = _last_sentence(before)
    return _ANNOUNCEMENT.search(before) is not None and not _OWN_ANNOUNCEMENT.search(before)
