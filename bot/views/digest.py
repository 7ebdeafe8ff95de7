"""The digest of a channel's week as a message: native charts and a table, and the same in plain blocks.

Source: https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block and .../data-table-block
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from bot.log.tallies import LowCase
from bot.slack.authors import Member
from bot.slack.mrkdwn import clip
from bot.slack.post import Post
from bot.views.elements import context, section
from bot.views.links import permalink
from bot.views.unscored import in_short
from bot.weeks.agreement import Agreement
from bot.weeks.figures import Author, Figures, Glance, Point, Tally
from bot.weeks.week import Week

MOST_AUTHORS = 20
ENOUGH_LABELS = 20
_MOST_BARS = 20
_BAR = 20
_NAME = 80
_MINUS = "−"


def digest_message(
    figures: Figures,
    members: Mapping[str, Member],
    workspace_url: str,
    channel_id: str,
    subject: str = "",
) -> Post:
    """The week at a glance, with a plain form for a Slack that does not know charts and tables.

    `members` are the authors to be listed; `subject` is added to the title. No text of a question, response or
    justification is ever in it.
    """
    title = _title(figures) + (f", {subject}" if subject else "")
    if figures.is_quiet:
        sentence = f"{title}: no replies were scored in this channel."
        return Post(sentence, [section(sentence)])
    table = [author for author in figures.authors if author.id in members][:MOST_AUTHORS]

    def blocks(*, is_plain: bool) -> list[dict[str, Any]]:
        said = [section(f"*{title}*\n{headline(figures, figures.usage.people)}")]
        said += _charts(figures, is_plain)
        said += _lowest(figures, workspace_url, channel_id)
        said += _authors(figures, table, members, is_plain) if table else []
        small = (_offline(figures), _unscored(figures), _agreement(figures), _usage(figures))
        return said + [context(line) for line in small if line]

    text = f"{title}: {headline(figures, figures.usage.people)}".replace("*", "")
    return Post(text, blocks(is_plain=False), blocks(is_plain=True))


def headline(glance: Glance, people: int | None = None) -> str:
    """A week in one line: how many replies, for how many people where that is known, median, mean, and the change."""
    this, last = glance.this, glance.last
    asked = f"{_count(this.n, 'reply', 'replies')} scored"
    asked += f" for {_count(people, 'person', 'people')}" if people is not None else ""
    if this.median is None or this.mean is None:
        return f"{asked}."
    median, mean = f"median *{this.median:g}*", f"mean *{this.mean:.1f}*"
    if last.median is not None and last.mean is not None:
        median += f" (last week {last.median:g}, {_change(this.median, last.median, 'g')})"
        mean += f" (last week {last.mean:.1f}, {_change(this.mean, last.mean)})"
    low, high = glance.scale
    return f"{asked}: {median}, {mean}, on a scale of {low} to {high}."


def _title(figures: Figures) -> str:
    days = _days(figures.week)
    return f"Week {figures.week.number} ({days})" if figures.is_finished else f"This week so far ({days})"


def _days(week: Week) -> str:
    sunday = week.monday + timedelta(days=6)
    begin = f"{week.monday.day}" if week.monday.month == sunday.month else _date(week.monday)
    return f"{begin}–{_date(sunday)} {sunday.year}"


def _date(day: date) -> str:
    return f"{day.day} {day:%b}"


def _change(now: float, before: float, form: str = ".1f") -> str:
    """The change between the two as they are shown, so that the line adds up."""
    difference = round(now, 1) - round(before, 1)
    shown = f"{abs(difference):{form}}"
    if float(shown) == 0:
        return "±0"
    return f"+{shown}" if difference > 0 else f"{_MINUS}{shown}"


def _charts(figures: Figures, is_plain: bool) -> list[dict[str, Any]]:
    trend = [point for point in figures.trend if point.mean is not None]
    low, high = figures.scale
    has_bars = figures.this.n > 0 and high - low < _MOST_BARS
    if is_plain:
        texts = [_bars(figures.this, low, high)] if has_bars else []
        texts += [_plain_trend(trend)] if len(trend) > 1 else []
        return [section(text) for text in texts]
    charts = [_distribution(figures.this, low, high)] if has_bars else []
    return charts + ([_trend(trend, figures)] if len(trend) > 1 else [])


def _distribution(tally: Tally, low: int, high: int) -> dict[str, Any]:
    data = [{"label": str(score), "value": tally.counts.get(score, 0)} for score in range(low, high + 1)]
    return _chart("bar", "Replies by score", "Replies", data, "Score", "Replies")


def _trend(points: list[Point], figures: Figures) -> dict[str, Any]:
    data = [{"label": f"W{point.week.number:02}", "value": round(point.mean or 0, 2)} for point in points]
    title = f"Mean score, last {len(figures.trend)} weeks"
    return _chart("line", title, "Mean score", data, "Week", f"{figures.scale[0]} to {figures.scale[1]}")


def _chart(kind: str, title: str, name: str, data: list[dict[str, Any]], x: str, y: str) -> dict[str, Any]:
    axes = {"categories": [point["label"] for point in data], "x_label": x, "y_label": y}
    chart = {"type": kind, "series": [{"name": name, "data": data}], "axis_config": axes}
    return {"type": "data_visualization", "title": title, "chart": chart}


def _bars(tally: Tally, low: int, high: int) -> str:
    most = max(tally.counts.values())
    rows = [(score, tally.counts.get(score, 0)) for score in range(low, high + 1)]
    lines = [f"{score:>3} {'█' * round(count / most * _BAR):<{_BAR}} {count}" for score, count in rows]
    return "*Replies by score*\n```" + "\n".join(lines) + "```"


def _plain_trend(points: list[Point]) -> str:
    return "*Mean score by week*\n" + " · ".join(f"W{point.week.number:02} {point.mean:.1f}" for point in points)


def _lowest(figures: Figures, workspace_url: str, channel_id: str) -> list[dict[str, Any]]:
    links = [_low_link(case, workspace_url, channel_id) for case in figures.lowest]
    return [section("*Lowest:* " + " · ".join(links))] if links else []


def _low_link(case: LowCase, workspace_url: str, channel_id: str) -> str:
    ts = case.message_ts or case.thread_ts
    words = f"score {case.score} (case {case.id})"
    if ts is None:
        return words
    return f"<{permalink(workspace_url, channel_id, ts, case.thread_ts)}|{words}>"


def _authors(
    figures: Figures, authors: list[Author], members: Mapping[str, Member], is_plain: bool
) -> list[dict[str, Any]]:
    low = f"{figures.scale[0]}–{figures.low}"
    titles = ["Assistant", "Replies", "Mean", "Change", f"Scored {low}"]
    rows = [(members[author.id].name[:_NAME], *_row(author, figures)) for author in authors]
    if is_plain:
        lines = [f"*{clip(name, _NAME)}*: " + ", ".join(_worded(cells, low)) for name, *cells in rows]
        return [section("\n".join(lines)[:2900])]
    header = [{"type": "raw_text", "text": title} for title in titles]
    body = [[_cell(title, cell) for title, cell in zip(titles, row, strict=True)] for row in rows]
    return [{"type": "data_table", "caption": "By assistant", "rows": [header, *body], "page_size": 10}]


def _cell(title: str, text: str) -> dict[str, Any]:
    is_number = title in {"Replies", "Mean"}  # sorted as such
    return (
        {"type": "raw_number", "value": float(text), "text": text} if is_number else {"type": "raw_text", "text": text}
    )


def _row(author: Author, figures: Figures) -> tuple[str, str, str, str]:
    mean, before = author.this.mean or 0, author.last.mean
    change = "new" if before is None else _change(mean, before)
    return str(author.this.n), f"{mean:.1f}", change, f"{author.this.share_up_to(figures.low) or 0:.0%}"


def _worded(cells: list[str], low: str) -> list[str]:
    n, mean, change, share = cells
    return [_count(int(n), "reply", "replies"), f"mean {mean} ({change})", f"{share} with {low}"]


def _offline(figures: Figures) -> str:
    usage = figures.usage
    if not usage.offline:
        return ""
    return (
        f":warning: {usage.offline} of {_count(usage.cases, 'case', 'cases')} by the offline rater, which is no model."
    )


def _unscored(figures: Figures) -> str:
    words: dict[str, int] = {}
    for reason, count in figures.unscored.items():
        why = in_short(reason)
        words[why] = words.get(why, 0) + count
    parts = [f"{why}: {count}" for why, count in words.items()]
    if figures.off_scale:
        parts.append(f"scored on another scale and not counted above: {figures.off_scale}")
    total = sum(figures.unscored.values())
    return (f"*Unscored: {total}* · " if total else "") + " · ".join(parts)


def _agreement(figures: Figures) -> str:
    if figures.agreement_ever is None:
        return ""
    return f"*People's labels* · this week: {_agreed(figures.agreement)} · ever: {_agreed(figures.agreement_ever)}"


def _agreed(agreement: Agreement | None) -> str:
    if agreement is None:
        return "none"
    if agreement.n < ENOUGH_LABELS:
        return f"{_count(agreement.n, 'case', 'cases')}, too few to say"
    kappa = "not defined" if agreement.kappa is None else f"{agreement.kappa:.2f}".replace("-", _MINUS)
    near = f"{agreement.exact:.0%} the same, {agreement.within_one:.0%} within one"
    return f"{near}, weighted kappa {kappa} ({agreement.n} cases)"


def _usage(figures: Figures) -> str:
    usage = figures.usage
    tokens = (
        f"{usage.tokens:,} tokens{_known(usage.with_tokens, usage.cases)}" if usage.with_tokens else "Tokens unknown"
    )
    cost = f"${usage.cost_usd:,.2f}{_known(usage.with_cost, usage.cases)}" if usage.with_cost else "cost unknown"
    return f"{tokens} · {cost}"


def _known(known: int, cases: int) -> str:
    return "" if known == cases else f" for {known} of {cases} cases, the rest unknown"


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
