"""A watch: a channel's standing order to score a share of one assistant's replies by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

PER_DAY = 50
"""At most this many replies are scored a day by default."""


class Shows(StrEnum):
    """What a channel sees of a reply that its watch has scored; the digest counts it in any case."""

    NOTHING = "nothing"
    REACTION = "reaction"
    VERDICT = "verdict"


class ReplyOutcome(StrEnum):
    """What happened to a reply that a watch has seen.

    `PASSED`: it was not drawn. `PART`: it is part of another reply, which stands for it.
    `TAKEN`: it became a case. All others were drawn. `NO_ANSWER`: it answers no one, or has
    no words. `DELETED`: it was deleted before it could be scored. `EDITED`: its question was edited
    after it. `OVER`: a limit of that day was used up. `MISSED`: it has no score, because it could
    not be read or judged in time, or the judge gave none. `BROKE_OFF`: it answers a person, but its
    stream ended as an error, or never.
    """

    PASSED = "passed"
    PART = "part"
    TAKEN = "taken"
    NO_ANSWER = "no_answer"
    DELETED = "deleted"
    EDITED = "edited"
    OVER = "over"
    MISSED = "missed"
    BROKE_OFF = "broke_off"


@dataclass(frozen=True)
class Watch:
    """Which replies of the assistant `author_id` (a user's or bot's id) are scored, and what is
    shown of the scores.

    `share` is the part that is drawn, above 0 and up to 1, of replies written from `since` on;
    `per_day` the most in a day (0: no limit). `alerts_to` (the channel, people, or both) are told
    when they get worse, when the mean is clearly below `floor`, and since `low_since` of single
    replies with the lowest scores. `ask` is how the judge is asked, if not as the settings say; it
    stays with the watch, because scores of another way are not comparable. `is_private` is whether
    the channel was private when the app last looked.

    Without a `channel_id` it is an order for all public channels of the app but those in
    `except_in`. It keeps a watch that `is_derived` in each of them, its `channels`, and `per_day`
    is for all together.
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
    low_since: datetime | None = None
    ask: str | None = None
    is_private: bool = True
    is_derived: bool = False
    except_in: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()


def is_channel(recipient: str) -> bool:
    """Whether one of `Watch.alerts_to` is a channel, not a person."""
    return recipient.startswith(("C", "G"))


LATE = timedelta(days=1)
"""A reply not scored for this long is missed, because among later ones it would look as fresh as they are."""


def age_of(ts: str, now: datetime) -> timedelta:
    return now - datetime.fromtimestamp(float(ts), UTC)


@dataclass(frozen=True)
class Coverage:
    """How many of an assistant's replies, of one day or several, have each outcome; None is for
    those that wait.
    """

    outcomes: Mapping[ReplyOutcome | None, int]

    @property
    def seen(self) -> int:
        return sum(self.outcomes.values()) - self.outcomes.get(ReplyOutcome.PART, 0)

    @property
    def lost(self) -> int:
        return self.outcomes.get(ReplyOutcome.OVER, 0) + self.outcomes.get(ReplyOutcome.MISSED, 0)

    @property
    def broke_off(self) -> int:
        return self.outcomes.get(ReplyOutcome.BROKE_OFF, 0)

    @property
    def share(self) -> float:
        """The part of the drawn replies that was read, and scored if it answered someone to its
        end; 1 if none was read.
        """
        taken = self.outcomes.get(ReplyOutcome.TAKEN, 0)
        read = taken + self.outcomes.get(ReplyOutcome.NO_ANSWER, 0) + self.broke_off
        return read / (read + self.lost) if read else 1.0
