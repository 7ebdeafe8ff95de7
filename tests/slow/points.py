"""The instants at which a process is killed: each durable step and each outgoing call, before and after it."""

from dataclasses import dataclass

REPLY, SLOW, TEXTS, STEP = "reply", "slow", "texts", "step"


@dataclass(frozen=True)
class Point:
    """Before or after the `occurrence`-th call of a step, since the process was armed.

    `request` is how the case comes in: as a reply in a thread, or as two typed texts; a slow one is a reply for which
    the model takes so long that a placeholder stands in the thread. With a step it is a workflow's.
    """

    step: str
    when: str
    occurrence: int = 1
    request: str = REPLY

    def __str__(self) -> str:
        return f"{self.when}-{self.step}-{self.occurrence}-{self.request}"

    @classmethod
    def parse(cls, name: str) -> "Point":
        """The point with that name."""
        when, step, occurrence, request = name.split("-")
        return cls(step, when, int(occurrence), request)


def _around(step: str, occurrence: int = 1, request: str = REPLY) -> list[Point]:
    return [Point(step, when, occurrence, request) for when in ("before", "after")]


POINTS = [
    Point("Store.add", "after"),  # before it, nobody was told that there is a case
    *_around("ack"),
    *_around("conversations_replies"),
    *_around("Store.claim"),  # with what was found, and that a post begins
    *_around("chat_postMessage"),
    *_around("Judge.score"),
    *_around("Store.record"),  # with where our messages stand
    *_around("Store.note_delivered"),
    *_around("chat_postMessage", 1, SLOW),
    *_around("chat_update", 1, SLOW),
    *_around("chat_postMessage", 1, TEXTS),
    *_around("chat_postMessage", 2, TEXTS),
]

STEPS = [
    Point("Store.add", "after", request=STEP),
    *_around("ack", request=STEP),
    *_around("workflow.tell", request=STEP),
    *_around("Executions.note_completed", request=STEP),  # Slack has been told, and the log not
    *_around("Store.note_delivered", request=STEP),
]

BATCHES = [
    Point("Batches.upload", "after"),  # its requests are in a batch, and nothing says what became of it
    *_around("Batches.create"),
    Point("Batches.look", "after", 3),  # it has ended
    Point("Store.record", "before"),  # the answers are in the log
]
