"""A week's scores as charts: Slack's own in messages, and lines of characters where Slack has none.

Slack's charts choose the range of their axes, and have no setting for it. So a line at each end of the scale keeps the
whole of it in the picture; and what a client may leave out is said in words: how many replies a bar stands for, the
first mean and the last.
Source: https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
"""

from collections.abc import Mapping, Sequence
from datetime import date

from bot.figures.week import Figures, Glance, Scale, Tally
from bot.slack.blocks import Block, section
from bot.slack.mrkdwn import clip

_MOST_BARS = 20
_BAR = 20
_LINE = 30
_VERSION = 120
_NO_BREAK = "\u00a0"

Points = Sequence[tuple[str, float]]
"""Labels with values; a trend has the weeks that have a mean, oldest first, each by its Monday."""


def charts(figures: Figures, *, is_plain: bool) -> list[Block]:
    """The week's scores and the trend, as far as there are any."""
    trend, scale = _to_trend(figures), figures.scale
    has_bars = figures.this.n > 0 and scale[1] - scale[0] < _MOST_BARS
    found = []
    if has_bars:
        found.append(_plain_bars(figures.this, scale) if is_plain else _bars(figures.this, scale))
    if len(trend) > 1:
        found.append(_plain_trend(trend) if is_plain else _line(trend, scale))
    return found


def trend_line(glance: Glance) -> str:
    """The scale as a line, with the first weekly mean (○) and the last (●) on it; empty where there is but one."""
    trend, (low, high) = _to_trend(glance), glance.scale
    if len(trend) < 2:
        return ""
    first, last = (round((mean - low) / (high - low) * (_LINE - 1)) for _, mean in (trend[0], trend[-1]))
    line = ["━" if min(first, last) < place < max(first, last) else "─" for place in range(_LINE)]
    line[first], line[last] = "○", "●"
    return f"{_from_to(trend)}\n`{low} {''.join(line)} {high}`"


def day_name(day: date) -> str:
    """A day of the year, such as 12 Oct."""
    return f"{day.day} {day:%b}"


def judge_change(glance: Glance) -> str:
    """Names the gap that a trend has before the present judge's first week; empty where it has none."""
    scored = [point for point in glance.trend if point.mean is not None]
    others = [point for point in scored if point.version != scored[-1].version]
    if not others:
        return ""
    day, means = day_name(others[-1].week.before(-1).monday), [f"{point.mean:.1f}" for point in others]
    by = f" (`{clip(others[-1].version, _VERSION)}`)" if others[-1].version else ""
    return f"Another judge{by} scored the weeks before {day}, not to be compared: weekly mean {', '.join(means)}."


def _to_trend(glance: Glance) -> Points:
    """The weeks of one judge version, the newest: a line that joined two would show the judges' difference."""
    scored = [(point, point.mean) for point in glance.trend if point.mean is not None]
    return [(day_name(point.week.monday), mean) for point, mean in scored if point.version == scored[-1][0].version]


def _from_to(trend: Points) -> str:
    (first_week, first), (last_week, last) = trend[0], trend[-1]
    return f"Weekly mean: {first:.1f} ({first_week}) to {last:.1f} ({last_week})"


def _bars(tally: Tally, scale: Scale) -> Block:
    data = [(f"{score} ({count})", count) for score, count in _counts(tally, scale)]
    return _chart("bar", "Replies by score", {"Replies": data}, "Score (replies)", "Replies")


def _line(trend: Points, scale: Scale) -> Block:
    low, high = scale
    series: Mapping[str, Points] = {
        "Weekly mean": [(week, round(mean, 2)) for week, mean in trend],
        f"Best possible: {high}": [(week, high) for week, _ in trend],
        f"Worst possible: {low}": [(week, low) for week, _ in trend],
    }
    return _chart("line", _from_to(trend), series, "Week from", "Score")


def _chart(kind: str, title: str, series: Mapping[str, Points], x_label: str, y_label: str) -> Block:
    categories = [label for label, _ in next(iter(series.values()))]
    lists = [
        {"name": name, "data": [{"label": label, "value": value} for label, value in points]}
        for name, points in series.items()
    ]
    axes = {"categories": categories, "x_label": x_label, "y_label": y_label}
    return {
        "type": "data_visualization",
        "title": title,
        "chart": {"type": kind, "series": lists, "axis_config": axes},
    }


def _plain_bars(tally: Tally, scale: Scale) -> Block:
    most = max(tally.counts.values())
    rows = [f"{score:>3} {'█' * round(count / most * _BAR):<{_BAR}} {count}" for score, count in _counts(tally, scale)]
    return section("*Replies by score*\n```" + "\n".join(rows) + "```")


def _plain_trend(trend: Points) -> Block:
    weeks = [f"{week}: {mean:.1f}".replace(" ", _NO_BREAK) for week, mean in trend]
    return section("*Weekly mean*\n" + " · ".join(weeks))


def _counts(tally: Tally, scale: Scale) -> list[tuple[int, int]]:
    return [(score, tally.counts.get(score, 0)) for score in range(scale[0], scale[1] + 1)]
