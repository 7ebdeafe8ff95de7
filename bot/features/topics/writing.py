"""What to write into an assistant's sources: the questions that went badly, those that are alike
together.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.domain.outcome import Sign
from bot.features.topics.counts import SortedQuestion
from bot.figures.quality import grouped
from judge.evaluation.naming import OTHER

WORDS = {
    Sign.UNANSWERED: "unanswered",
    Sign.CONTESTED: "contested",
    Sign.COLLEAGUE: "colleague joined",
}
"""The signs that a question went badly, besides a low score, in short."""
LOW = "low score"
_MENTION = re.compile(r"\A\s*@[UW][A-Z0-9]+[,:]?\s*")


@dataclass(frozen=True)
class _Several:
    """Questions, the newest first."""

    asked: Sequence[SortedQuestion]

    @property
    def bad(self) -> Sequence[SortedQuestion]:
        return [each for each in self.asked if why(each)]

    @property
    def well(self) -> int:
        good = [each for each in self.asked if each.reply and each.reply.is_good]
        return len([each for each in good if not why(each)])


@dataclass(frozen=True)
class Alike(_Several):
    """Questions in the same words, if those are known, of which at least one went badly."""

    text: str


@dataclass(frozen=True)
class Gap(_Several):
    """The questions on a topic, and those to write about, the most frequent first."""

    topic: str
    groups: Sequence[Alike]


def why(question: SortedQuestion) -> list[str]:
    """Why it went badly; empty if it did not."""
    reasons = [words for sign, words in WORDS.items() if sign in question.signs]
    if question.reply and question.reply.is_low:
        reasons.append(LOW)
    return reasons


def without_mention(text: str) -> str:
    """A question without the assistant's id before it, which is no word of it."""
    return _MENTION.sub("", text)


def to_gaps(questions: Sequence[SortedQuestion]) -> list[Gap]:
    """The topics to write about, that with the most bad questions first, and what has none last."""
    # The words of one without an answer are not stored, but those of another may be the same.
    known = {each.question.text_hash: _stored(each) for each in questions if _stored(each)}
    known[None] = ""
    gaps = list[Gap]()
    for topic, of_topic in grouped((each.topic, each) for each in questions).items():
        if to_write := [group for group in _alike(of_topic, known) if group.bad]:
            to_write.sort(key=lambda group: (-len(group.bad), -len(group.asked)))
            gaps.append(Gap(of_topic, topic, to_write))
    return sorted(gaps, key=lambda gap: (gap.topic == OTHER, -len(gap.bad)))


def _alike(questions: Sequence[SortedQuestion], known: Mapping[str | None, str]) -> Sequence[Alike]:
    """Those in the same words together, whatever their case and blanks."""
    groups = defaultdict[str, list[SortedQuestion]](list)
    texts = dict[str, str]()
    for each in questions:
        text = _stored(each) or known.get(each.question.text_hash, "")
        words = " ".join(text.casefold().split())
        key = words or each.question.text_hash or each.question.ts
        groups[key].append(each)
        texts.setdefault(key, text)
    return [Alike(asked, texts[key]) for key, asked in groups.items()]


def _stored(asked: SortedQuestion) -> str:
    return without_mention(asked.reply.question or "") if asked.reply else ""
