"""A channel's week as a message (digest or stats): first the features' blocks, then the replies
that people chose.
"""

from collections.abc import Mapping, Sequence

from bot.features.digest import ids
from bot.figures import quality
from bot.figures.charts import (
    BEFORE,
    BY_JUDGE,
    charts,
    day_name,
    distances,
    good_words,
    low_words,
    moved,
)
from bot.figures.lowest import low_blocks
from bot.figures.week import FEWEST, Author, Figures, Glance
from bot.pipeline.verdict_text import in_short
from bot.slack import blocks as ui
from bot.slack.members import Member
from bot.slack.messenger import Drawn, Post
from bot.slack.mrkdwn import clip
from bot.store.digests import ThumbCount
from bot.store.figures import Usage
from judge.evaluation.stats import SURE, Interval, good_from, low_to
from judge.scoring.numbers import number_of

MOST_AUTHORS = 20
ENOUGH_LABELS = 20
_MIN_SCORES = 10  # with fewer, a range would say little more than the scale does
_MINUS = "−"
_NEW_JUDGE = f"Another judge scored {BEFORE}, so they are not compared."
TOO_FEW = (
    f"Fewer than {FEWEST} scores, so no figures: people may still be asked to score these "
    "replies blind."
)


def digest_message(
    figures: Figures,
    lead: Sequence[ui.Block | Drawn],
    members: Mapping[str, Member],
    workspace_url: str,
    channel_id: str,
    causes: Sequence[ui.Block] = (),
) -> Post:
    """The digest of a week: the `lead`, with the features' blocks, then what people chose; it
    quotes only reasons.
    """
    lowest = lowest_blocks(figures, members, workspace_url)
    middle: list[ui.Block | Drawn] = [*causes, *lowest, *_authors(figures, members)]
    is_drawn = any(isinstance(each, Drawn) for each in lead)
    by = BY_JUDGE if figures.people else ""
    trend = (
        [] if is_drawn else charts(figures.this, figures.trend, figures.scale, "chosen", by)[-1:]
    )
    return _message(figures, lead, "", [*middle, *trend, *_buttons(figures, channel_id)])


def details_message(figures: Figures, of_features: Sequence[ui.Block] = ()) -> Post:
    """What a digest leaves out, for one person: corrections, agreement with people, unscored cases,
    cost.
    """
    lines = (
        f"*{counted(figures)}*{BY_JUDGE}. {measures(figures)}" if figures.people else "",
        quality.corrected(figures.quality),
        _uncorrected(figures.quality),
        _agreement(figures),
        judge_change(figures),
        _unscored(figures),
        _details(figures),
    )
    return Post(
        "Details of this digest", [*of_features, *(ui.section(line) for line in lines if line)]
    )


def stats_message(
    figures: Figures,
    lead: Sequence[ui.Block | Drawn],
    members: Mapping[str, Member],
    workspace_url: str,
    channel_id: str,
    subject: str,
    causes: Sequence[ui.Block] = (),
    thumbs: str = "",
    *,
    has_lowest: bool,
) -> Post:
    """A week's figures: of one author with causes and lowest, or of the channel by assistant;
    `subject` names it.
    """
    lowest = lowest_blocks(figures, members, workspace_url)
    by = BY_JUDGE if figures.people else ""
    drawn = (
        charts(figures.this, figures.trend, figures.scale, "chosen", by)
        if figures.usage.cases
        else []
    )
    small = [not_counted(figures), _uncorrected(figures.quality), judge_change(figures)]
    small += [_agreement(figures)] if subject else []
    end = _buttons(figures, channel_id, figures.authors) if has_lowest else []
    middle = [*drawn, *causes, *(lowest if has_lowest else _authors(figures, members)), *end]
    return _message(
        figures, lead, subject, middle, [quality.corrected(figures.quality)], small, thumbs
    )


def counted(glance: Glance) -> str:
    """What a week's figures are about: the replies that people chose, which are not a sample of
    all.
    """
    if not glance.this.n:
        return "No reply that people chose has a score"
    return f"{number_of(glance.this.n, 'reply', 'replies')} chosen by people"


def measures(glance: Glance, people: quality.Quality | None = None) -> str:
    """Their mean and shares, by the judge or as `people` would score; a reason if they are too few,
    empty if none.
    """
    this = glance.this
    scale = glance.scale
    if this.mean is None:
        return TOO_FEW if this.n else ""
    low = this.share_up_to(low_to(scale)) or 0
    good = 1 - (this.share_up_to(good_from(scale) - 1) or 0)
    mean = f"*{this.mean:.1f}*"
    few = f"*{low:.0%}*"
    many = f"*{good:.0%}*"
    if people:
        of = ((people.mean, ".1f"), (people.low, ".0%"), (people.good, ".0%"))
        mean, few, many = (quality.span(each.corrected, form, "*") for each, form in of)
        mean += f"{quality.BY_LABELS},"
    average = f"Mean {mean} on a scale of {scale.low} to {scale.high}."
    return f"{average} Scored {low_words(scale)}: {few}. Scored {good_words(scale)}: {many}."


def not_counted(glance: Glance) -> str:
    """How many of a week's scores are not in these figures, because they cannot be combined; empty
    if none.
    """
    numbers = {"on another scale": glance.off_scale, "by another judge": glance.off_version}
    return " · ".join(
        f"not counted above, scored {how}: {number}" for how, number in numbers.items() if number
    )


def _message(
    figures: Figures,
    lead: Sequence[ui.Block | Drawn],
    subject: str,
    middle: Sequence[ui.Block | Drawn],
    lines: Sequence[str] = (),
    small: Sequence[str] = (),
    last: str = "",
) -> Post:
    """The common form of digest and stats: the `lead`, the count and mean, `lines`, the `middle`,
    the small print.
    """
    week = figures.week
    end = [ui.context(last)] if last else []
    start, due = (each.astimezone(week.zone) for each in (week.start, week.end))
    days = (due.date() - start.date()).days
    length = "Week" if days == 7 else number_of(days, "day")
    title = f"{length} up to {due:%A}, {day_name(due)} {due.year}, {due:%H:%M}"
    if figures.until < figures.week.end:
        title = f"This week so far (since {start:%A}, {day_name(start)}, {start:%H:%M})"
    title += f", {subject}" if subject else ""
    if not (figures.usage.cases or lead):
        sentence = f"{title}: no replies were scored in this channel."
        return Post(sentence, [ui.section(sentence), *map(ui.context, _uncounted(figures)), *end])
    top = [ui.section(f"*{title}*"), *lead] if lead else []
    said = [part["text"]["text"].partition("\n")[0] for part in lead[:1] if isinstance(part, dict)]
    if not figures.usage.cases:
        return Post.of(" ".join([f"{title}:", *said]).replace("*", ""), [*top, *middle, *end])
    counts = counted(figures)
    people, by = figures.people or (None, figures.change)
    change = "" if figures.this.mean is None else _NEW_JUDGE if figures.has_new_judge else moved(by)
    average = measures(figures, people)
    lines = (f"*{counts}*" if lead else f"*{title}*: {counts}", change, average, *lines)
    text = " ".join([f"{title}:", *said, f"{counts}.", change, average]).replace("*", "")
    return Post.of(
        " ".join(text.split()),
        [
            *top,
            ui.section("\n".join(line for line in lines if line)),
            *map(ui.context, quality.caveats(figures.raters, figures.unread)),
            *middle,
            *(ui.context(line) for line in (*small, *_uncounted(figures)) if line),
            *end,
        ],
    )


def _uncounted(figures: Figures) -> list[str]:
    typed, persons = (figures.uncounted.get(each, 0) for each in (False, True))
    parts = [number_of(typed, "typed text")] if typed else []
    parts += [number_of(persons, "reply of a person", "replies of people")] if persons else []
    return [f"In no figure: {' and '.join(parts)}."] if parts else []


def _uncorrected(found: quality.Quality | None) -> str:
    """The judge's own mean, what its range leaves out, and how many blind labels are missing; empty
    if none are.
    """
    if found is None or not (found.mean.missing or found.has_gap) or found.mean.n < _MIN_SCORES:
        return ""
    labels = "blind labels in each of these weeks"
    if found.mean.missing:
        labels = number_of(found.mean.missing, "more blind label")
    return (
        f"Mean over {quality.SPAN}: {quality.span(found.mean.judge, '.1f')}. This range ignores "
        f"the judge's own errors; {labels} would correct for them (`/judge label`)."
    )


def lowest_blocks(
    figures: Figures, members: Mapping[str, Member], workspace_url: str
) -> list[ui.Block]:
    names = {author_id: member.name for author_id, member in members.items()}
    listed = low_blocks(
        figures.lowest,
        [names.get(case.author_id or "", "") for case in figures.lowest],
        workspace_url,
    )
    return [ui.section("*Lowest*"), *listed] if listed else []


def _buttons(
    figures: Figures, channel_id: str, of: Sequence[Author] | None = None
) -> list[ui.Block]:
    """What shows one person all low replies, if there are any, or those of one author; and the
    details of a digest.
    """
    which = f"{channel_id}:{figures.week.start.isoformat()}/{figures.week.end.isoformat()}"
    author = "".join(f"/{each.id}" for each in (of or ())[:1])
    row = [ui.button("See all", ids.ACTION_LOW_LIST, f"{which}{author}")] if figures.lowest else []
    row += [ui.button("Details", ids.ACTION_DIGEST_DETAILS, which)] if of is None else []
    return [ui.actions(*row)] if row else []


def _authors(figures: Figures, members: Mapping[str, Member]) -> list[Drawn]:
    low = low_words(figures.scale)
    mean_of = "judge's mean" if figures.people else "mean"
    lines = []
    rows = []
    for author in [author for author in figures.authors if author.id in members][:MOST_AUTHORS]:
        name = members[author.id].name[:80]
        n = author.this.n
        mean = author.this.mean
        if mean is None:
            continue
        change = moved_in_short(author.change) or ("too few earlier" if author.last.n else "new")
        share = f"{author.this.share_up_to(low_to(figures.scale)) or 0:.0%}"
        replies = number_of(n, "reply", "replies")
        lines.append(
            f"*{clip(name)}*: {replies}, {mean_of} {mean:.1f} ({change}), {share} scored {low}"
        )
        numbers = [
            {"type": "raw_number", "value": float(each), "text": each}
            for each in (f"{n}", f"{mean:.1f}")
        ]
        rows.append([_raw(name), *numbers, _raw(change), _raw(share)])
    if not rows:
        return []
    header = [
        _raw(title)
        for title in ("Assistant", "Replies", mean_of.capitalize(), "Change", f"Scored {low}")
    ]
    table = {
        "type": "data_table",
        "caption": "Chosen replies by assistant",
        "rows": [header, *rows],
        "page_size": 10,
    }
    return [Drawn(table, ui.section("\n".join(lines)[:2900]))]


def moved_in_short(change: Interval | None) -> str:
    if change is None:
        return ""
    if not change.is_clear:
        return "no clear change"
    by, near, far = distances(change)
    return f"{'▼' if change.mean < 0 else '▲'} {by} ({near} to {far})"


def _raw(text: str) -> ui.Block:
    return {"type": "raw_text", "text": text}


def _unscored(figures: Figures) -> str:
    words = quality.add_up((in_short(reason), count) for reason, count in figures.unscored.items())
    parts = [*(f"{why}: {count}" for why, count in words.items()), not_counted(figures)]
    total = sum(figures.unscored.values())
    return (f"*Unscored: {total}* · " if total else "") + " · ".join(part for part in parts if part)


def _agreement(figures: Figures) -> str:
    parts = []
    are_enough = [found.n >= ENOUGH_LABELS for _, found in _labelled(figures)]
    for how, found in _labelled(figures):
        said = (
            quality.span(found.within_one, ".0%") if found.n >= ENOUGH_LABELS else "too few to say"
        )
        parts.append(f"{how}: {said} ({number_of(found.n, 'reply', 'replies')})")
    if not parts:
        return ""
    if not all(are_enough) and (more := quality.more_labels(figures.quality)):
        parts.append(more)
    if any(are_enough) and figures.unlike < SURE:
        why = "by their scores, Kolmogorov-Smirnov test"
        parts.append(
            f"careful: this week's replies differ from the labelled ones ({why}), so label new ones"
        )
    return " · ".join(["*Judge within one point of people's labels*", *parts])


def _labelled(figures: Figures) -> Sequence[tuple[str, quality.Agreement]]:
    found = ("blind labels", figures.blind), ("labels given after seeing the score", figures.seen)
    return [(how, its) for how, its in found if its]


def _closer(figures: Figures) -> list[str]:
    parts = []
    for how, found in _labelled(figures):
        if found.n >= ENOUGH_LABELS:
            has_kappa = found.kappa is not None and found.kappa.low is not None
            kappa = (
                f", weighted kappa {quality.span(found.kappa, '.2f')}".replace("-", _MINUS)
                if has_kappa
                else ""
            )
            parts.append(f"{how}: same score {found.exact.mean:.0%}{kappa}")
    return parts


def _details(figures: Figures) -> str:
    usage = figures.usage
    tokens = (
        f"{usage.tokens:,} tokens{_known(usage.with_tokens, usage.cases)}"
        if usage.with_tokens
        else ""
    )
    cost = _cost(usage)
    parts = [
        f"Requested by {number_of(usage.people, 'person', 'people')}" if usage.people else "",
        *_closer(figures),
        tokens or (cost and "tokens unknown"),
        cost or (tokens and "cost unknown"),
        f"third rating not needed: {usage.skipped_ratings:,} of {usage.with_skipping:,}"
        if usage.with_skipping
        else "",
    ]
    return " · ".join(part for part in parts if part)


def _cost(usage: Usage) -> str:
    """The known cost; empty if none is known, or if some costs are unknown and the known ones are
    zero.
    """
    is_known = usage.with_cost == usage.cases
    if not usage.with_cost or not (usage.cost_usd or is_known):
        return ""
    if not usage.cost_usd:
        return "no cost"
    cost = "under $0.01" if usage.cost_usd < 0.01 else f"${usage.cost_usd:,.2f}"
    return cost + _known(usage.with_cost, usage.cases)


def _known(known: int, cases: int) -> str:
    return "" if known == cases else f" for {known} of {cases} cases, the rest unknown"


def thumb_lines(thumbs: Sequence[ThumbCount], members: Mapping[str, Member] | None) -> str:
    """A line of thumbs for each author to be named, most thumbs first; with None, of one author,
    whom a title names.
    """
    shown = [each for each in thumbs if members is None or each.author_id in members][:10]
    lines = []
    for each in shown:
        whose = "Thumbs" if members is None else f"*{clip(members[each.author_id].name)}*, thumbs"
        on = number_of(each.replies, "reply", "replies")
        lines.append(f"{whose} (not labels): {each.up:,} up, {each.down:,} down on {on}")
    return "\n".join(lines)


def judge_change(glance: Glance) -> str:
    """The sentence on the weeks that the trend omits because another judge scored them; empty if
    there are none.
    """
    scored = [point for point in glance.trend if point.mean is not None]
    others = [point for point in scored if point.version != scored[-1].version]
    if not others:
        return ""
    last = others[-1]
    means = ", ".join(f"{point.mean:.1f}" for point in others)
    day = day_name(last.week.end.astimezone(last.week.zone))
    by = clip(last.version or "", 120)
    who = f"Another judge (`{by}`)" if by else "Another judge"
    return f"{who} scored the weeks before {day}, so they are not compared: weekly mean {means}."
