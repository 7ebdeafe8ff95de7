"""What is counted in the log: where and when, of what kind, and the rows that the counts come in."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.watch import Watch


@dataclass(frozen=True)
class Place:
    """A channel, in its team: channel ids alone are not unique; with an author, what that one wrote there.

    Counted is what people chose to have scored, or with `is_watched` what watches have drawn, and never both.
    """

    team_id: str
    channel_id: str
    author_id: str | None = None
    is_watched: bool = False


def watched(watch: Watch) -> Place:
    """What a watch has drawn."""
    return Place(watch.team_id, watch.channel_id, watch.author_id, is_watched=True)


@dataclass(frozen=True)
class Span:
    """From `start` up to, and not with, `end`."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class Kind:
    """What scores must share to stand in one figure: the scale, and the judge version, in words."""

    lowest: int
    highest: int
    version: str | None

    @property
    def scale(self) -> tuple[int, int]:
        """Lowest and highest score."""
        return self.lowest, self.highest


@dataclass(frozen=True)
class ScoreCount:
    """How many cases (`number`) one author's replies have with one score of one kind, or unscored for one reason.

    `rater` is OFFLINE or MADE_UP, and None for a model.
    """

    author_id: str | None
    score: int | None
    lowest: int
    highest: int
    unscored_reason: str | None
    version: str | None
    rater: str | None
    number: int

    @property
    def kind(self) -> Kind:
        """With which other scores this one is comparable."""
        return Kind(self.lowest, self.highest, self.version)


@dataclass(frozen=True)
class VersionSum:
    """The scores of one judge version in the span of that position: their sum, and their number."""

    position: int
    version: str | None
    total: int
    n: int


@dataclass(frozen=True)
class AuthorCount:
    """How many replies of one author were judged."""

    author_id: str
    number: int


@dataclass(frozen=True)
class ThumbCount:
    """How many thumbs people gave one author's replies, up and down, and under how many of these."""

    author_id: str
    up: int
    down: int
    replies: int


@dataclass(frozen=True)
class LowCase:
    """One of the lowest scores: whose reply, where it stands, and when it was judged; no text."""

    id: int
    score: int
    author_id: str | None
    message_ts: str | None
    thread_ts: str | None
    judged_at: datetime
    deleted_at: datetime | None = None


@dataclass(frozen=True)
class LabelledCount:
    """How many cases (`number`) have one score and labels that come to one sum (`total`, of `people` labels)."""

    is_new: bool
    score: int
    total: int
    people: int
    number: int


@dataclass(frozen=True)
class ScoredCount:
    """How many cases (`number`) have one score, and the same to correct it by.

    Attributes:
        label: The mean of what people said who did not see the score; None where nobody did.
        probability: With which the case was drawn for them.
        thread_ts: Of a thread in which several cases stand; None for all others.
        drawn_with: The probability with which a watch drew the reply; None where people chose it.
        day: On which such a reply was written, as `SeenReply.day`.
    """

    score: int
    label: float | None
    probability: float | None
    thread_ts: str | None
    number: int
    drawn_with: float | None = None
    day: str | None = None


@dataclass(frozen=True)
class TimedScore:
    """A score, when it was given, and where its reply stands."""

    id: int
    score: int
    lowest: int
    highest: int
    judge_version: str | None
    judged_at: datetime
    message_ts: str | None
    thread_ts: str | None

    @property
    def kind(self) -> Kind:
        """With which other scores this one is comparable."""
        return Kind(self.lowest, self.highest, self.judge_version)


@dataclass(frozen=True)
class Usage:
    """Who asked for the scores, and tokens and cost as far as known: of `with_tokens` and `with_cost` of all `cases`.

    `people` are those who asked for the scores on the week's scale; all else is of all cases.
    Of `with_spared` verdicts, for which not all ratings were sure to be asked for, `spared` did without the last ones.
    """

    people: int
    cases: int
    tokens: int
    with_tokens: int
    cost_usd: float
    with_cost: int
    spared: int = 0
    with_spared: int = 0
