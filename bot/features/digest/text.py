"""A channel's week as a message, digest or stats: native charts and a table, and the same in plain blocks.

Slack's charts choose the range of their axes, and have no setting for it. So a line at each end of the scale keeps the
whole of it in the picture; and what a client may leave out is said in words: how many replies a bar stands for, the
first mean and the last.
Source: https://docs.slack.dev/reference/block-kit/blocks/data-table-block
Source: https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta

from bot.figures.quality import Agreement, corrected, uncorrected, without_model
from bot.figures.week import FEWEST, Figures, Glance
from bot.pipeline.verdict_text import in_short
from bot.slack.blocks import Block, context, permalink, section, short_date
from bot.slack.members import Member
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip
from bot.store.figures import ThumbCount, Usage
from judge.stats import SURE

MOST_AUTHORS = 20
ENOUGH_LABELS = 20
_NAME = 80
_CENT = 0.01
_MINUS = "−"
TOO_FEW = f"Fewer than {FEWEST} scores, so no figures: people may still be asked to score these replies blind."
_PREVIEW = "Only you see this. `/judge digest now` posts it here."


def digest_message(
    figures: Figures, lead: Sequence[str], members: Mapping[str, Member], workspace_url: str, channel_id: str
) -> Post:
    """The week at a glance, with a plain form for a Slack that does not know charts and tables.

    First the `lead`, what features say of the week, then what people chose. `members` are the authors to be named. No
    text of a question, response or justification is ever in it.
    """
    lowest = _lowest(figures, members, workspace_url, channel_id)
    small = (_unscored(figures), _agreement(figures), _details(figures))
    return _message(figures, lead, "", small, lambda is_plain: [*lowest, *_authors(figures, members, is_plain)])


def preview_message(digest: Post) -> Post:
    """A digest as one person sees it before it is posted."""
    blocks, plain = ([context(_PREVIEW), *form.blocks] for form in (digest.forms[0], digest.forms[-1]))
    return Post(digest.text, blocks, plain)


def stats_message(
    figures: Figures,
    lead: Sequence[str],
    members: Mapping[str, Member],
    workspace_url: str,
    channel_id: str,
    subject: str,
    *,
    has_lowest: bool,
) -> Post:
    """A week's figures alone: of one author with their lowest, else with each assistant; `subject` is in the title."""
    lowest = _lowest(figures, members, workspace_url, channel_id)
    small = (not_counted(figures), _agreement(figures) if subject else "")
    return _message(
        figures, lead, subject, small, lambda is_plain: lowest if has_lowest else _authors(figures, members, is_plain)
    )


def counted(glance: Glance) -> str:
    """What a week's figures are of: no sample of all replies, but those that people chose."""
    if not glance.this.n:
        return "No reply that people chose has a score"
    return f"{_count(glance.this.n, 'reply', 'replies')} chosen by people"


def measures(glance: Glance) -> str:
    """Their median and mean, and the change; empty without a score, and why not where there are few."""
    this, last = glance.this, glance.last
    if this.median is None or this.mean is None:
        return TOO_FEW if this.n else ""
    median, mean = f"Median *{this.median:g}*", f"mean *{this.mean:.1f}*"
    if last.mean is not None and glance.has_new_judge:
        mean += f" (last week {last.mean:.1f}, by another judge)"
    elif last.median is not None and last.mean is not None:
        median += f" (last week {last.median:g}, {_change(this.median, last.median, 'g')})"
        mean += f" (last week {last.mean:.1f}, {_change(this.mean, last.mean)})"
    low, high = glance.scale
    return f"{median}, {mean}, on a scale of {low} to {high}."


def not_counted(glance: Glance) -> str:
    """How many of a week's scores none of these figures holds, since they cannot be joined with them; else empty."""
    numbers = {"on another scale": glance.off_scale, "by another judge": glance.off_version}
    return " · ".join(f"not counted above, scored {how}: {number}" for how, number in numbers.items() if number)


def _message(
    figures: Figures, lead: Sequence[str], subject: str, small: Sequence[str], middle: Callable[[bool], list[Block]]
) -> Post:
    """What they have in common: first the `lead`, then what is counted, median, mean and charts, and the small print.

    The `middle` stands before the small print, plain or not.
    """
    monday, sunday = figures.week.monday, figures.week.monday + timedelta(days=6)
    begin = f"{monday.day}" if monday.month == sunday.month else day_name(monday)
    days = f"{begin}–{day_name(sunday)} {sunday.year}"
    title = f"Week of {days}" if figures.is_finished else f"This week so far ({days})"
    title += f", {subject}" if subject else ""
    if figures.is_quiet and not lead:
        sentence = f"{title}: no replies were scored in this channel."
        return Post(sentence, [section(sentence)])
    top = [section("\n".join([f"*{title}*", *lead]))] if lead else []
    text = f"{title}: " + "".join(f"{line} " for line in lead[:1])
    if figures.is_quiet:
        return Post(text.replace("*", "").strip(), top)
    counts = counted(figures)
    lines = (counts if lead else f"*{title}*: {counts}", measures(figures), corrected(figures.quality))
    top += [section("\n".join(line for line in lines if line)), *map(context, without_model(figures.raters))]
    text = f"{text}{counts}. {measures(figures)}".replace("*", "").strip()
    end = [context(line) for line in (judge_change(figures), uncorrected(figures.quality), *small) if line]
    native, plain = (
        [*top, *_charts(figures, is_plain=is_plain), *middle(is_plain), *end] for is_plain in (False, True)
    )
    return Post(text, native, plain)


def _change(now: float, before: float, form: str = ".1f") -> str:
    """The change between the two as they are shown, so that the line adds up."""
    difference = round(now, 1) - round(before, 1)
    shown = f"{abs(difference):{form}}"
    if float(shown) == 0:
        return "±0"
    return f"+{shown}" if difference > 0 else f"{_MINUS}{shown}"


def _lowest(figures: Figures, members: Mapping[str, Member], workspace_url: str, channel_id: str) -> list[Block]:
    """Low scores, so that they can be found; quoted they would stay when messages are deleted, or people forgotten."""
    names = {None: "typed"} | {author_id: member.name for author_id, member in members.items()}
    lines = ["*Lowest*"]
    for case in figures.lowest:
        score, ts = f"Score {case.score} of {figures.scale[1]}", case.message_ts or case.thread_ts
        linked = f"<{permalink(workspace_url, channel_id, ts, case.thread_ts)}|{score}>" if ts else score
        gone = "message deleted" if case.deleted_at else ""
        name = clip(names.get(case.author_id, ""), _NAME)
        parts = [linked, name, short_date(case.judged_at), f"case {case.id}", gone]
        lines.append("• " + " · ".join(part for part in parts if part))
    return [section("\n".join(lines))] if figures.lowest else []


def _authors(figures: Figures, members: Mapping[str, Member], is_plain: bool) -> list[Block]:
    low, lines, rows = f"{figures.scale[0]}–{figures.low}", [], []
    for author in [author for author in figures.authors if author.id in members][:MOST_AUTHORS]:
        name, n, mean, before = members[author.id].name, author.this.n, author.this.mean, author.last.mean
        if mean is None:
            continue
        change = "new" if before is None else _change(mean, before)
        share = f"{author.this.share_up_to(figures.low) or 0:.0%}"
        replies = _count(n, "reply", "replies")
        lines.append(f"*{clip(name[:_NAME], _NAME)}*: {replies}, mean {mean:.1f} ({change}), {share} with {low}")
        numbers = [{"type": "raw_number", "value": float(each), "text": each} for each in (f"{n}", f"{mean:.1f}")]
        rows.append([_raw(name[:_NAME]), *numbers, _raw(change), _raw(share)])
    if not rows:
        return []
    if is_plain:
        return [section("\n".join(lines)[:2900])]
    header = [_raw(title) for title in ("Assistant", "Replies", "Mean", "Change", f"Scored {low}")]
    return [{"type": "data_table", "caption": "By assistant", "rows": [header, *rows], "page_size": 10}]


def _raw(text: str) -> Block:
    return {"type": "raw_text", "text": text}


def _unscored(figures: Figures) -> str:
    words = Counter[str]()
    for reason, count in figures.unscored.items():
        words[in_short(reason)] += count
    parts = [*(f"{why}: {count}" for why, count in words.items()), not_counted(figures)]
    total = sum(figures.unscored.values())
    return (f"*Unscored: {total}* · " if total else "") + " · ".join(part for part in parts if part)


def _agreement(figures: Figures) -> str:
    if figures.agreement_ever is None:
        return ""
    parts = [f"*The judge agrees with people* {_agreed(figures.agreement_ever)}"]
    if figures.agreement:
        parts.append(f"this week {_agreed(figures.agreement)}")
    if figures.agreement_ever.n >= ENOUGH_LABELS and figures.unlike < SURE:
        why = "by their scores, Kolmogorov-Smirnov test"
        parts.append(f"careful: this week's replies differ from the labelled ones ({why}), so label new ones")
    return " · ".join(parts)


def _agreed(agreement: Agreement) -> str:
    if agreement.n < ENOUGH_LABELS:
        return f"too few labels ({agreement.labels})"
    labels = f"{agreement.labels} labels"
    if agreement.labels != agreement.n:
        labels += f" on {agreement.n} replies"
    return f"{_how_often(agreement.exact)}, within one point {_how_often(agreement.within_one)} ({labels})"


def _how_often(share: float) -> str:
    if share in {0, 1}:
        return "always" if share else "never"
    return f"{min(max(share, 0.01), 0.99):.0%} of the time"


def _details(figures: Figures) -> str:
    usage, ever = figures.usage, figures.agreement_ever
    tokens = f"{usage.tokens:,} tokens{_known(usage.with_tokens, usage.cases)}" if usage.with_tokens else ""
    cost = _cost(usage)
    kappa = ever.kappa if ever and ever.n >= ENOUGH_LABELS else None
    parts = [
        f"requested by {_count(usage.people, 'person', 'people')}",
        "" if kappa is None else f"weighted kappa {kappa:.2f}".replace("-", _MINUS),
        tokens or (cost and "tokens unknown"),
        cost or (tokens and "cost unknown"),
        f"last ratings saved: {usage.skipped_ratings:,} of {usage.with_skipping:,}" if usage.with_skipping else "",
    ]
    return "Details: " + " · ".join(part for part in parts if part)


def _cost(usage: Usage) -> str:
    """What is known of the cost, if anything; of cases that cost nothing, it says nothing of the others."""
    is_known = usage.with_cost == usage.cases
    if not usage.with_cost or not (usage.cost_usd or is_known):
        return ""
    if not usage.cost_usd:
        return "no cost"
    cost = "under $0.01" if usage.cost_usd < _CENT else f"${usage.cost_usd:,.2f}"
    return cost + _known(usage.with_cost, usage.cases)


def _known(known: int, cases: int) -> str:
    return "" if known == cases else f" for {known} of {cases} cases, the rest unknown"


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


_MOST_THUMBS = 10


def with_thumbs(post: Post, thumbs: Sequence[ThumbCount], members: Mapping[str, Member] | None) -> Post:
    """The figures with a line for each author, most thumbs first; `members` are those to be named.

    Without members they are of one author, whom the title names.
    """
    if members is None:
        lines = [_line("Thumbs", each) for each in thumbs]
    else:
        shown = [each for each in thumbs if each.author_id in members][:_MOST_THUMBS]
        lines = [_line(f"*{clip(members[each.author_id].name, _NAME)}*, thumbs", each) for each in shown]
    if not lines:
        return post
    said = context("\n".join(lines))
    plain = None if post.plain_blocks is None else [*post.plain_blocks, said]
    return Post(post.text, [*post.blocks, said], plain)


def _line(whose: str, each: ThumbCount) -> str:
    replies = "reply" if each.replies == 1 else "replies"
    return f"{whose} (not labels): {each.up:,} up, {each.down:,} down on {each.replies:,} {replies}"


_MOST_BARS = 20
_BAR = 20
_LINE = 30
_VERSION = 120
_NO_BREAK = "\u00a0"

Points = Sequence[tuple[str, float]]
"""Labels with values; a trend has the weeks that have a mean, oldest first, each by its Monday."""


def _charts(figures: Figures, *, is_plain: bool) -> list[Block]:
    """The week's scores and the trend, as far as there are any."""
    trend, (low, high), found = _to_trend(figures), figures.scale, []
    counts = [(score, figures.this.counts.get(score, 0)) for score in range(low, high + 1)]
    has_bars = figures.this.n >= FEWEST and len(counts) <= _MOST_BARS
    if has_bars and is_plain:
        most = max(figures.this.counts.values())
        rows = [f"{score:>3} {'█' * round(count / most * _BAR):<{_BAR}} {count}" for score, count in counts]
        found.append(section("*Replies by score*\n```" + "\n".join(rows) + "```"))
    elif has_bars:
        bars = [(f"{score} ({count})", count) for score, count in counts]
        found.append(_chart("bar", "Replies by score", {"Replies": bars}, "Score (replies)", "Replies"))
    if len(trend) > 1 and is_plain:
        weeks = [f"{week}: {mean:.1f}".replace(" ", _NO_BREAK) for week, mean in trend]
        found.append(section("*Weekly mean*\n" + " · ".join(weeks)))
    elif len(trend) > 1:
        series: Mapping[str, Points] = {
            "Weekly mean": [(week, round(mean, 2)) for week, mean in trend],
            f"Best possible: {high}": [(week, high) for week, _ in trend],
            f"Worst possible: {low}": [(week, low) for week, _ in trend],
        }
        found.append(_chart("line", _from_to(trend), series, "Week from", "Score"))
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
    return f"Another judge{by} scored the weeks before {day}, so they are not compared: weekly mean {', '.join(means)}."


def _to_trend(glance: Glance) -> Points:
    """The weeks of one judge version, the newest: a line that joined two would show the judges' difference."""
    scored = [(point, point.mean) for point in glance.trend if point.mean is not None]
    return [(day_name(point.week.monday), mean) for point, mean in scored if point.version == scored[-1][0].version]


def _from_to(trend: Points) -> str:
    (first_week, first), (last_week, last) = trend[0], trend[-1]
    return f"Weekly mean: {first:.1f} ({first_week}) to {last:.1f} ({last_week})"


def _chart(kind: str, title: str, series: Mapping[str, Points], x_label: str, y_label: str) -> Block:
    categories = [label for label, _ in next(iter(series.values()))]
    lists = [
        {"name": name, "data": [{"label": label, "value": value} for label, value in points]}
        for name, points in series.items()
    ]
    axes = {"categories": categories, "x_label": x_label, "y_label": y_label}
    chart = {"type": kind, "series": lists, "axis_config": axes}
    return {"type": "data_visualization", "title": title, "chart": chart}
