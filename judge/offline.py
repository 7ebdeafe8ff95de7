"""A rater without a model: a handful of lexical features, to try things without a key and as the baseline
to beat.

It knows nothing of what is true. It sees whether the response speaks of what was asked, how long and how
ordered it is, whether it repeats itself, and whether it declines to answer; the points are added as in the
prompt.
"""

import re
from dataclasses import dataclass

from judge.ratings import Rating
from judge.rubric import Scale

OFFLINE = "offline"

# One token a character where writing has no spaces between words.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_SENTENCE = re.compile(r"[^.!?。！？\n]{12,}")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s", re.MULTILINE)
_DECLINES = re.compile(
    r"\b(?:i (?:can(?:no|')t|am (?:not able|unable) to|won't|don't know)|i'm (?:sorry|not able|unable)"
    r"|as an ai)\b",
    re.IGNORECASE,
)
_COMMON = frozenset(
    """
    a about an and any are as at be been but by can could did do does explain for from get give had has
    have he her him his how i if in into is it its just let like make me my need no not of on one or our
    out please should so some tell than that the their them then there these they this to up use was way
    we were what when where which who why will with would write you your
    """.split()  # noqa: SIM905 - eighty quoted words would hide the list
)
_ENOUGH_WORDS = 25
_FULL_WORDS = 80
_RAMBLING_WORDS = 600


@dataclass(frozen=True)
class Features:
    """What the rater sees of a response."""

    asked: int
    answered: int
    words: int
    sentences: int
    repeated: int
    list_items: int
    declines: bool

    @property
    def coverage(self) -> float:
        """Share of the question's content words that the response takes up; 1 when there are none."""
        return self.answered / self.asked if self.asked else 1.0


def rate_offline(question: str, response: str, scale: Scale) -> Rating:
    """A deterministic rating of `response` on `scale`, from the words alone."""
    seen = features(question, response)
    share = _points(seen) / 5
    score = round(scale.low + share * (scale.high - scale.low))
    justification = f"Offline rater (no model): {_describe(seen)}"
    return Rating(score=score, justification=justification, raw=justification, model=OFFLINE)


def features(question: str, response: str) -> Features:
    """Counts what the rater looks at; nothing but words and lines."""
    asked = _content_stems(question)
    sentences = [" ".join(_WORD.findall(sentence.lower())) for sentence in _SENTENCE.findall(response)]
    return Features(
        asked=len(asked),
        answered=len(asked & _content_stems(response)),
        words=len(_WORD.findall(response)),
        sentences=len(sentences),
        repeated=len(sentences) - len(set(sentences)),
        list_items=len(_LIST_ITEM.findall(response)),
        declines=bool(_DECLINES.search(response[:300])),
    )


def _content_stems(text: str) -> set[str]:
    """First five letters of each content word: enough that "judging" meets "judges"."""
    return {word[:5] for word in _WORD.findall(text.lower()) if word not in _COMMON}


def _points(seen: Features) -> int:
    if seen.repeated > 2 or seen.repeated * 3 > seen.sentences:
        return 0
    if seen.declines:
        return 1 if seen.words >= _ENOUGH_WORDS else 0
    is_relevant = seen.coverage > 0
    is_full = seen.words >= _FULL_WORDS and seen.coverage >= 0.3
    is_ordered = seen.sentences >= 3 or seen.list_items >= 2
    return sum(
        (
            is_relevant or seen.words >= _ENOUGH_WORDS,
            is_relevant and seen.coverage >= 0.2,
            seen.words >= _ENOUGH_WORDS,
            is_full and is_ordered,
            is_full and seen.coverage >= 0.6 and seen.words <= _RAMBLING_WORDS,
        )
    )


def _describe(seen: Features) -> str:
    parts = [
        f"the response takes up {seen.answered} of {_some(seen.asked, 'content word')} in the question",
        f"has {_some(seen.words, 'word')} in {_some(seen.sentences, 'sentence')}"
        + (f" with {_some(seen.list_items, 'list item')}" if seen.list_items else ""),
        f"repeats {_some(seen.repeated, 'sentence')}" if seen.repeated else "repeats nothing",
    ]
    declines = ", and begins by declining to answer" if seen.declines else ""
    return f"{', '.join(parts)}{declines}. Whether it is true cannot be seen this way."


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
