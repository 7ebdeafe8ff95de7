"""A rater without a model: it counts words, to try the judge without a key and as the baseline to
beat.

It cannot tell what is true. It sees how much of the question the response mentions, how much it
says and in how many sentences, and whether it repeats itself, repeats the question or declines; the
points are added up as in the prompt. The thresholds were chosen to agree with people on the
responses to half of the prompts in OASST2, all English; `bench/offline_report.py` measures both
halves.
"""

import re
from collections.abc import Iterator

from judge.scoring.numbers import number_of
from judge.scoring.ratings import Rating
from judge.scoring.rubric import DEFAULT_RUBRIC, Scale

OFFLINE = "offline"

_MAX_POINTS = 5
# shares of the question's content words
_ON_TOPIC = 0.1
_MUCH_OF_IT = 1 / 3
# different words in the response
_SOME_WORDS = 30
_MANY_WORDS = 60
_COMPARABLE = 3  # with fewer content words, a question is too short to tell what is off topic
_OPENING = 120  # a refusal shows within these characters

# Chinese and Japanese put no spaces between words, and Korean adds endings to them, so there any
# two neighbouring characters are a word. Hiragana is mostly grammar, so no word begins with it.
_KANA = r"\u3040-\u309f"
_DENSE = r"\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PAIR = re.compile(rf"(?=([{_DENSE}][{_KANA}{_DENSE}]))")
_STEM = re.compile(rf"([^\W_{_KANA}{_DENSE}]{{1,5}})[^\W_{_KANA}{_DENSE}]*")
_SENTENCE_END = re.compile(r"[.!?…؟।。！？\n](?:\s+|$|(?<=[。！？\n]))")
_DECLINES = re.compile(
    r"\bi(?:['’]?m| am)? (?:can['’]?t|cannot|can not|won['’]?t|don['’]?t know|do not "
    r"know|unable|not able|not sure)\b"
)
_COMMON = frozenset(
    word[:5]
    for word in """
    about and any are but can could did does explain for from get give had has have her him his how its just let like
    make need not one our out please should some tell than that the their them then there these they this use was way
    were what when where which who why will with would write you your
    """.split()  # noqa: SIM905 - seventy quoted words would hide the list
)


class _Words:
    """What is counted of a question and its response."""

    def __init__(self, question: str, response: str) -> None:
        self.text = response.strip().lower()
        self.words = _stems(self.text)
        self.used = set(self.words)
        self.known = set(_stems(question.lower()))
        content = self.known - _COMMON
        self.asked = {stem for stem in content if len(stem) > 2 or _PAIR.match(stem)}
        self.taken_up = len(self.asked & self.used)
        self.coverage = self.taken_up / len(self.asked) if self.asked else 0.0
        sentences = _SENTENCE_END.split(self.text)[:-1]
        self.sentences = [sentence for sentence in sentences if len(sentence) > 2]

    def awards(self) -> Iterator[tuple[int, str]]:
        """The points for relevance, substance and sentences, each with what they are for."""
        used = len(self.used)
        asked = number_of(len(self.asked), "content word")
        relevance = (self.coverage >= _ON_TOPIC) + (self.coverage >= _MUCH_OF_IT)
        # A question of one or two content words tells too little, so a longer response gets the
        # benefit of the doubt.
        if not relevance and len(self.asked) < _COMPARABLE and used >= _SOME_WORDS:
            yield 1, f"its length (the question has {asked}, too few to compare with)"
        else:
            yield relevance, f"using {self.taken_up} of {asked} in the question"
        substance = (used >= _SOME_WORDS) + (used >= _MANY_WORDS)
        yield substance, f"its {number_of(used, 'different word')}"
        finished = len(self.sentences)
        yield int(finished >= 2), f"its {number_of(finished, 'finished sentence')}"

    def limit(self) -> tuple[int, str]:
        """The most points that it can get, and why."""
        used = len(self.used)
        finished = len(self.sentences)
        is_repeated = 2 * (finished - len(set(self.sentences))) >= max(finished, 1)
        if is_repeated or (used < _SOME_WORDS and len(self.words) > 4 * used):
            return 0, "; none, because it repeats itself"
        if self.coverage > 0.7 and len(self.used - self.known) * 10 < used:
            return 0, "; none, because it repeats the question"
        if len(self.asked) >= _COMPARABLE and self.coverage < _ON_TOPIC:
            return 1, "; at most 1, because it hardly mentions what was asked"
        if used < _MANY_WORDS and _DECLINES.search(self.text, 0, _OPENING):
            return 1, "; at most 1, because it begins by declining to answer"
        return _MAX_POINTS, ""


def rate_offline(
    question: str, response: str, scale: Scale, rubric: str = DEFAULT_RUBRIC
) -> Rating:
    """A deterministic rating of `response` on `scale`, from the words alone; the justification
    names each point.

    It ignores what the rubric asks for, and says so for any rubric except the default one. Words
    count as the same if they begin with the same five letters.
    """
    words = _Words(question, response)
    awards = [*words.awards()]
    most, because = words.limit()
    points = min(sum(award for award, _ in awards), most)
    score = round(scale.low + points / _MAX_POINTS * (scale.high - scale.low))
    listed = ", ".join(f"{award} for {what}" for award, what in awards)
    justification = (
        f"{points} of {_MAX_POINTS} points: {listed}{because}. This counts words, and cannot tell "
        "whether the response is true."
    )
    if rubric != DEFAULT_RUBRIC:
        justification += f" It ignores the rubric {rubric!r} except for its scale."
    return Rating(
        score=score, justification=justification, raw=justification, model=OFFLINE, cost_usd=0.0
    )


def _stems(text: str) -> list[str]:
    stems: list[str] = _STEM.findall(text)
    if not text.isascii():
        stems += _PAIR.findall(text)
    return stems
