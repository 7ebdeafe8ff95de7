"""A watch: a channel's standing order to score a share of one assistant's replies by itself."""

import hmac
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

MOST_OF_A_QUESTION = 5
"""At most this many replies of an assistant to one question are scored a day; the others become `OVER`."""
PER_DAY = 50
"""At most this many replies are scored a day by default."""
AGAIN = ":2"
"""The end of a case's key if it is the second of a reply that a watch drew, because the reply went on."""
MOST_PEOPLE = 5
"""At most this many people are alerted by a watch, besides its channel."""


class Shows(StrEnum):
    """What a channel sees of a reply that its watch has scored; the digest counts it in any case."""

    NOTHING = "nothing"
    REACTION = "reaction"
    VERDICT = "verdict"


class ReplyOutcome(StrEnum):
    """What happened to a reply that a watch has seen.

    `PASSED`: it was not drawn. `PART`: it is part of another reply, which stands for it.
    `TAKEN`: it became a case. All others were drawn. `NO_ANSWER`: it answers no one, or has
    no words. `DELETED`: it was deleted before it could be scored. `EDITED`: its question was edited after it. `OVER`: a
    limit of that day was used up. `MISSED`: it has no score, because it could not be read or judged in time, or the
    judge gave none.
    """

    PASSED = "passed"
    PART = "part"
    TAKEN = "taken"
    NO_ANSWER = "no_answer"
    DELETED = "deleted"
    EDITED = "edited"
    OVER = "over"
    MISSED = "missed"


@dataclass(frozen=True)
class Watch:
    """Which replies are scored, and what is shown of the scores.

    Attributes:
        author_id: The assistant, as its messages name it: a user id, or a bot id.
        share: The part of its replies that is drawn, above 0 and up to 1.
        since: When the watch began; it ignores replies that were written earlier.
        per_day: At most this many replies are scored a day; 0 is no limit.
        alerts_to: Who is told when the replies get worse: the channel, people, or both, by id.
        floor: They are also told when the mean is clearly below this; None for no floor.
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
    """A watched channel that could not be read for an hour: up to when it was read, and Slack's error since then."""

    since: datetime
    reason: str


LATE = timedelta(days=1)
"""A reply not scored for this long is missed, because among later ones it would look as fresh as they are."""


def age_of(ts: str, now: datetime) -> timedelta:
    return now - datetime.fromtimestamp(float(ts), UTC)


def is_since(watch: Watch, ts: str) -> bool:
    """Whether the message with this timestamp was written since the watch began; earlier ones are ignored."""
    return float(ts) >= watch.since.timestamp()


def draws(watch: Watch, ts: str, key: bytes) -> bool:
    """Whether the reply with this timestamp is in the watch's share.

    The draw follows from the message and the installation's key. A redelivery, a restart and a second process draw the
    same. The author cannot tell which replies are scored, and polish only those.
    """
    place = f"{watch.team_id}/{watch.channel_id}/{ts}"
    number = int.from_bytes(hmac.digest(key, place.encode(), "sha256")[:8], "big")
    return number < watch.share * 2**64


@dataclass(frozen=True)
class SeenReply:
    """A reply of a watched assistant, known by its first message.

    `text_hash` is the hash of its text, and None while it is still being written. `last_ts` is the newest message that
    the assistant has added to it, if any.
    """

    team_id: str
    channel_id: str
    ts: str
    author_id: str
    parent_ts: str | None
    text_hash: str | None
    last_ts: str | None = None

    @property
    def day(self) -> str:
        """The day it was written, in UTC, for instance 2026-11-22."""
        return f"{datetime.fromtimestamp(float(self.ts), UTC):%Y-%m-%d}"


@dataclass(frozen=True)
class Used:
    """How much of a day's limits the watched replies have used up.

    Attributes:
        replies: How many of the assistant's replies are scored.
        of_question: How many of these answer the same question.
    """

    replies: int
    of_question: int


@dataclass(frozen=True)
class Coverage:
    """What happened to an assistant's replies, on one day or several.

    Attributes:
        outcomes: The number of replies with each outcome; None is for those that wait.
    """

    outcomes: Mapping[ReplyOutcome | None, int]

    @property
    def seen(self) -> int:
        return sum(self.outcomes.values()) - self.outcomes.get(ReplyOutcome.PART, 0)

    @property
    def lost(self) -> int:
        return self.outcomes.get(ReplyOutcome.OVER, 0) + self.outcomes.get(ReplyOutcome.MISSED, 0)

    @property
    def deleted(self) -> int:
        return self.outcomes.get(ReplyOutcome.DELETED, 0)

    @property
    def share(self) -> float:
        """The part of the drawn replies that was read, and scored if it answered someone; 1 if none was read."""
        read = self.outcomes.get(ReplyOutcome.TAKEN, 0) + self.outcomes.get(ReplyOutcome.NO_ANSWER, 0)
        return read / (read + self.lost) if read else 1.0


def together(days: Iterable[Coverage]) -> Coverage:
    total = Counter[ReplyOutcome | None]()
    for each in days:
        total.update(each.outcomes)
    return Coverage(total)
