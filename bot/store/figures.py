"""What figures are about, and the rows that `Tallies` counts for them: a few, however many cases
there are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from bot.store.visibility import Origin
from judge.scoring.rubric import Scale

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
END = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    """A channel in its team; with an author, only what that author wrote there.

    Channel ids alone are not unique. Only cases of `origin` are counted. `others` are further
    channels.
    """

    team_id: str
    channel_id: str
    author_id: str | None = None
    origin: Origin = Origin.CHOSEN
    others: tuple[str, ...] = ()


def to_ts(moment: datetime) -> str:
    """A moment as Slack's timestamps say it, which are all equally long, so their order as text is
    right.
    """
    return f"{moment.timestamp():.6f}"


@dataclass(frozen=True)
class Span:
    """From `start` up to, but not including, `end`."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class Kind:
    """What scores must share to be in one figure: the scale, and the judge version in words."""

    lowest: int
    highest: int
    version: str | None

    @property
    def scale(self) -> Scale:
        return Scale(self.lowest, self.highest)


@dataclass(frozen=True)
class _OfKind:
    channel_id: str
    lowest: int
    highest: int
    version: str | None

    @property
    def kind(self) -> Kind:
        return Kind(self.lowest, self.highest, self.version)


@dataclass(frozen=True)
class ScoreCount(_OfKind):
    """How many cases (`number`) of an author have one score of one kind, or are unscored for one
    reason.

    `rater` is OFFLINE or MADE_UP, and None for a model. `is_this` is whether they are of the last
    part of the span.
    """

    score: int | None
    unscored_reason: str | None
    rater: str | None
    author_id: str | None
    is_this: bool
    number: int


class CountedCase(NamedTuple):
    """A case of one kind that is in figures.

    `back` counts the given weeks back from the last, `week` is the ISO week (UTC): all cases of such
    a week are drawn for labels with one probability, but for contradicted ones, which are drawn
    `times_drawn` as often. A case without a thread is in one of its own. `drawn_with` is the
    probability of a watch's draw, `day` that of `SeenReply`. `given` has each blind label
    ("U1 4,U2 5").
    """

    id: int
    score: int
    back: int
    week: int
    thread: str
    drawn_with: float | None = None
    day: str | None = None
    given: str | None = None
    times_drawn: int = 1


@dataclass(frozen=True)
class LowCase:
    """A case to look at; the texts, `reason` is the judge's, are beginnings, and None if they must
    not be shown.

    `cause` is what it has in common with others, if it was sorted. `same` are further cases with the
    same answer, or to the same question.
    """

    id: int
    score: int
    highest: int
    channel_id: str
    author_id: str | None
    message_ts: str
    thread_ts: str | None
    judged_at: datetime
    deleted_at: datetime | None = None
    points: Mapping[str, float | None] | None = None
    question: str | None = None
    response: str | None = None
    reason: str | None = None
    cause: str | None = None
    same: tuple[int, ...] = ()

    @property
    def ids(self) -> Sequence[int]:
        return self.id, *self.same


@dataclass(frozen=True)
class LabelledCount:
    """How many cases (`number`) have one score, and `people` labels with one sum (`total`), and are
    drawn for labels so many times as often as others.

    The labels were either all given blind, or all by people who had seen the score: a case with
    both is in two counts.
    """

    is_blind: bool
    score: int
    total: int
    people: int
    times_drawn: int
    number: int


@dataclass(frozen=True)
class TimedScore(_OfKind):
    id: int
    score: int
    judged_at: datetime
    message_ts: str
    thread_ts: str | None


@dataclass(frozen=True)
class Usage:
    """What `cases` cost.

    The tokens of `with_tokens` cases and the cost of `with_cost` cases are known.
    """

    cases: int
    tokens: int
    with_tokens: int
    cost_usd: float
    with_cost: int
