"""The points at which a process is killed: before and after each durable step and each outgoing
call.
"""

from dataclasses import dataclass

REPLY = "reply"
SLOW = "slow"
TEXTS = "texts"


@dataclass(frozen=True)
class Point:
    """Before or after the `occurrence`-th call of a step, counted from when the process was armed.

    `request` is how the case comes in: REPLY, a reply in a thread; SLOW, a reply for which the
    model takes so long that a placeholder is posted in the thread; TEXTS, two typed texts.
    """

    step: str
    when: str
    occurrence: int = 1
    request: str = REPLY

    def __str__(self) -> str:
        return f"{self.when}-{self.step}-{self.occurrence}-{self.request}"

    @classmethod
    def parse(cls, name: str) -> "Point":
        """The point with this name, as `str` gives it."""
        when, step, occurrence, request = name.split("-")
        return cls(step, when, int(occurrence), request)


def _around(step: str, occurrence: int = 1, request: str = REPLY) -> list[Point]:
    return [Point(step, when, occurrence, request) for when in ("before", "after")]


POINTS = [
    Point("Store.add", "after"),  # before it, the requester has not been told of a case
    *_around("ack"),
    *_around("conversations_replies"),
    *_around("Store.claim"),  # takes the case for this attempt
    *_around("chat_postMessage"),
    *_around("Judge.score"),
    *_around("Store.record"),  # writes the verdict and the intent to post
    *_around("Store.note_delivered"),
    *_around("chat_postMessage", 1, SLOW),
    *_around("chat_update", 1, SLOW),
    *_around("chat_postMessage", 1, TEXTS),
    *_around("chat_postMessage", 2, TEXTS),
]
