"""What puts a score in doubt: words of the judge that deny it or state another one, or that decline
to judge.
"""

import re
from itertools import chain

from judge.scoring.answers import is_quoted
from judge.scoring.ratings import UnscoredReason
from judge.scoring.rubric import Scale

_END_OF_SENTENCE = re.compile(r"[.!?\n]")
_DIGIT = re.compile(r"[0-9]")
_SENTENCE_CHARS = 200
# Words of a sentence that denies a score, supposes one, or shows the format.
_DENIED = re.compile(
    r"\b(?:not|never|nor|no(?!,)|cannot|without|than|from|short|if|unless|could|might|had|would have|examples?|e\.g"
    r"|format|to (?:\w+ "
    r"){1,2}an?)\b|n't\b|\b(?:ask|beg|claim|demand|request|want)(?:s|ed|ing)? (?:for "
    r")?(?:an? )?\Z",
    re.IGNORECASE,
)
# "The correct score is 2", "the score drops to 0"; but "a score of 5 would need sources" only
# supposes one.
_ANOTHER = re.compile(
    r"\b(?P<name>(?:(?:total )?(?:score|rating|grade)|total)s?|rate)\b[^.\n0-9]{0,40}?"
    r"(?P<number>[0-9]{1,4}(?:\.[0-9]{1,4})?)(?![0-9])"
)
# Of these a decimal or a number off the scale is another score, too; "a rating of 4.7" may be a
# film's.
_OF_WHOLE = re.compile(
    r"\b(?:(?:the|total|final|overall|correct(?:ed)?|it) (?:score|rating|grade)s?|i rate)\Z"
)
_SUPPOSED = re.compile(r"\bwould\b")
_IN_TOTAL = r" points? (?:in total|overall)\b"
# A number that ends its clause, after words that lead up to a total ("I ... to", "Final:") or after
# none.
_UNLABELLED = re.compile(
    r"(?P<name>\bi\b[^.!?\n0-9]{0,60} (?:to|at|on|an?) |\bmy [a-z ]{1,20} is "
    r"|\b(?:it|this(?: answer)?|response|reply) "
    r"|\b(?:final|sum|total|overall|correct(?:ion|ed))(?: [a-z]{1,20})? "
    r"*[:=](?:[^\n]{0,30}=)?[ \"'(\[]*"
    r"|\b(?:therefore|thus|hence|so|overall)\b[^.!?\n0-9]{1,40}\b(?:receives?|gets?|earns?|deserves?) "
    r"(?:only |just )?(?=[0-9.]{1,4} points?\W*\Z)"
    r"|[.!?,\n] *[a-z]{2,10}, |[.!?] *\n\s{0,8}(?=[0-9/ ]{1,12}$)"
    rf"|(?<![\w.,/])(?=[0-9]{{1,4}}{_IN_TOTAL}))(?P<number>[0-9]{{1,4}}(?:\.[0-9]+)?)(?: "
    r"*(?:/|out of) *[0-9]{1,4})?"
    rf"(?:{_IN_TOTAL}| points?\W*\Z|[ \"')\]}}]*(?:[.!;](?![0-9])|$))",
    re.MULTILINE,
)
# "I can't evaluate this", "(could not judge)"; but "I cannot rate it higher" is a reason.
_DECLINED = re.compile(
    r"(?:can(?: ?not|'t)|could(?: not|n't)|unable to|not able to|n't have [^.!?\n]{1,40} "
    r"to) (?:\w+ly |\w+ an? )?(?:"
    r"judge|evaluate|assess|score|rat(?:e|ing)|grade|assist)\b(?![^.!?\n]{0,80}(?:[0-9]|\b(?:as|any|better|higher|more)\b))"
)
_BY_JUDGE = re.compile(r"(?:(?<!')\b(?:i|we)\b(?: am| do|'m|'re)?|\A|[.!?(\n]|\([a-z]+,)\s*\Z")
_TOP = re.compile(
    r"scale (?<=\ba scale )[^.\n0-9]{0,12}[0-9]+ *(?:to|-) *([0-9]+)|\"(?:max(?: "
    r"score)?|out of)\": *([0-9]+)"
    r"|\"(?:score|rating)\": *null\b"
)


def denies(line: str) -> bool:
    """Whether the last sentence of `line` denies a score, supposes one, or shows the format."""
    return bool(_DENIED.search(_END_OF_SENTENCE.split(line)[-1]))


def disclaimer(text: str, scale: Scale, response: str) -> UnscoredReason | None:
    """Why no score counts: the judge says that it cannot judge, or names another scale.

    `response` is packed.
    """
    is_json = text[0] == "{"
    text = text.lower()
    if any((top[1] or top[2]) != str(scale.high) for top in _TOP.finditer(text)):
        return UnscoredReason.OFF_SCALE
    for said in _DECLINED.finditer(text):
        before = text[max(0, said.start() - _SENTENCE_CHARS) : said.start()]
        is_own = is_json or before[before.rfind("\n") + 1 :].count('"') % 2 == 0
        if is_own and _BY_JUDGE.search(before) and not is_quoted(said[0], response):
            return UnscoredReason.REFUSED
    return None


def is_taken_back(text: str, start: int, end: int, score: int, scale: Scale, response: str) -> bool:
    """Whether the judge states another total, or a label after the score does, and quotes nobody;
    see `disclaimer`.
    """
    # Another total may stand before the score, without a label; a label counts only after it.
    head = f".\n{text[:start].lower()}."
    text = head + text[end:].lower()
    if not _DIGIT.search(text):
        return False
    others = chain(_ANOTHER.finditer(text, len(head)), _UNLABELLED.finditer(text))
    return any(
        float(other["number"]) != score
        and _states_total(text, other, scale)
        and not is_quoted(other[0], response)
        for other in others
    )


def _states_total(text: str, other: re.Match[str], scale: Scale) -> bool:
    """Whether the words around a number, which may be another score, mean it as the judge's own."""
    before = text[max(0, other.start() - _SENTENCE_CHARS) : other.start("number")]
    if denies(before):
        return False
    number = float(other["number"])
    is_on_scale = scale.low <= number <= scale.high
    if other.re is _UNLABELLED:
        return is_on_scale or _is_of_whole(text, other)
    is_usual = is_on_scale and number.is_integer() and other["name"] != "rate"
    after = _END_OF_SENTENCE.split(text[other.end() : other.end() + _SENTENCE_CHARS])[0]
    sentence = _END_OF_SENTENCE.split(before)[-1] + after
    return (is_usual or _is_of_whole(text, other)) and not _SUPPOSED.search(sentence)


def _is_of_whole(text: str, other: re.Match[str]) -> bool:
    return bool(_OF_WHOLE.search(text[max(0, other.start() - 12) : other.end("name")]))
