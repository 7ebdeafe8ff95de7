"""What the rest of an answer says against the verdict that it states: a later number, or that the line is not its own.

A judge who scores first may think on: "score: 4", and below it "It repeats itself, so the last rule makes it a 0."
Which of the two he stands by, no rule can tell; so any other number that is said as a score is said takes the verdict
away. Numbers of steps, examples and points of content leave it alone, and so does a score that he denies or supposes.
"""

import re
from collections.abc import Iterable

from judge.parser.values import NUMBER, Value, read_value
from judge.rubric import Scale

_BEFORE_CHARS = 140
_AFTER_CHARS = 60
_SENTENCE_END = re.compile(r"[.!?…](?=[\s\"'”)\]])|[。！？\n]")

# What a judge says who changes his mind: "Actually, it is a 4", "I meant score: 4".
_REVISION = re.compile(
    r"[.!?,;\n]\s{0,3}(?:(?:so|but|and) )?"
    r"(?:actually|correction|on (?:second thought|reflection)|wait|no(?=,)|oops|edit|hmm|make|scratch that|i meant"
    r"|i(?:['’](?:d|ll))? (?:\w{1,12} )?(?:change|revise|lower|raise|adjust|correct|reduce))\b"
    r"(?:[\s,:;\"'(–—-]|(?:it|this|that|is|was|should|be|have|been|the|my|final|total|overall|score|rating|response"
    r"|an?|to"
    r"|of|as|deserves?|i|would|give|rate|say|make|more|like|rather|d|s|lower|raise)\b){1,24}"
    rf"(?P<number>{NUMBER.pattern})"
)
# Words of scoring, of changing a score, and of taking something off; one of them in the sentence of a bare number.
_SCORING = re.compile(
    r"\b(?:scor(?:es?|ed|ing)|ratings?|grades?|marks?|total|sum|verdict|final(?:ly)?|net|worth|gets?|receives?"
    r"|deserves?"
    r"|earns?|merits?|warrants?|becom(?:es?|ing)|drop(?:s|ped|ping)?|falls?|ends? up|goes|brings?|leav(?:es?|ing)"
    r"|makes? it"
    r"|should|must be|rules?|criterion|rubric|points?|revis\w+|correct(?:ed|ion|ing)?|let me correct|adjust\w*|updat\w+"
    r"|lower\w*|rais\w+|reduc\w+|increas\w+|downgrad\w+|upgrad\w+|chang(?:e|ed|ing)|cap(?:s|ped)?|penal\w+|deduct\w*"
    r"|subtract\w*|minus|fairer|better|instead|appropriate|accurate|honest|fits?|actually|second thoughts?|reflection"
    r"|reconsider\w*|balance|rather|hence|therefore|applies|overrides?|would say"
    r"|hindsight"
    r"|right (?:one|figure|number)|go(?:ing)? with|ought|record|replace|comes? down"
    r"|ultimately|fair|harsh|generous|forces|settles?|recalculat\w+|reassess\w*|re-?evaluat\w+)\b"
)
# Right before a number that may be a verdict; a noun there ("step 3", "the 3") makes it one of something else.
_LEADS = re.compile(
    r"(?:^|(?:^|\s)[=→>–—-]\s|[:,;]\s?|\(|\b(?:an?|to|is|was|be|been|of|at|as|by|on|only|just|with|it|itself|response"
    r"|answer|this|say|so|hence|thus"
    r"|therefore|now|then|scores?|scored|gets?|becomes?|receives?|earns?|deserves?|merits?|worth|give|rate|makes?"
    r"|rating"
    r"|grade|verdict|total|actually|ultimately|instead|again|up|down|really|more like|minus|off|deduct(?:ing)?"
    r"|subtract(?:ing)?|rather|points?:|an? (?:clear|weak|strong|solid|low|high|generous|flat)))[\s\"'“‘(\[]{0,4}$"
)
_LISTED = re.compile(
    r"\d[\d,&\s–-]*(?:\b(?:and|or|to|through|of|out of)\b)?[\s,&–-]*$|\b(?:points?|criteri\w+|steps?|rules?) $"
)
# What a number is of, unless that is the score: "x = 2", "f(1) = 2", "the child's age of 4", "the minimum is 5".
_COUNTS = re.compile(
    r"(?<![a-z0-9])(?:[a-z]\d?|\w+\([^()\n]{0,20}\))\s?=\s?$"
    r"|\b(?!(?:scores?|ratings?|grade|marks?|total|sum|verdict|it|this|that|one|number|figure|value|result|response|answer"
    r"|reply|here|evaluation|judge?ment|what|which|all|points|credit|maximum|top)\b)[a-z]+ (?:is|was|of)[ \"'(]*$"
)
# "relevance (1), coverage (1)"
_STEP = re.compile(r"[a-z](?<!score)(?<!total)(?<!rating)(?<!grade)(?<!verdict)(?<!\bis)(?<!\bto)(?<!\bit) \($")
# "The price drops to 3": a sentence on something else than the response.
_TOPIC = re.compile(r"[\s\"'(]*(?:the|an?|each|every|you|one) [a-z]+")
_JUDGED = re.compile(
    r"\b(?:scores?|ratings?|grades?|marks?|verdict|it|this|that|response|answer|reply|assistant|i|we|me|my|points?|rubric"
    r"|rules?|criteri\w+|total|evaluation|assessment|judge?ment|result|figure|number|one|value|deduction|penalty"
    r"|repetition|call|level|star)\b"
)
_GOES_ON = re.compile(
    r"\s(?:is|was|would|seems?|feels?|looks|fits?|applies|is more|instead|rather|better|after|per|under|now)\b"
)
# The number is denied, supposed, a bound, or somebody else's.
_AS_GRADE = re.compile(r"\ban? [\"'“‘]?$")
_ASIDE = re.compile(
    r"\b(?:not|never|cannot|[a-z]+n['’]t|no|nor|without|than|short of|from)\b(?: \w+){0,5}[ \"'“]*$"
    r"|\b(?:if|unless|could|might|may|were|had|higher|full|perfect|maximum|possible|next|scale|range|between"
    r"|at (?:least|most)"
    r"|up to|for an?|(?<!\bi )(?<!\bwe )would|i would(?= (?:\w+ )?have)|(?<!have )to (?:\w+ly )?(?:earn|get|reach"
    r"|achieve|receive|deserve|merit"
    r"|score|make|warrant)|(?:earn|gett|reach|achiev|receiv|deserv|merit)ing|nearly|almost|maybe|perhaps|about"
    r"|around|example|instance|threshold|average|typical"
    r"|consider(?:ed|ing)|contemplated|tempted|torn|toyed|thought (?:about|of)|hesitat\w+|inclined|wondered"
    r"|says|said|claim\w*|stat(?:es|ed)|asks?|asked|includ\w*|demand\w*|according|another|critics?|users?"
    r"|returns?|value|outputs?|prints?|equals|function|film|movie|book|essay|product|game|(?:response|answer"
    r"|assistant|it) (?:gives|lists|names|rates)"
    r"|(?:response|answer) (?:itself )?contains|instructions?"
    r"|(?:correct|right|expected|true) (?:answer|result|value|number|total|sum|score)|final answer is)\b"
)
_ASIDE_AFTER = re.compile(
    r"[\s\"',)]{0,3}(?:if|unless|would (?:need|require|have|mean|be too)|(?:is|was) (?:not|correct|right|wrong"
    r"|too)\b|isn['’]t"
    r"|requires?\b|needs?\b|means\b|(?:which|that) is (?:correct|right|wrong)|as the response|given in the)"
)
_CLAUSE_END = re.compile(r"[,;:—–]\s|\b(?:so|therefore|hence|thus)\b")
# "1 point for relevance", "scores 1 in relevance": a step on the way.
_PART_AFTER = re.compile(r"\s(?:for|on|in)\s(?!total|all\b|sum\b|the end|this\b|it\b|the response)")
_POINTS_MADE = re.compile(
    r"(?:points?|marks?) (?:about|are|is|that|which|on|of|mentioned|covered|made|from|in|to|and|raised|listed)\b"
    r"|(?:points?)\s?:"
)
_BARE_POINTS = re.compile(r"(?:^|[,;–—]|\b(?:so|hence|thus|therefore|only|just|it|with))\s*$")
# An explanation of points already off, when they make up for what is missing to the top.
_TAKEN_OFF = re.compile(
    r"\b(?:deduct(?:ed|ion)|subtracted|took|taken|docked|removed|los(?:es?|t|ing)|missing|withheld)\b"
)
_TAKES_OFF = re.compile(
    r"\b(?:minus|(?:deduct|subtract|dock|remov|tak)(?:e|ing)?(?: off| away)?|lower\w* it by|reduc\w+ it by"
    r"|penalt(?:y|ies)"
    r"|deductions?)\b[\s:=(]{1,3}(?:it by |by |of |about |off |another |an? )?(?:[-−]?\d|one|two|three|four|five"
    r"|half)(?! *%)"
    r"(?=\s*(?:points?|marks?|pts|stars?|off|away|for|because|since|as|due|here|again|more"
    r"|from (?:it|that|this|the (?:score|total|top|maximum|rating))|\Z|[.,;:)!—–]))"
    r"|\b(?:lower|reduc)\w* (?:it|this|that|the (?:score|rating)) by\b"
)

_OWN_LINE = r"(?:score|rating|line|block|text|number|verdict|value|part|string|grade|quote|above)"
_SOURCE = r"(?:quot|cop(?:y|ied)|inject|insert|embed|manipul|placeholder|example|template|from (?:the|its)|part of"
r"|taken"
_SOURCE += r"|in the response|written|what the|not (?:mine|my)|no weight|to the (?:response|answer)|the response['’]?s"
_SOURCE += r"|by the (?:response|answer|user|assistant))"
# A blank to begin with, rather than a word boundary, makes the search three times as fast.
_DISOWNED = re.compile(
    r"[\s(\"'“](?:"
    rf"(?:ignor|disregard|discard|scrap|forget|strike|reject)\w* (?:(?:the|this|that|my) (?:\w+ )?{_OWN_LINE}"
    r"|(?:it|this|that)\b)"
    rf"|(?:the|this|that) (?:(?:quoted|injected|fenced|first|last|code) )?{_OWN_LINE}(?: above| line| score| block)*"
    rf" (?:is|was|are|were|came|comes|stems|originates|appears|belongs|carries) (?:\w+ ){{0,2}}?{_SOURCE}"
    r"|the above (?:is|was|comes|came)\b"
    r"|(?:this|that|which) is (?:only|just|merely) (?:an? |the )?(?:\w+ )?(?:example|format|template|placeholder)"
    r"|(?:this|that|it|above) (?:is|was) (?:just |only |exactly |merely )?(?:what|how) the (?:response|answer|assistant"
    r"|user|text) (?:itself )?"
    r"(?:say|said|wr[io]t|claim|put|print|grade|score|rate|give|gave|end|insist|state|contain|read)"
    r"|the (?:assistant|response|user|answer|author) (?:itself )?(?:wrote|said|added|put|states|says|wants|demands"
    r"|claims)"
    r" (?:this|that|it)(?=[.,;\n]| instead| itself| to)"
    r"|(?:this|that) is an? (?:\w+ )?(?:attempt|injection|manipulation|attack)\b|it (?:grades|scores|rates) itself\b"
    r"|(?:it|this|that) is the response (?:speak|talk)|(?:my own|the real|my real|the actual|my actual"
    r"|the true) (?:score|verdict|rating|judge?ment)\b"
    r"|minus (?:one|two|half)\b|(?:it|response|answer|reply|this|that) deserves less(?=[.,;!\n]| than)"
    r"|cannot (?:actually )?(?:evaluate|rate|judge|score)\b)"
)
_DISOWNED_CHARS = 160
_NOT_OWN_AFTER = re.compile(
    r"[ \t\"'`.)\]]{0,4}[(–—,-]?[ \t]?(?:as (?:the|requested|demanded|instructed|asked)|quot|copied|taken from"
    r"|according to|from the (?:response|answer))"
    r"|\s*\n\s*which (?:does|is|was|has|did|answers)\b"
    # "score: 4 (typo)", "score: 4\nWait, that is wrong."
    r"|[\s\"'`.(\[^–—-]{0,6}(?:(?:that|this|it)(?:['’]s| is| was) )?(?:an? )?(?:typo|placeholder)(?=[.,;:!)\]\n]|$)"
    r"|[\s\"'`.(\[–—-]{0,6}(?:wait|sorry|oops)[,.!:]{0,3} (?:that|this|it)(?:['’]s| is| was) (?:an? )?"
    r"(?:mistake|error|wrong|not right|incorrect)\b"
)
# Said anywhere below: "The figure I gave at the top was premature", "I withdraw that".
_WITHDRAWAL_WORDS = (
    *("retract", "withdraw", "take back", "stand", " above ", "at the top", "i gave", "i put"),
    *("reflection", "second thought", "hindsight"),
)
_WITHDRAWN = re.compile(
    r"\b(?:i (?:\w+ ){0,2}?(?:retract|withdraw|take back|(?:can )?no longer stand by) (?:this|that|it|the|my)\b"
    r"|(?:the|my|that) (?:\w+ )?(?:figure|number|score|rating|grade|verdict)"
    r" (?:above|at the top|(?:that )?i (?:gave|put)\b[^.\n]{0,20}) (?:is|was|seems) (?:\w+ ){0,2}?"
    r"(?:wrong|mistaken|premature|void|an? (?:mistake|error|typo)|too (?:high|low|generous|harsh|strict|lenient))\b"
    r"|(?:on (?:reflection|second thoughts?)|in hindsight),? (?:that|this|it) (?:is|was|seems) (?:\w+ ){0,2}?"
    r"too (?:high|low|generous|harsh|strict|lenient|kind)\b"
    r"|(?:cannot|can['’]t|won['’]t|not) let (?:the|that|this|my|it)\b[^.\n]{0,25}\bstand\b)"
)
# A zero in words: "It deserves no points at all."
_NOTHING = re.compile(
    r"\b(?:response|answer|reply|it|this) (?:\w+ )?(?:deserves|gets|earns|receives|merits) (?:absolutely )?"
    r"(?:no points?|nothing)(?: at all)?(?=[.,;!]|$| (?:since|because|as)\b)"
)
# An answer that ends with another number, on a line of its own and below a sentence.
_LAST_LINE = re.compile(
    r"(?<=[^\d\s][.!?…)\"'”。])\s*\n[ \t>=→-]*(?:(?:so|hence|thus|therefore)[ ,:]*)?"
    rf"(?P<number>{NUMBER.pattern})[ \t.!)\]}}\"'`|]*\Z"
)


def is_disowned(text: str, end: int) -> bool:
    """Whether what follows the score that ends at `end` says that it is a quote, an example or void."""
    if _NOT_OWN_AFTER.match(text, end) or _DISOWNED.search(text, end, end + _DISOWNED_CHARS):
        return True
    return any(word in text for word in _WITHDRAWAL_WORDS) and _WITHDRAWN.search(text, end) is not None


def is_contradicted(text: str, verdict: Value, others: Iterable[Value], scale: Scale) -> bool:
    """Whether one of `others`, the numbers that are no statements, comes after `verdict` and is said as a score is."""
    return (
        any(_contradicts(text, verdict, other, scale) for other in others if other.start >= verdict.end)
        or _is_revised(text, verdict, scale)
        or _ends_with_another(text, verdict, scale)
        or (verdict.score != 0 and "no" in text and _NOTHING.search(text, verdict.end) is not None)
    )


def _contradicts(text: str, verdict: Value, other: Value, scale: Scale) -> bool:
    before, after = _sentence_round(text, verdict.end, other)
    clause = before[max((match.end() for match in _CLAUSE_END.finditer(before)), default=0) :]
    if _TAKES_OFF.search(before + text[other.start : other.end] + after):
        return not _ASIDE.search(clause)
    if other.score is None or other.score == verdict.score or _LISTED.search(before) or _COUNTS.search(before):
        return False
    if other.score <= 1 and after.startswith(")") and _STEP.search(before):
        return False
    # "1 point was deducted for its length" explains a 4.
    if _TAKEN_OFF.search(before + after) and other.score + (verdict.score or 0) == scale.high:
        return False
    if _ASIDE.search(clause) or _ASIDE_AFTER.match(after) or _PART_AFTER.match(after):
        return False
    if other.has_unit and not other.has_maximum:
        if after.startswith(")") or _POINTS_MADE.match(text, text.rfind(" ", other.start, other.end) + 1):
            return False
        if _BARE_POINTS.search(before):
            return True
    return _is_said_as_score(before, other, after)


def _is_said_as_score(before: str, other: Value, after: str) -> bool:
    """Whether words of scoring stand round the number, and no noun that it counts."""
    if _TOPIC.match(before) and not _JUDGED.search(before + after):
        return False
    goes_on = _GOES_ON.match(after)
    if goes_on and _SCORING.search(after):
        return True
    if not (other.is_complete or goes_on) or not _LEADS.search(before):
        return False
    return any(pattern.search(before) for pattern in (_AS_GRADE, _SCORING)) or _SCORING.search(after) is not None


def _sentence_round(text: str, since: int, value: Value) -> tuple[str, str]:
    """What stands before and after `value` in its sentence, from `since` on."""
    before = text[max(since, value.start - _BEFORE_CHARS) : value.start]
    ends = [match.end() for match in _SENTENCE_END.finditer(before)]
    after = text[value.end : value.end + _AFTER_CHARS]
    end = _SENTENCE_END.search(after)
    return before[ends[-1] if ends else 0 :].lstrip(" ):"), after[: end.start()] if end else after


def _is_revised(text: str, verdict: Value, scale: Scale) -> bool:
    """Whether another number comes right after words of a change of mind."""
    for revision in _REVISION.finditer(text, verdict.end):
        value = read_value(text, revision.start("number"), scale)
        if value and value.is_complete and (value.score, value.fault) != (verdict.score, verdict.fault):
            return True
    return False


def _ends_with_another(text: str, verdict: Value, scale: Scale) -> bool:
    last = _LAST_LINE.search(text, max(verdict.end, len(text) - _AFTER_CHARS))
    value = read_value(text, last.start("number"), scale) if last else None
    return value is not None and value.score not in {None, verdict.score}
