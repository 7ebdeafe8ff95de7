"""What to write into an assistant's sources: the questions that went badly, those that are alike
together.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.domain.outcome import Sign
from bot.domain.questions import Question
from bot.features.topics.counts import SortedQuestion
from bot.features.topics.queries import SortedReply
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
class Asked:
    """A question, its topic, its words if they are known, and why it went badly; empty if it did
    not.
    """

    question: Question
    topic: str
    text: str
    reply: SortedReply | None
    why: Sequence[str]

    @property
    def is_well_answered(self) -> bool:
        return self.reply is not None and self.reply.is_good and not self.why


@dataclass(frozen=True)
class Alike:
    """Questions in the same words, the newest first, of which at least one went badly."""

    text: str
    asked: Sequence[Asked]

    @property
    def bad(self) -> Sequence[Asked]:
        return [each for each in self.asked if each.why]

    @property
    def well(self) -> int:
        return sum(each.is_well_answered for each in self.asked)


@dataclass(frozen=True)
class Gap:
    """A topic about which something is to be written: all its questions, and those to write about,
    the most frequent first.
    """

    topic: str
    asked: Sequence[Asked]
    groups: Sequence[Alike]

    @property
    def bad(self) -> int:
        return sum(bool(each.why) for each in self.asked)

    @property
    def well(self) -> int:
        return sum(each.is_well_answered for each in self.asked)


def to_asked(questions: Sequence[SortedQuestion]) -> list[Asked]:
    """The questions with their words, and why they went badly, in the same order."""
    found = list[Asked]()
    for question in questions:
        reply = question.reply
        text = without_mention(reply.question or "") if reply else ""
        why = [words for sign, words in WORDS.items() if sign in question.signs]
        if reply and reply.is_low:
            why.append(LOW)
        found.append(Asked(question.question, question.topic, text, reply, why))
    # The words of one without an answer are not stored, but those of another may be the same.
    known = {each.question.text_hash: each.text for each in found if each.text}
    known[None] = ""
    return [
        replace(each, text=each.text or known.get(each.question.text_hash, "")) for each in found
    ]


def without_mention(text: str) -> str:
    """A question without the assistant's id before it, which is no word of it."""
    return _MENTION.sub("", text)


def to_gaps(asked: Sequence[Asked]) -> list[Gap]:
    """The topics to write about, that with the most bad questions first, and what has none last."""
    gaps = list[Gap]()
    for topic, of_topic in grouped((each.topic, each) for each in asked).items():
        alike = grouped((_words(each), each) for each in of_topic)
        groups = [Alike(each[0].text, each) for each in alike.values()]
        to_write = [group for group in groups if group.bad]
        to_write.sort(key=lambda group: (-len(group.bad), -len(group.asked)))
        if to_write:
            gaps.append(Gap(topic, of_topic, to_write))
    return sorted(gaps, key=lambda gap: (gap.topic == OTHER, -gap.bad))


def _words(asked: Asked) -> str:
    """The same for questions in the same words, whatever their case and blanks."""
    words = " ".join(asked.text.casefold().split())
    return words or asked.question.text_hash or asked.question.ts
