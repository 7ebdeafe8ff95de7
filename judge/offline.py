"""A rater without a model: a few counts of words, to try things without a key and as the baseline to beat.

It knows nothing of what is true. It sees how much of the question the response takes up, how much it says and in how
many sentences, and whether it repeats itself, hands the question back or declines; the points are added up as in the
prompt. The thresholds were chosen by what people thought of the responses to half of the prompts in OASST2, which is
in English; `bench/offline_report.py` measures both halves.
"""

import re
from dataclasses import dataclass

from judge.ratings import Rating
from judge.rubric import DEFAULT_RUBRIC, Scale

OFFLINE = "offline"

_MAX_POINTS = 5
_ON_TOPIC, _MUCH_OF_IT = 0.1, 1 / 3  # shares of the question's content words
_SOME_WORDS, _MANY_WORDS = 30, 60  # different words in the response
_COMPARABLE = 3  # content words without which a question is too short to tell what is off topic
_OPENING = 120  # characters in which a refusal shows

# Chinese and Japanese put no spaces between words and Korean hangs endings on them, so there any two neighbours are a
# word. Hiragana is mostly grammar: no word begins with it.
_KANA, _DENSE = r"\u3040-\u309f", r"\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PAIR = re.compile(rf"(?=([{_DENSE}][{_KANA}{_DENSE}]))")
_STEM = re.compile(rf"([^\W_{_KANA}{_DENSE}]{{1,5}})[^\W_{_KANA}{_DENSE}]*")
_SENTENCE_END = re.compile(r"[.!?…؟।。！？\n](?:\s+|$|(?<=[。！？\n]))")
_DECLINES = re.compile(
    r"\bi(?:['’]?m| am)? (?:can['’]?t|cannot|can not|won['’]?t|don['’]?t know|do not know|unable|not able|not sure)\b"
)
_COMMON = frozenset(
    word[:5]
    for word in """
    about and any are but can could did does explain for from get give had has have her him his how its just let like
    make need not one our out please should some tell than that the their them then there these they this use was way
    were what when where which who why will with would write you your
    """.split()  # noqa: SIM905 - seventy quoted words would hide the list
)


@dataclass(frozen=True)
class Features:
    """What the rater sees of a response. Words count as the same when they begin with the same five letters."""

    asked: int
    answered: int
    words: int
    different: int
    fresh: int
    sentences: int
    repeated: int
    declines: bool

    @property
    def coverage(self) -> float:
        """Share of the question's content words that the response takes up; 0 when there are none."""
        return self.answered / self.asked if self.asked else 0.0

    @property
    def is_repetitive(self) -> bool:
        has_few_words = self.different < _SOME_WORDS and self.words > 4 * self.different
        return has_few_words or self.repeated * 2 >= max(self.sentences, 1)


def rate_offline(question: str, response: str, scale: Scale, rubric: str = DEFAULT_RUBRIC) -> Rating:
    """A deterministic rating of `response` on `scale`, from the words alone; the justification names each point.

    It counts the same whatever the rubric asks for, and says so of any but the default one.
    """
    seen = features(question, response)
    awards = _awards(seen)
    most, because = _ceiling(seen)
    points = min(sum(points for points, _ in awards), most)
    score = round(scale.low + points / _MAX_POINTS * (scale.high - scale.low))
    unread = "" if rubric == DEFAULT_RUBRIC else f" The rubric {rubric!r} was not read: only its scale counts here."
    justification = (
        f"Offline rater (no model): {points} of {_MAX_POINTS} points. The response gets "
        f"{', '.join(f'{points} for {what}' for points, what in awards)}{because}. "
        f"Whether it is true cannot be seen this way.{unread}"
    )
    return Rating(score=score, justification=justification, raw=justification, model=OFFLINE)


def features(question: str, response: str) -> Features:
    """Counts what the rater looks at; nothing but words and the ends of sentences and lines."""
    text = response.strip().lower()
    words, known = _stems(text), set(_stems(question.lower()))
    used = set(words)
    asked = {stem for stem in known - _COMMON if len(stem) > 2 or _PAIR.match(stem)}
    finished = [sentence for sentence in _SENTENCE_END.split(text)[:-1] if len(sentence) > 2]
    return Features(
        asked=len(asked),
        answered=len(asked & used),
        words=len(words),
        different=len(used),
        fresh=len(used) - len(used & known),
        sentences=len(finished),
        repeated=len(finished) - len(set(finished)),
        declines=_DECLINES.search(text, 0, _OPENING) is not None,
    )


def _stems(text: str) -> list[str]:
    stems: list[str] = _STEM.findall(text)
    if not text.isascii():
        stems += _PAIR.findall(text)
    return stems


def _awards(seen: Features) -> tuple[tuple[int, str], ...]:
    relevance = (seen.coverage >= _ON_TOPIC) + (seen.coverage >= _MUCH_OF_IT)
    taken_up = f"taking up {seen.answered} of {_some(seen.asked, 'content word')} in the question"
    # A question of one or two content words tells too little; then a response of some length has the benefit of doubt.
    if not relevance and seen.asked < _COMPARABLE and seen.different >= _SOME_WORDS:
        relevance = 1
        taken_up = f"its length (the question has {_some(seen.asked, 'content word')}, too few to compare with)"
    substance = (seen.different >= _SOME_WORDS) + (seen.different >= _MANY_WORDS)
    return (
        (relevance, taken_up),
        (substance, f"its {_some(seen.different, 'different word')}"),
        (int(seen.sentences >= 2), f"its {_some(seen.sentences, 'finished sentence')}"),
    )


def _ceiling(seen: Features) -> tuple[int, str]:
    """The most points that the response can have, and why where that is not all of them."""
    if seen.is_repetitive:
        return 0, "; none, since it says the same over and over"
    if seen.coverage > 0.7 and seen.fresh * 10 < seen.different:
        return 0, "; none, since it hands the question back"
    if seen.asked >= _COMPARABLE and seen.coverage < _ON_TOPIC:
        return 1, "; at most 1, since it hardly speaks of what was asked"
    if seen.declines and seen.different < _MANY_WORDS:
        return 1, "; at most 1, since it begins by declining to answer"
    return _MAX_POINTS, ""


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
