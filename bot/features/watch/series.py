"""The scores of a watched assistant, day by day."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.services import Services
from bot.store.figures import Kind, Place, Span, TimedScore
from judge.evaluation.standing import DatedScore
from judge.evaluation.tally import WINDOW

_KIND_DAYS = 7


@dataclass(frozen=True)
class Series:
    """Scores of one kind, in the order of their replies; at least one.

    Days are those of the workspace's clock in `zone`.
    """

    scores: Sequence[TimedScore]
    zone: ZoneInfo

    @property
    def kind(self) -> Kind:
        return self.scores[-1].kind

    def day_of(self, score: TimedScore) -> date:
        return replied_at(score).astimezone(self.zone).date()

    def dated(self) -> list[DatedScore]:
        """The scores as the test of a standing takes them."""
        return [
            DatedScore(score.score, self.day_of(score), score.channel_id, score.thread_ts)
            for score in self.scores
        ]

    def before(self, day: date) -> Sequence[TimedScore]:
        return [score for score in self.scores if self.day_of(score) < day]

    def since(self, day: date) -> Sequence[TimedScore]:
        return [score for score in self.scores if self.day_of(score) >= day]


async def read_series(services: Services, place: Place, known: Kind | None = None) -> Series | None:
    """The scores of replies of the last days, without today's; None if there are none.

    Of several kinds, only the one that most scores of the last week have. The `known` one stays as
    long as a third of them have it: two channels with different rubrics do not take turns.
    """
    now = services.clock()
    span = Span(now - timedelta(days=WINDOW + 1), now)
    scores = await services.store.tallies.in_order(place, span)
    # Sorted by the time of the reply, because scores may come late and in no order.
    in_order = sorted(scores, key=lambda score: (replied_at(score), score.id))
    series = Series(in_order, services.schedule.zone)
    over = replace(series, scores=series.before(today_of(services)))
    if not over.scores:
        return None
    kind = _usual_kind(over, known)
    return replace(over, scores=[score for score in over.scores if score.kind == kind])


def _usual_kind(series: Series, known: Kind | None) -> Kind:
    week = series.day_of(series.scores[-1]) - timedelta(days=_KIND_DAYS - 1)
    kinds = Counter(score.kind for score in series.since(week))
    if known and 3 * kinds[known] >= kinds.total():
        return known
    return max(kinds, key=lambda kind: (kinds[kind], kind.version or ""))


def today_of(services: Services) -> date:
    """The day by the workspace's clock."""
    return services.clock().astimezone(services.schedule.zone).date()


def replied_at(score: TimedScore) -> datetime:
    return datetime.fromtimestamp(float(score.message_ts), UTC)
