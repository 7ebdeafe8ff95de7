"""A channel's week as a message: the standings, what people chose, the causes, and the lowest
replies.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from bot.domain.week import Week
from bot.features.digest import ids
from bot.features.digest.channel_week import ChannelWeek
from bot.features.digest.queries import SortedReply
from bot.figures import quality
from bot.figures.lowest import LowList, causes_in_order, low_blocks
from bot.figures.week import (
    LONGEST_WEEK,
    Author,
    Chosen,
    Details,
    day_name,
    days_words,
    four_weeks_words,
    low_words,
    weekly_means,
)
from bot.pipeline.verdict_text import in_short
from bot.slack import blocks as ui
from bot.slack.members import Member
from bot.slack.messenger import Post, drawn_from
from bot.slack.mrkdwn import clip
from bot.store.digests import ThumbCount
from bot.store.figures import Usage
from judge.evaluation.distributions import SURE
from judge.evaluation.naming import OTHER
from judge.evaluation.planning import more_for
from judge.evaluation.stats import low_to
from judge.scoring.numbers import number_of

MOST_AUTHORS = 10
ENOUGH_LABELS = 20
_MOST_NAMED = 5
_MOST_CAUSES = 3
# characters
_NAME = 40
_ASSISTANT = 30
_CAUSE = 60


def digest_message(shown: ChannelWeek, workspace_url: str) -> Post:
    """The digest of a week; it quotes only questions and reasons."""
    return _message(shown, _time(shown.week), shown.week, workspace_url)


def stats_message(shown: ChannelWeek, subject: str, workspace_url: str, now: datetime) -> Post:
    """The week so far, or a time that is over; `subject` names what it is about."""
    is_over = shown.week.end <= now
    title = _time(shown.week)
    if not is_over:
        start = shown.week.start.astimezone(shown.week.zone)
        title = f"This week so far (since {start:%A}, {day_name(start)})"
    title += f", {subject}" if subject else ""
    causes_of = shown.week if is_over else shown.week.before()
    return _message(shown, title, causes_of, workspace_url)


def _time(week: Week) -> str:
    # A month ends at midnight.
    end = week.end.astimezone(week.zone) - timedelta(microseconds=1)
    return f"{week.length.capitalize()} up to {end:%A}, {day_name(end)}"


def _message(shown: ChannelWeek, title: str, causes_of: Week, workspace_url: str) -> Post:
    lead = [*shown.part.blocks, *chosen_blocks(shown)]
    names = shown.names
    causes_days = days_words(causes_of)
    causes = cause_blocks(shown.causes, shown.causes_before, names, causes_days)
    authors = [names.get(case.author_id or "", "") for case in shown.lowest]
    lowest = low_blocks(shown.lowest, authors, workspace_url, is_short=True)
    if not (lead or causes or lowest):
        said = f"{title}: no replies were scored."
        return Post(said, [ui.section(said)])
    first = lead[0]["text"]["text"].partition("\n")[0] if lead else ""
    blocks = [ui.section(f"*{title}*"), *lead, *causes]
    if lowest:
        blocks += [ui.section("*Lowest*"), *lowest]
    buttons = list[ui.Block]()
    if lowest or not shown.place.channel_id:
        buttons.append(ui.button("See all", ids.ACTION_LOW_LIST, shown.low_list.value))
    if shown.place.channel_id and shown.week.days <= LONGEST_WEEK:
        buttons.append(ui.button("Details", ids.ACTION_DIGEST_DETAILS, shown.low_list.value))
    blocks += [ui.actions(*buttons)] if buttons else []
    return Post(f"{title}: {first}".replace("*", ""), blocks)


def see_button(which: LowList) -> ui.Block:
    """The button that lists low replies, where another feature counts them."""
    return ui.button("See them", ids.ACTION_LOW_LIST, which.value)


def chosen_blocks(shown: ChannelWeek) -> list[ui.Block]:
    """What people chose, a line for each assistant to be named, and how many replies others wrote;
    without a mean where a standing has one.
    """
    chosen = shown.chosen
    if chosen is None:
        return []
    named = [author for author in chosen.authors if author.id in shown.members]
    listed = named[:MOST_AUTHORS]
    lines = [
        _author_line(author, shown.members[author.id].name, author.id in shown.part.author_ids)
        for author in listed
    ]
    if more := chosen.this.n - sum(author.this.n for author in listed):
        which = "more " if lines else ""
        noun = "reply" if more == 1 else "replies"
        lines.append(f"{more:,} {which}{noun} chosen by people.")
    if not lines:
        return []
    if caveat := quality.caveat(chosen.raters):
        lines.append(caveat)
    return [ui.section("\n".join(lines))]


def cause_blocks(
    found: Sequence[SortedReply],
    before: Sequence[SortedReply],
    names: Mapping[str, str],
    when: str,
) -> list[ui.Block]:
    """How many low replies of a week have each cause, of each of the assistants with these names,
    and how many had it in the week before; `when` names the week.

    A block of its own each, because the words of a cause go with those of its replies.
    """
    shown = [reply for reply in found if reply.author_id in names]
    numbers_before = Counter((reply.cause, reply.author_id) for reply in before)
    blocks = list[ui.Block]()
    counted = Counter[str | None](reply.cause for reply in shown)
    causes = causes_in_order(counted)
    for cause in causes[:_MOST_CAUSES]:
        replies = [reply for reply in shown if reply.cause == cause]
        numbers = Counter(reply.author_id or "" for reply in replies)
        parts = list[str]()
        for author_id, number in numbers.most_common(_MOST_NAMED):
            part = f"*{clip(names[author_id], _ASSISTANT)}* {number}"
            earlier = numbers_before[cause, author_id]
            if earlier:
                part += f" (was {earlier})"
            elif before and cause != OTHER:
                part += " (new)"
            parts.append(part)
        block = ui.section(f"• {clip(cause, _CAUSE)}: {', '.join(parts)}")
        if cause != OTHER:
            block = drawn_from([reply.case_id for reply in replies], block)
        blocks.append(block)
    if not blocks:
        return []
    if more := sum(counted[cause] for cause in causes[_MOST_CAUSES:]):
        blocks.append(ui.section(f"• other causes: {more:,}"))
    replies_words = number_of(len(shown), "reply", "replies")
    return [ui.section(f"*Why replies scored low, {when}* ({replies_words})"), *blocks]


def _author_line(author: Author, name: str, has_standing: bool) -> str:
    replies = number_of(author.this.n, "reply", "replies")
    line = f"*{clip(name, _NAME)}*: {replies} chosen by people"
    if has_standing or author.level.mean is None:
        return f"{line}."
    scores = number_of(author.level.n, "score")
    return f"{line}. Mean *{author.level.mean:.1f}*, by {scores} in four weeks."


def details_message(
    shown: Chosen,
    details: Details,
    of_features: Sequence[ui.Block],
    thumbs: str,
) -> Post:
    """What a digest leaves out, for one person: as people score, the weeks, agreement with people,
    unscored cases, cost.
    """
    means = weekly_means(details.trend)
    lines = (
        _measures(shown),
        quality.as_people(details.quality, four_weeks_words(shown.week)),
        f"Mean of each week, from its first day: {means}." if means else "",
        _agreement(details),
        _unscored(shown),
        _usage(details),
        thumbs,
    )
    blocks = [*of_features, *(ui.section(line) for line in lines if line)]
    return Post("Details", blocks or [ui.section("There are no more details yet.")])


def _measures(chosen: Chosen) -> str:
    """The week of what people chose: its mean and share of low scores, if there are enough."""
    this = chosen.this
    scale = chosen.scale
    if not this.n:
        return ""
    counted = f"*{number_of(this.n, 'reply', 'replies')} chosen by people* this week."
    low = this.share_up_to(low_to(scale))
    if this.mean is None or low is None:
        return counted
    average = f"Mean {this.mean:.1f} on a scale of {scale.low} to {scale.high}."
    return f"{counted} {average} Scored {low_words(scale)}: {low:.0%}."


def _unscored(chosen: Chosen) -> str:
    words = quality.add_up((in_short(reason), count) for reason, count in chosen.unscored.items())
    parts = [f"{why}: {count}" for why, count in words.items()]
    if parts:
        parts.insert(0, f"*Unscored: {words.total()}*")
    if chosen.off_scale:
        parts.append(f"on another scale: {chosen.off_scale}")
    if chosen.off_version:
        parts.append(f"by another judge: {chosen.off_version}")
    if chosen.unread:
        parts.append(f"with something that was not read: {chosen.unread}")
    return " · ".join(parts)


def _agreement(details: Details) -> str:
    parts = list[str]()
    are_enough = [found.n >= ENOUGH_LABELS for _, found in _labelled(details)]
    for how, found in _labelled(details):
        said = "too few to say"
        if found.n >= ENOUGH_LABELS:
            said = quality.span(found.within_one, ".0%")
        parts.append(f"{how}: {said} ({number_of(found.n, 'reply', 'replies')})")
    if not parts:
        return ""
    more = more_for(details.quality.mean, 0.5) if details.quality else None
    if more and not all(are_enough):
        parts.append(
            f"about {more} more blind labels would show the mean, as people score, to ±0.5"
        )
    if any(are_enough) and details.unlike < SURE:
        parts.append(
            "careful: this week's replies score unlike the labelled ones, so label new ones"
        )
    return " · ".join(["*Judge within one point of people's labels*", *parts])


def _labelled(details: Details) -> Sequence[tuple[str, quality.Agreement]]:
    found = list[tuple[str, quality.Agreement]]()
    if details.blind:
        found.append(("blind labels", details.blind))
    if details.seen:
        found.append(("labels given after seeing the score", details.seen))
    return found


def _usage(details: Details) -> str:
    usage = details.usage
    parts = list[str]()
    if usage.people:
        parts.append(f"Requested by {number_of(usage.people, 'person', 'people')}")
    tokens = ""
    if usage.with_tokens:
        tokens = f"{usage.tokens:,} tokens{_known(usage.with_tokens, usage.cases)}"
    parts += [each for each in (tokens, _cost(usage)) if each]
    return " · ".join(parts)


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


def thumb_lines(thumbs: Sequence[ThumbCount], members: Mapping[str, Member]) -> str:
    """A line of thumbs for each assistant, most thumbs first."""
    lines = list[str]()
    for thumb in [each for each in thumbs if each.author_id in members][:MOST_AUTHORS]:
        name = clip(members[thumb.author_id].name)
        on = number_of(thumb.replies, "reply", "replies")
        lines.append(f"*{name}*, thumbs (not labels): {thumb.up:,} up, {thumb.down:,} down on {on}")
    return "\n".join(lines)
