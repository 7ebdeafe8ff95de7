"""Labelled responses, and the line between those to learn from and those to test on."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

_TEST_SHARE = 0.6


@dataclass(frozen=True)
class LabelledCase:
    """A question and a response with what people gave it.

    Attributes:
        id: What it is called in examples, and known by: a case's number, or a digest of its texts.
        thread: What it shares with others that are not independent of it.
        label: The mean of the people's scores, on the rubric's scale.
        reasons: Those that people gave for their scores.
        people: Who gave them, as far as that is known.
        is_blind: Whether the judge's score was unknown to them.
        name: What it is called in reports, where that is not its id.
    """

    id: str
    thread: str
    question: str
    response: str
    label: float
    reasons: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    is_blind: bool = True
    name: str = ""

    @property
    def called(self) -> str:
        return self.name or self.id

    @property
    def digest(self) -> str:
        """What its texts are known by."""
        return to_digest(self.question, self.response)


def to_digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def threads_of(cases: Iterable[LabelledCase]) -> set[str]:
    return {each.thread for each in cases}


def divide(threads: Collection[str], known: Mapping[str, bool]) -> dict[str, bool]:
    """Whether each thread belongs to the test part; those that are `known` stay where they are, by `to_digest`.

    New ones are dealt out in the order of their hash, three of five to the test part, which is where a gain has to show
    in spite of chance. So nobody can choose what is tested, and no thread that was learnt from is ever tested on.
    """
    parts = dict(known)
    for thread in sorted(map(to_digest, threads)):
        if thread not in parts:
            parts[thread] = sum(parts.values()) < _TEST_SHARE * (len(parts) + 1)
    return parts


def split(
    cases: Sequence[LabelledCase], parts: Mapping[str, bool]
) -> tuple[Sequence[LabelledCase], Sequence[LabelledCase]]:
    """The cases to learn from, and those to test on."""
    tested = [each for each in cases if parts[to_digest(each.thread)]]
    return [each for each in cases if not parts[to_digest(each.thread)]], tested
