"""A channel's week as a message: the standings, what people chose, the causes, and the lowest
replies.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta

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
    weekly_means,
)
from bot.pipeline.verdict_text import in_short
from bot.slack import blocks as ui
from bot.slack.members import Member
from bot.slack.messenger import Post, drawn_from, sentence
from bot.slack.mrkdwn import clip
from bot.store.digests import ThumbCount
from judge.evaluation.distributions import SURE
from judge.evaluation.naming import OTHER
from judge.scoring.numbers import number_of

MOST_AUTHORS = 10
_MOST_NAMED = 5
_MOST_CAUSES = 3
# characters
_NAME = 40
_ASSISTANT = 30
_CAUSE = 60


def week_message(shown: ChannelWeek, workspace_url: str, subject: str = "") -> Post:
    """The week, as a digest and on demand; it quotes only questions and reasons. `subject` names
    what it is about, if that is not plain.
    """
    title = _title(shown) + (f", {subject}" if subject else "")
    lead = [*shown.part.blocks, *chosen_blocks(shown)]
    causes = cause_blocks(shown)
    authors = [shown.names.get(case.author_id or "", "") for case in shown.lowest]
    lowest = low_blocks(shown.lowest, authors, workspace_url, is_short=True)
    if not (lead or causes or lowest):
        return sentence(f"{title}: no replies were scored.")
    first = lead[0]["text"]["text"].partition("\n")[0] if lead else ""
    blocks = [ui.section(f"*{title}*"), *lead, *causes]
    if lowest:
        blocks += [ui.section("*Lowest*"), *lowest]
    if buttons := _buttons(shown):
        blocks.append(ui.actions(*buttons))
    return Post(f"{title}: {first}".replace("*", ""), blocks)


def _title(shown: ChannelWeek) -> str:
    week = shown.week
    if shown.is_over:
        # A month ends at midnight.
        end = week.end.astimezone(week.zone) - timedelta(microseconds=1)
        return f"{week.length.capitalize()} up to {end:%A}, {day_name(end)}"
    start = week.start.astimezone(week.zone)
    return f"This week so far (since {start:%A}, {day_name(start)})"


def _buttons(shown: ChannelWeek) -> list[ui.Block]:
    value = shown.low_list.value
    buttons = list[ui.Block]()
    if shown.lowest or not shown.place.channel_id:
        buttons.append(ui.button("See all", ids.ACTION_LOW_LIST, value))
    if shown.place.channel_id and shown.week.days <= LONGEST_WEEK:
        buttons.append(ui.button("Details", ids.ACTION_DIGEST_DETAILS, value))
    return buttons


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
        replies = number_of(more, "other reply", "other replies")
        lines.append(f"{replies} chosen by people.")
    if not lines:
        return []
    if caveat := quality.caveat(chosen.raters):
        lines.append(caveat)
    return [ui.section("\n".join(lines))]


def cause_blocks(shown: ChannelWeek) -> list[ui.Block]:
    """How many low replies have each cause, of each of the assistants that may be named, and how
    many had it in the week before.

    A block of its own each, because the words of a cause go with those of its replies.
    """
    named = [reply for reply in shown.causes.replies if reply.author_id in shown.members]
    replies = quality.grouped((reply.cause, reply) for reply in named)
    causes = causes_in_order({cause: len(its) for cause, its in replies.items()})
    if not causes:
        return []
    number = number_of(len(named), "reply", "replies")
    title = f"*Why replies scored low, {days_words(shown.causes.week)}* ({number})"
    blocks = [ui.section(title)]
    blocks += [_cause_block(cause, replies[cause], shown) for cause in causes[:_MOST_CAUSES]]
    if more := sum(len(replies[cause]) for cause in causes[_MOST_CAUSES:]):
        blocks.append(ui.section(f"• other causes: {more:,}"))
    return blocks


def _cause_block(cause: str, replies: Sequence[SortedReply], shown: ChannelWeek) -> ui.Block:
    earlier = Counter(reply.author_id for reply in shown.causes.before if reply.cause == cause)
    numbers = Counter(reply.author_id or "" for reply in replies)
    parts = list[str]()
    for author_id, number in numbers.most_common(_MOST_NAMED):
        before = f" (was {earlier[author_id]})" if shown.causes.before else ""
        parts.append(f"*{clip(shown.names[author_id], _ASSISTANT)}* {number}{before}")
    block = ui.section(f"• {clip(cause, _CAUSE)}: {', '.join(parts)}")
    if cause == OTHER:
        return block
    return drawn_from([reply.case_id for reply in replies], block)


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
    """The week of what people chose: its mean, if there are enough."""
    this = chosen.this
    if not this.n:
        return ""
    counted = f"*{number_of(this.n, 'reply', 'replies')} chosen by people* this week."
    if this.mean is None:
        return counted
    scale = chosen.scale
    return f"{counted} Mean {this.mean:.1f} on a scale of {scale.low} to {scale.high}."


def _unscored(chosen: Chosen) -> str:
    words = quality.add_up((in_short(reason), count) for reason, count in chosen.unscored.items())
    parts = [f"{why}: {count}" for why, count in words.items()]
    if parts:
        parts.insert(0, f"*Unscored: {words.total()}*")
    if chosen.otherwise:
        parts.append(f"by another judge or on another scale: {chosen.otherwise}")
    return " · ".join(parts)


def _agreement(details: Details) -> str:
    parts = [f"*{quality.AGREEMENT}*"]
    labelled = {
        "blind labels": details.blind,
        "labels given after seeing the score": details.seen,
    }
    for how, found in labelled.items():
        if found:
            parts.append(f"{how}: {quality.agreement_words(found)}")
            if found.n >= quality.ENOUGH_LABELS and details.unlike < SURE:
                parts.append("careful: this week's replies score unlike these, so label new ones")
    return " · ".join(parts) if len(parts) > 1 else ""


def _usage(details: Details) -> str:
    usage = details.usage
    parts = list[str]()
    if usage.with_tokens:
        parts.append(f"{usage.tokens:,} tokens{_known(usage.with_tokens, usage.cases)}")
    if usage.cost_usd:
        cost = max(usage.cost_usd, 0.01)
        parts.append(f"${cost:,.2f}{_known(usage.with_cost, usage.cases)}")
    return " · ".join(parts)


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
