"""The standing of an assistant: how good it is, whether that has changed, since when, and whose
change it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple

from bot.domain.watch import Watch
from judge.evaluation.standing import Direction, Event, State
from judge.evaluation.stats import Interval


class Subject(NamedTuple):
    """What has a standing: an assistant in all its public watched channels, or in one private
    channel.

    `channel_id` is empty for the public ones, whose scores are one series.
    """

    team_id: str
    channel_id: str
    author_id: str


def subject_of(watch: Watch) -> Subject:
    return Subject(watch.team_id, watch.channel_id if watch.is_private else "", watch.author_id)


class Whose(StrEnum):
    """Whose change a direction is, by asking the judge again about replies that it has scored.

    `QUESTIONS`: the judge is the same, and the questions have clearly changed, too. `OPEN`: its
    answers leave that open. `NOT_ASKED`: it could not be asked; `Standing.why` says why.
    """

    ASSISTANT = "assistant"
    JUDGE = "judge"
    BOTH = "both"
    QUESTIONS = "questions"
    OPEN = "open"
    NOT_ASKED = "not asked"


class ChangeByTopic(NamedTuple):
    """What the topics of its questions tell of a change; empty if nothing is clear.

    `only_in` is the one topic that it lies in, a name drawn from the questions of the cases
    `drawn_from`, and `line` says it. `has_mix_moved`: other things are asked, and no topic has
    changed.
    """

    only_in: str = ""
    line: str = ""
    drawn_from: Sequence[int] = ()
    has_mix_moved: bool = False


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What is known of a subject since its last change; one row of the store for each change.

    Attributes:
        lowest, highest, version: The scale and the judge version of all its scores.
        direction: What people are told. After a change of the judge it is "too few", because earlier
            scores are not joined with later ones.
        event: What began this row; None for the first one, and for "steady" after "too few".
        stored_at: When it began.
        looked_at: When the figures below were last computed.
        level, level_low, level_high: The mean with its range, since the change or over four weeks.
        n: How many scores that mean has.
        before: The mean of four weeks before the change.
        since: The day of the change, by the workspace's clock; with "further", that of the last one.
        step, step_low, step_high: How much higher the level is since then, as it was told.
        begun_on, origin, ended: What `State` remembers for the next look; the first is its
            `since`.
        judged_on: The day of the newest score.
        whose, why: Whose change it is, or why that cannot be told.
        asked: About how many replies the judge was asked again.
        judge_step, judge_low, judge_high: How much more it gives them now, with the range.
        questions: The sentence on what has clearly changed about the questions.
        is_to_tell: Whether the change is still to be told.
        told_at: When somebody was told.
        release_id: The release whose effect this is; None for a standing.
        follows: The id of the subject's row before this one; 0 if it is the first, None for the
            effect of a release.
        released_on: The day of a release with which the change began, if one did.
    """

    team_id: str
    channel_id: str
    author_id: str
    lowest: int
    highest: int
    version: str | None
    direction: Direction
    event: Event | None
    stored_at: datetime
    looked_at: datetime
    level: float | None = None
    level_low: float | None = None
    level_high: float | None = None
    n: int = 0
    before: float | None = None
    since: date | None = None
    step: float | None = None
    step_low: float | None = None
    step_high: float | None = None
    begun_on: date | None = None
    origin: date | None = None
    judged_on: date | None = None
    ended: tuple[str, ...] = ()
    whose: Whose | None = None
    why: str = ""
    asked: int = 0
    judge_step: float | None = None
    judge_low: float | None = None
    judge_high: float | None = None
    questions: str = ""
    is_to_tell: bool = False
    told_at: datetime | None = None
    release_id: int | None = None
    follows: int | None = 0
    released_on: date | None = None
    id: int = 0

    @property
    def subject(self) -> Subject:
        return Subject(self.team_id, self.channel_id, self.author_id)

    @property
    def change(self) -> Interval | None:
        if self.step is None:
            return None
        return Interval(self.step, self.step_low, self.step_high)

    @property
    def is_clear(self) -> bool:
        """Whether it says that scores went up or down."""
        return self.direction in {Direction.LOWER, Direction.HIGHER}

    @property
    def state(self) -> State:
        return State(
            direction=self.direction,
            origin=self.origin,
            since=self.begun_on,
            step=self.step or 0.0,
            ended=tuple(date.fromisoformat(day) for day in self.ended),
        )
