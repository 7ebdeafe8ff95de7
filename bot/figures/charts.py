"""A week's scores as people see them, chosen or random: bars, a trend, and whether the mean has
changed.

Slack's charts have no setting for the range of an axis. An area begins at zero, as bars do, so a
trend never looks steeper than it is; a line may be drawn from its lowest point. The labels repeat
what a client may leave out: how many replies a bar stands for, and each mean. Source:
https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
"""

from collections.abc import Sequence
from datetime import date

from bot.figures.week import FEWEST, Point, Tally
from bot.slack.blocks import Block, section
from bot.slack.messenger import Drawn
from judge.evaluation.stats import Interval, good_from, low_to
from judge.scoring.rubric import Scale

_BAR = 20
BEFORE = "the four weeks before"
BY_JUDGE = ", by the judge alone"
_NO_BREAK = "\u00a0"

Points = Sequence[tuple[str, float]]
"""Labels with values; a trend has the weeks that have a mean, oldest first, each labelled with its Monday."""


def moved(change: Interval | None) -> str:
    """A sentence on whether the mean has changed, and by how much if that is more than chance;
    empty if not known.
    """
    if change is None:
        return ""
    if not change.is_clear:
        return f"No clear change from {BEFORE}."
    how = "lower" if change.mean < 0 else "higher"
    (by, near, far) = distances(change)
    return f"{by} {how} than {BEFORE} (between {near} and {far} {how})."


def distances(change: Interval) -> list[str]:
    """The distance, and its lower and upper bound, with enough decimals that the lower bound does
    not look like 0.
    """
    near, far = change.sizes
    return [f"{each:{'.1f' if near >= 0.05 else '.2f'}}" for each in (abs(change.mean), near, far)]


def low_words(scale: Scale) -> str:
    """Which scores are low, such as "0 to 2" on a scale of 0 to 5."""
    return _from_to(scale.low, low_to(scale))


def good_words(scale: Scale) -> str:
    """Which scores are good, such as "4 to 5" on a scale of 0 to 5."""
    return _from_to(good_from(scale), scale.high)


def _from_to(first: int, last: int) -> str:
    return f"{first} to {last}" if first < last else f"{last}"


def charts(
    this: Tally, trend: Sequence[Point], scale: Scale, what: str, by: str = ""
) -> list[Drawn]:
    """Charts of the scores and of the trend, if there are enough; `what` names the replies, such as
    "random".

    `by` says whose means they are if they stand beside corrected ones.
    """
    found = []
    counts = [(score, this.counts.get(score, 0)) for score in range(scale.low, scale.high + 1)]
    if this.n >= FEWEST and len(counts) <= 20:  # Slack draws no more categories
        most = max(this.counts.values())
        title = f"{what.capitalize()} replies by score"
        rows = "\n".join(
            f"{score:>3} {'█' * round(count / most * _BAR):<{_BAR}} {count}"
            for score, count in counts
        )
        bars = [(f"{score} ({count})", count) for score, count in counts]
        drawn = _chart("bar", title, ("Replies", bars), "Score (replies)", "Replies")
        found.append(Drawn(drawn, section(f"*{title}*\n```{rows}```")))
    if means := weekly_means(trend):
        title = f"Weekly mean of {what} replies{by}"
        axis = f"Mean, on a scale of {scale.low} to {scale.high}"
        area = [(f"{week} ({mean:.1f})", round(mean, 2)) for week, mean in _to_points(trend)]
        drawn = _chart("area", title, ("Weekly mean", area), "Week from (mean)", axis)
        found.append(Drawn(drawn, section(f"*{title}*\n{means}")))
    return found


def weekly_means(trend: Sequence[Point]) -> str:
    """The trend in words; empty with fewer than two means."""
    points = _to_points(trend)
    means = [f"{week}: {mean:.1f}".replace(" ", _NO_BREAK) for week, mean in points]
    return " · ".join(means) if len(points) > 1 else ""


def _to_points(trend: Sequence[Point]) -> Points:
    """The weeks of the newest judge version: a line across two versions would show how the judges
    differ.
    """
    scored = [(point, point.mean) for point in trend if point.mean is not None]
    return [
        (day_name(point.week.first_day), mean)
        for point, mean in scored
        if point.version == scored[-1][0].version
    ]


def day_name(day: date) -> str:
    """A day and month, such as 12 Oct."""
    return f"{day.day} {day:%b}"


def _chart(kind: str, title: str, series: tuple[str, Points], x_label: str, y_label: str) -> Block:
    name, points = series
    data = [{"label": label, "value": value} for label, value in points]
    axes = {"categories": [label for label, _ in points], "x_label": x_label, "y_label": y_label}
    chart = {"type": kind, "series": [{"name": name, "data": data}], "axis_config": axes}
    return {"type": "data_visualization", "title": title, "chart": chart}
