"""A week's scores as people see them, chosen or random: bars, a trend, shares, and whether the mean has moved.

Slack's charts have no setting for the range of an axis. An area, as bars do, begins at zero, so a trend never looks
steeper than it is; a line may be drawn from its lowest point. What a client may leave out is said in the labels: how
many replies a bar stands for, and each mean.
Source: https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
"""

from collections.abc import Sequence
from datetime import date

from bot.figures.week import FEWEST, Point, Tally
from bot.slack.blocks import Block, section
from bot.slack.messenger import Drawn
from judge.rubric import Scale
from judge.stats import Interval, good_from, low_to

_MOST_BARS = 20
_BAR = 20
_NO_BREAK = "\u00a0"

Points = Sequence[tuple[str, float]]
"""Labels with values; a trend has the weeks that have a mean, oldest first, each by its Monday."""


def moved(change: Interval | None, *, is_finished: bool) -> str:
    """Whether the mean has moved since last week, and how far, where chance is no explanation.

    Empty where that cannot be said. A week that is not over is held against the same days of last week.
    """
    before = "last week" if is_finished else "the same days of last week"
    if change is None or change.low is None or change.high is None:
        return ""
    if change.low <= 0 <= change.high:
        return f"No clear change from {before}."
    how = "lower" if change.mean < 0 else "higher"
    by, near, far = _distances(change.mean, change.low, change.high)
    return f"{by} {how} than {before} (between {near} and {far} {how})."


def moved_in_short(change: Interval | None) -> str:
    """The same for a table; empty where that cannot be said."""
    if change is None or change.low is None or change.high is None:
        return ""
    if change.low <= 0 <= change.high:
        return "no clear change"
    by, near, far = _distances(change.mean, change.low, change.high)
    return f"{'▼' if change.mean < 0 else '▲'} {by} ({near} to {far})"


def _distances(mean: float, low: float, high: float) -> list[str]:
    """How far it is, at least and at most; with as many decimals as it takes not to look like one that may be 0."""
    near, far = sorted((abs(low), abs(high)))
    return [f"{each:{'.1f' if near >= 0.05 else '.2f'}}" for each in (abs(mean), near, far)]


def low_words(scale: Scale) -> str:
    """Which scores are low: 0 to 2 of 5."""
    return _from_to(scale.low, low_to(scale))


def good_words(scale: Scale) -> str:
    """Which scores are good: 4 to 5 of 5."""
    return _from_to(good_from(scale), scale.high)


def _from_to(first: int, last: int) -> str:
    return f"{first} to {last}" if first < last else f"{last}"


def charts(this: Tally, trend: Sequence[Point], scale: Scale, what: str) -> list[Drawn]:
    """How many replies have which score, and the trend, as far as there are any; `what` replies, such as "random"."""
    found = []
    counts = [(score, this.counts.get(score, 0)) for score in range(scale.low, scale.high + 1)]
    if this.n >= FEWEST and len(counts) <= _MOST_BARS:
        most, title = max(this.counts.values()), f"{what.capitalize()} replies by score"
        rows = "\n".join(f"{score:>3} {'█' * round(count / most * _BAR):<{_BAR}} {count}" for score, count in counts)
        bars = [(f"{score} ({count})", count) for score, count in counts]
        drawn = _chart("bar", title, ("Replies", bars), "Score (replies)", "Replies")
        found.append(Drawn(drawn, section(f"*{title}*\n```{rows}```")))
    if means := weekly_means(trend):
        title, axis = f"Weekly mean of {what} replies", f"Mean, on a scale of {scale.low} to {scale.high}"
        area = [(f"{week} ({mean:.1f})", round(mean, 2)) for week, mean in _to_points(trend)]
        drawn = _chart("area", title, ("Weekly mean", area), "Week from (mean)", axis)
        found.append(Drawn(drawn, section(f"*{title}*\n{means}")))
    return found


def weekly_means(trend: Sequence[Point]) -> str:
    """The trend in words; empty where it has but one mean."""
    points = _to_points(trend)
    means = [f"{week}: {mean:.1f}".replace(" ", _NO_BREAK) for week, mean in points]
    return " · ".join(means) if len(points) > 1 else ""


def _to_points(trend: Sequence[Point]) -> Points:
    """The weeks of one judge version, the newest: a line that joined two would show the judges' difference."""
    scored = [(point, point.mean) for point in trend if point.mean is not None]
    return [(day_name(point.week.monday), mean) for point, mean in scored if point.version == scored[-1][0].version]


def day_name(day: date) -> str:
    """A day of the year, such as 12 Oct."""
    return f"{day.day} {day:%b}"


def _chart(kind: str, title: str, series: tuple[str, Points], x_label: str, y_label: str) -> Block:
    name, points = series
    data = [{"label": label, "value": value} for label, value in points]
    axes = {"categories": [label for label, _ in points], "x_label": x_label, "y_label": y_label}
    chart = {"type": kind, "series": [{"name": name, "data": data}], "axis_config": axes}
    return {"type": "data_visualization", "title": title, "chart": chart}
