"""What a look at an assistant's scores has found, as its standing keeps it."""

from dataclasses import replace
from datetime import date, datetime

from bot.domain.standing import Standing, Subject
from bot.features.watch.asked_again import Change
from bot.features.watch.series import Series
from bot.store.figures import Kind
from judge.evaluation.standing import Event, Look
from judge.evaluation.stats import Interval

_UNKNOWN = (None, None, None)  # instead of an interval


def kind_of(standing: Standing) -> Kind:
    """What all scores of a standing share."""
    return Kind(standing.lowest, standing.highest, standing.version)


def judge_change_of(standing: Standing) -> Interval | None:
    """How much more the judge gives the same replies now; None if it was not asked again."""
    if standing.judge_step is None:
        return None
    return Interval(standing.judge_step, standing.judge_low, standing.judge_high)


def change_of(standing: Standing, finding: Look, series: Series) -> Change:
    """The scores before and since the change of a standing."""
    if standing.since is None or finding.step is None:
        raise ValueError(f"a change without its day: {finding}")
    return Change(series.before(standing.since), series.since(standing.since), finding.step)


def new_standing(subject: Subject, series: Series, finding: Look, now: datetime) -> Standing:
    """A new row, with what people are told of the change."""
    step, step_low, step_high = finding.step or _UNKNOWN
    kind = series.kind
    standing = Standing(
        **subject._asdict(),
        lowest=kind.lowest,
        highest=kind.highest,
        version=kind.version,
        direction=finding.state.direction,
        event=finding.event,
        stored_at=now,
        looked_at=now,
        before=finding.before,
        since=_since(finding),
        step=step,
        step_low=step_low,
        step_high=step_high,
    )
    return with_figures(standing, series, finding, now)


def _since(finding: Look) -> date | None:
    """The day that people are told of."""
    match finding.event:
        case Event.BEGAN | Event.FURTHER if finding.state.since:
            return max([finding.state.since, *finding.state.ended])
        case Event.STAYED:
            return finding.state.origin
        case _:
            return finding.turned


def with_figures(standing: Standing, series: Series, finding: Look, now: datetime) -> Standing:
    """The standing with the level of this look, and what the next one must remember."""
    level, level_low, level_high = finding.level or _UNKNOWN
    state = finding.state
    return replace(
        standing,
        looked_at=now,
        judged_on=series.day_of(series.scores[-1]),
        level=level,
        level_low=level_low,
        level_high=level_high,
        n=finding.n,
        begun_on=state.since,
        origin=state.origin,
        ended=tuple(day.isoformat() for day in state.ended),
    )
