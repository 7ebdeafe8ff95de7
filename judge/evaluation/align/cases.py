"""Labelled responses, and their split into cases to learn from and cases to test on."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from judge.scoring.conversation import Turn


@dataclass(frozen=True)
class LabelledCase:
    id: str  # also in examples: a case's number, or a digest of its texts
    thread: str  # shared with cases that are not independent of it
    question: str
    response: str
    label: float  # the mean of people's scores, on the rubric's scale
    reasons: tuple[str, ...] = ()
    people: tuple[str, ...] = ()  # who gave the scores, as far as known
    is_blind: bool = True  # whether they had not seen the judge's score
    name: str = ""  # in reports, if that is not its id
    conversation: tuple[Turn, ...] = ()  # the turns before the question
    # a digest of its texts that blanks and case do not change, if it may come in several files
    content: str = ""
    reference: str = ""

    @property
    def called(self) -> str:
        return self.name or self.id

    @property
    def key(self) -> str:
        """What its part is remembered by."""
        return self.content or to_digest(self.thread)

    @property
    def digest(self) -> str:
        before = (f"{each.role}: {each.text}" for each in self.conversation)
        return to_digest(self.question, self.response, *before, *filter(None, [self.reference]))


def to_digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def threads_of(cases: Iterable[LabelledCase]) -> set[str]:
    return {each.thread for each in cases}


def divide(cases: Iterable[LabelledCase], known: Mapping[str, bool]) -> dict[str, bool]:
    """Whether the thread of each case belongs to the test part, by the case's key; those in `known`
    stay there.

    New threads are dealt out in the order of their hash. Three of five go to the test part, because
    a gain must stand out from chance there. So the operator cannot choose what is tested, and no
    thread that was learned from is ever tested on.
    """
    keys = defaultdict[str, set[str]](set)
    for each in cases:
        keys[each.thread].add(each.key)
    parts, found = list[bool](), dict[str, bool]()
    for own in sorted(keys.values(), key=lambda each: (each.isdisjoint(known), min(each))):
        earlier = [known[key] for key in own if key in known]
        parts.append(all(earlier) if earlier else sum(parts) < 0.6 * (len(parts) + 1))
        found |= dict.fromkeys(own, parts[-1])
    return found
