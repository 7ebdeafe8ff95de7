"""A watch: a channel's standing order to score a share of one assistant's replies by itself."""

import hmac
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

MOST_OF_A_QUESTION = 5
"""So many of an assistant's replies to one question, which a thread has, are scored in a day; the others are `OVER`."""
PER_DAY = 50
"""So many are scored in a day at most, where nobody has said otherwise."""
MOST_PEOPLE = 5
"""So many hear of a watch at most, besides its channel."""


class Shows(StrEnum):
    """What a channel sees of a reply that its watch has scored; the digest counts it in any case."""

    NOTHING = "nothing"
    REACTION = "reaction"
    VERDICT = "verdict"


class ReplyOutcome(StrEnum):
    """What has become of a reply that a watch has seen.

    `PASSED`: it was not drawn. `TAKEN`: it is a case. `NO_ANSWER`: it was drawn and answers nobody, or has no words.
    `DELETED`: it was drawn, and deleted before it could be scored. `EDITED`: it was drawn, and its question was edited
    after it.
    `OVER`: it was drawn, and a limit of that day was used up. `MISSED`: it was drawn, and has no
    score: it could not be read or judged in time, or the judge gave none.
    """

    PASSED = "passed"
    TAKEN = "taken"
    NO_ANSWER = "no_answer"
    DELETED = "deleted"
    EDITED = "edited"
    OVER = "over"
    MISSED = "missed"


@dataclass(frozen=True)
class Watch:
    """Which replies are scored, and what is shown of that.

    Attributes:
        author_id: The assistant, as its messages name it: a user id, or a bot id.
        share: The part of its replies that is drawn, above 0 and up to 1.
        since: When it was begun; replies that were written before are none of its own.
        per_day: How many are scored in a day at most; 0 is no limit.
        alerts_to: Who hears when it gets worse: the channel, people, or both, by id.
        floor: They hear, too, when the mean is clearly below this; None where nothing is wished for.
    """

    team_id: str
    channel_id: str
    author_id: str
    since: datetime
    share: float = 1.0
    per_day: int = PER_DAY
    shows: Shows = Shows.NOTHING
    alerts_to: tuple[str, ...] = ()
    floor: float | None = None


@dataclass(frozen=True)
class Unread:
    """A watched channel that could not be read for an hour: up to when it was, and Slack's word for why it is not."""

    since: datetime
    reason: str


LATE = timedelta(days=1)
"""What could not be scored for so long is missed: it would stand among later ones as if it were as fresh."""


def age_of(ts: str, now: datetime) -> timedelta:
    return now - datetime.fromtimestamp(float(ts), UTC)


def is_since(watch: Watch, ts: str) -> bool:
    """Whether the message of that time was written since the watch was begun; others are none of its own."""
    return float(ts) >= watch.since.timestamp()


def draws(watch: Watch, ts: str, key: bytes) -> bool:
    """Whether the reply of that time is in the watch's share.

    It follows from the message and the installation's key: a redelivery, a restart and a second process draw the same,
    and who writes the reply cannot tell, and polish what is scored.
    """
    place = f"{watch.team_id}/{watch.channel_id}/{ts}"
    number = int.from_bytes(hmac.digest(key, place.encode(), "sha256")[:8], "big")
    return number < watch.share * 2**64


@dataclass(frozen=True)
class SeenReply:
    """A reply of a watched assistant; `text_hash` is that of its words, and None while it is still being written."""

    team_id: str
    channel_id: str
    ts: str
    author_id: str
    parent_ts: str | None
    text_hash: str | None

    @property
    def day(self) -> str:
        """On which it was written, in UTC, for instance 2026-11-22."""
        return f"{datetime.fromtimestamp(float(self.ts), UTC):%Y-%m-%d}"


@dataclass(frozen=True)
class Used:
    """What watched replies of a day have used up of that day's limits.

    Attributes:
        replies: How many of the assistant's are scored.
        of_question: How many of these answer the same question.
        tokens: What all of the channel took, whosever they are.
    """

    replies: int
    of_question: int
    tokens: int


@dataclass(frozen=True)
class Coverage:
    """What has become of an assistant's replies, those of a day or of many.

    Attributes:
        outcomes: How many have which; None are those that wait.
    """

    outcomes: Mapping[ReplyOutcome | None, int]

    @property
    def seen(self) -> int:
        return sum(self.outcomes.values())

    @property
    def lost(self) -> int:
        return self.outcomes.get(ReplyOutcome.OVER, 0) + self.outcomes.get(ReplyOutcome.MISSED, 0)

    @property
    def deleted(self) -> int:
        return self.outcomes.get(ReplyOutcome.DELETED, 0)

    @property
    def is_trusted(self) -> bool:
        """Whether at most one in ten of what was drawn was deleted: the others stand for those only by chance."""
        return 10 * self.deleted <= self.seen - self.outcomes.get(ReplyOutcome.PASSED, 0)

    @property
    def share(self) -> float:
        """The part of what was drawn that was read, and scored if it answered anybody; 1 where nothing was drawn."""
        read = self.outcomes.get(ReplyOutcome.TAKEN, 0) + self.outcomes.get(ReplyOutcome.NO_ANSWER, 0)
        return read / (read + self.lost) if read else 1.0


def together(days: Iterable[Coverage]) -> Coverage:
    total = Counter[ReplyOutcome | None]()
    for each in days:
        total.update(each.outcomes)
    return Coverage(total)
