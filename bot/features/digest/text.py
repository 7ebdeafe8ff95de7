"""A channel's week as a message, digest or stats: native charts and a table, and the same in plain blocks.

Source: https://docs.slack.dev/reference/block-kit/blocks/data-table-block
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from bot.domain.week import Week
from bot.features.digest.charts import charts, day_name, judge_change
from bot.figures.quality import Agreement, corrected, uncorrected, without_model
from bot.figures.week import Author, Figures, Glance
from bot.pipeline.verdict_text import in_short
from bot.slack.blocks import Block, context, permalink, section, short_date
from bot.slack.members import Member
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip
from bot.store.figures import LowCase, ThumbCount, Usage
from judge.stats import SURE

MOST_AUTHORS = 20
ENOUGH_LABELS = 20
_NAME = 80
_CENT = 0.01
_MINUS = "−"
_PREVIEW = "`/judge digest now` posts this here."


def digest_message(
    figures: Figures, lead: Sequence[str], members: Mapping[str, Member], workspace_url: str, channel_id: str
) -> Post:
    """The week at a glance, with a plain form for a Slack that does not know charts and tables.

    First the `lead`, what features say of the week, then what people chose. `members` are the authors to be named. No
    text of a question, response or justification is ever in it.
    """
    lowest = _lowest(figures, members, workspace_url, channel_id)
    lines = (
        judge_change(figures),
        uncorrected(figures.quality),
        _unscored(figures),
        _agreement(figures),
        _details(figures),
    )
    small = [context(line) for line in lines if line]
    return _message(figures, lead, "", lambda is_plain: [*lowest, *_authors(figures, members, is_plain), *small])


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
) -> Post:
    """A week's figures alone: with each assistant, or of one author with their lowest; `subject` is in the title."""
    lowest = _lowest(figures, members, workspace_url, channel_id)
    lines = (
        judge_change(figures),
        uncorrected(figures.quality),
        not_counted(figures),
        _agreement(figures) if subject else "",
    )
    small = [context(line) for line in lines if line]
    return _message(
        figures, lead, subject, lambda is_plain: [*(_authors(figures, members, is_plain) or lowest), *small]
    )


def counted(glance: Glance) -> str:
    """What a week's figures are of: no sample of all replies, but those that people chose."""
    if not glance.this.n:
        return "None of the replies that people chose to score has a score"
    return f"{_count(glance.this.n, 'reply', 'replies')} that people chose to score"


def measures(glance: Glance) -> str:
    """Their median and mean, and the change; empty without a score."""
    this, last = glance.this, glance.last
    if this.median is None or this.mean is None:
        return ""
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
    return " · ".join(f"scored {how} and not counted above: {number}" for how, number in numbers.items() if number)


def _message(figures: Figures, lead: Sequence[str], subject: str, rest: Callable[[bool], list[Block]]) -> Post:
    """What they have in common, what is counted, median, mean, and charts, and the `rest`, plain or not.

    The `lead` comes first.
    """
    title = _title(figures) + (f", {subject}" if subject else "")
    if figures.is_quiet and not lead:
        sentence = f"{title}: no replies were scored in this channel."
        return Post(sentence, [section(sentence)])
    first = [section("\n".join([f"*{title}*", *lead]))] if lead else []
    text = f"{title}: " + "".join(f"{line} " for line in lead[:1])
    if figures.is_quiet:
        return Post(text.replace("*", "").strip(), first)
    counts = counted(figures)
    lines = (counts if lead else f"*{title}*: {counts}", measures(figures), corrected(figures.quality))
    begin = section("\n".join(line for line in lines if line))
    top = [*first, begin, *(context(line) for line in without_model(figures.raters))]
    text = f"{text}{counts}. {measures(figures)}".replace("*", "").strip()
    native, plain = ([*top, *charts(figures, is_plain=is_plain), *rest(is_plain)] for is_plain in (False, True))
    return Post(text, native, plain)


def _title(figures: Figures) -> str:
    days = _days(figures.week)
    return f"Week of {days}" if figures.is_finished else f"This week so far ({days})"


def _days(week: Week) -> str:
    sunday = week.monday + timedelta(days=6)
    begin = f"{week.monday.day}" if week.monday.month == sunday.month else day_name(week.monday)
    return f"{begin}–{day_name(sunday)} {sunday.year}"


def _change(now: float, before: float, form: str = ".1f") -> str:
    """The change between the two as they are shown, so that the line adds up."""
    difference = round(now, 1) - round(before, 1)
    shown = f"{abs(difference):{form}}"
    if float(shown) == 0:
        return "±0"
    return f"+{shown}" if difference > 0 else f"{_MINUS}{shown}"


def _lowest(figures: Figures, members: Mapping[str, Member], workspace_url: str, channel_id: str) -> list[Block]:
    names = {None: "typed"} | {author_id: member.name for author_id, member in members.items()}
    address, highest = (workspace_url, channel_id), figures.scale[1]
    lines = [_low_line(case, highest, names.get(case.author_id, ""), *address) for case in figures.lowest]
    return [section("\n".join(["*Lowest*", *lines]))] if lines else []


def _low_line(case: LowCase, highest: int, name: str, workspace_url: str, channel_id: str) -> str:
    """A low score, so that it can be found; quoted it would stay when its message is deleted, or somebody forgotten."""
    score, ts = f"Score {case.score} of {highest}", case.message_ts or case.thread_ts
    linked = f"<{permalink(workspace_url, channel_id, ts, case.thread_ts)}|{score}>" if ts else score
    gone = "message deleted" if case.deleted_at else ""
    parts = [linked, clip(name, _NAME), short_date(case.judged_at), f"case {case.id}", gone]
    return "• " + " · ".join(part for part in parts if part)


def _authors(figures: Figures, members: Mapping[str, Member], is_plain: bool) -> list[Block]:
    authors = [author for author in figures.authors if author.id in members][:MOST_AUTHORS]
    if not authors:
        return []
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


def _unscored(figures: Figures) -> str:
    words: dict[str, int] = {}
    for reason, count in figures.unscored.items():
        why = in_short(reason)
        words[why] = words.get(why, 0) + count
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
        parts.append(f"careful: the labelled replies are not like this week's ({why}): label new ones")
    return " · ".join(parts)


def _agreed(agreement: Agreement) -> str:
    if agreement.n < ENOUGH_LABELS:
        return f"too few labels to say ({agreement.labels})"
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
    tokens, cost = _tokens(usage), _cost(usage)
    kappa = ever.kappa if ever and ever.n >= ENOUGH_LABELS else None
    parts = [
        f"asked for by {_count(usage.people, 'person', 'people')}",
        "" if kappa is None else f"weighted kappa {kappa:.2f}".replace("-", _MINUS),
        tokens or (cost and "tokens unknown"),
        cost or (tokens and "cost unknown"),
        f"last ratings saved: {usage.spared:,} of {usage.with_spared:,}" if usage.with_spared else "",
    ]
    return "Details: " + " · ".join(part for part in parts if part)


def _tokens(usage: Usage) -> str:
    return f"{usage.tokens:,} tokens{_known(usage.with_tokens, usage.cases)}" if usage.with_tokens else ""


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


_MOST = 10


def with_thumbs(post: Post, thumbs: Sequence[ThumbCount], members: Mapping[str, Member] | None) -> Post:
    """The figures with a line for each author, most thumbs first; `members` are those to be named.

    Without members they are of one author, whom the title names.
    """
    if members is None:
        lines = [_line("Thumbs", each) for each in thumbs]
    else:
        shown = [each for each in thumbs if each.author_id in members][:_MOST]
        lines = [_line(f"*{clip(members[each.author_id].name, _NAME)}*, thumbs", each) for each in shown]
    if not lines:
        return post
    said = context("\n".join(lines))
    plain = None if post.plain_blocks is None else [*post.plain_blocks, said]
    return Post(post.text, [*post.blocks, said], plain)


def _line(whose: str, each: ThumbCount) -> str:
    replies = "reply" if each.replies == 1 else "replies"
    return f"{whose}, which are no labels: {each.up:,} up, {each.down:,} down on {each.replies:,} {replies}"
