"""The text of watched assistants: as a digest begins with them, in its details, and in the Home
tab.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from bot.domain.standing import Standing
from bot.domain.watch import ReplyOutcome
from bot.domain.week import Week
from bot.features.watch.figures import (
    LOW_FOR,
    AssistantAtHome,
    AssistantDetails,
    AssistantWeek,
    Volume,
)
from bot.features.watch.queries import Release
from bot.features.watch.release_text import release_line
from bot.features.watch.standing_text import cause_lines, first_line, level_line
from bot.features.watch.text import MOST_SHOWN, outcomes
from bot.figures import quality
from bot.figures.lowest import LowList
from bot.figures.week import TREND_WEEKS, four_weeks_words, weekly_means
from bot.slack import blocks as ui
from bot.slack.members import Member
from bot.slack.mrkdwn import clip
from judge.scoring.numbers import number_of

MOST_RELEASES = 3
_NEARLY_ALL = 0.9
_NOT_SCORED = [
    *(ReplyOutcome.PASSED, ReplyOutcome.OVER, ReplyOutcome.MISSED, ReplyOutcome.BROKE_OFF),
    *(ReplyOutcome.NO_ANSWER, ReplyOutcome.EDITED, ReplyOutcome.DELETED, None),
]


def week_blocks(
    assistants: Sequence[AssistantWeek], members: Mapping[str, Member], week: Week
) -> list[ui.Block]:
    """The first part of a digest: the watched assistants among `members`."""
    shown = [each for each in assistants if each.author_id in members][:MOST_SHOWN]
    blocks = [
        ui.section("\n".join(week_lines(each, members[each.author_id].name, week.length)))
        for each in shown
    ]
    raters = quality.add_up(count for each in shown for count in each.this.raters.items())
    if caveat := quality.caveat(raters):
        blocks.append(ui.context(caveat))
    return blocks


def week_lines(assistant: AssistantWeek, name: str, length: str) -> list[str]:
    """What is known of its quality, whose change it is, and how much it has written."""
    lines = standing_lines(assistant.standing, name)
    if level := assistant.level:
        by = number_of(level.n, "score")
        mean = f"too few scores for a mean ({level.n})"
        if level.mean is not None:
            mean = f"mean {level.mean:.1f}, by {by}"
        now = "It is no longer watched here."
        if assistant.channels:
            now = f"Now: {first_line(assistant.standing, name)}."
        lines = [f"*{clip(name)}*: {mean}", now]
    if assistant.only_in:
        lines[1:1] = [f"In <#{assistant.only_in}>."]
    elif assistant.channels > 1:
        lines[1:1] = [f"In {assistant.channels} channels."]
    return [*lines, _volume(assistant.this, assistant.before, length), *assistant.lines]


def standing_lines(standing: Standing | None, name: str) -> list[str]:
    """A standing in full, in the words that every screen has."""
    lines = [first_line(standing, name)]
    if standing is not None:
        lines += [level_line(standing), *cause_lines(standing)]
    return [line for line in lines if line]


def _volume(this: Volume, before: Volume, length: str) -> str:
    """How many replies there are, to how many people, and before; and if a part of them has no
    score, how many have one and why not all.
    """
    seen = this.coverage.seen
    said = number_of(seen, "reply", "replies") if seen else "No replies"
    said += _askers(this)
    if before.coverage.seen:
        said += f"; {before.coverage.seen:,}{_askers(before)} the {length} before"
    if _is_nearly_all(this):
        return f"{said}."
    how = "scored" if this.is_of_all else "drawn at random and scored"
    said += f". {this.scored:,} {how}"
    others = outcomes(this.coverage, _NOT_SCORED)
    return f"{said} ({', '.join(others)})." if others else f"{said}."


def _askers(volume: Volume) -> str:
    """To how many people the replies are; known of those with a score."""
    if not volume.askers or not _is_nearly_all(volume):
        return ""
    return f" to {number_of(volume.askers, 'person', 'people')}"


def _is_nearly_all(volume: Volume) -> bool:
    return volume.scored >= _NEARLY_ALL * volume.coverage.seen


def detail_block(
    assistant: AssistantWeek,
    name: str,
    details: AssistantDetails,
    releases: Sequence[Release],
    week: Week,
) -> ui.Block | None:
    """What a digest leaves out of an assistant: what people would score, the judge's agreement with
    them, its weeks, and its releases in them; None if there is nothing.
    """
    lines = [
        quality.as_people(details.quality, four_weeks_words(week)),
        *_beside_it(details),
    ]
    if releases:
        marked = "; ".join(release_line(each, name) for each in releases[:MOST_RELEASES])
        lines.append(f"In these weeks: {marked}.")
    if not any(lines):
        return None
    title = f"*{clip(name)}*"
    if standing := assistant.standing:
        title += f", on a scale from {standing.lowest} to {standing.highest}"
    return ui.section("\n".join([title, *filter(None, lines)]))


def _beside_it(details: AssistantDetails) -> list[str]:
    """The judge's agreement with people, and the mean of each week."""
    lines = list[str]()
    if details.blind:
        words = quality.agreement_words(details.blind)
        lines.append(f"{quality.AGREEMENT}, blind labels: {words}.")
    if means := weekly_means(details.trend):
        lines.append(f"Mean of each week, from its first day: {means}.")
    return lines


def releases_in(releases: Sequence[Release], week: Week) -> Sequence[Release]:
    """Those of the weeks whose means the details give."""
    begin = week.before(TREND_WEEKS - 1).start
    return [release for release in releases if begin <= release.set_at < week.end]


def home_blocks(
    assistants: Sequence[AssistantAtHome],
    more: int,
    now: datetime,
    low_button: Callable[[LowList], Sequence[ui.Block]],
) -> list[ui.Block]:
    """The assistants of a person, a line each."""
    if not assistants:
        how = "`/judge watch @assistant` in a channel has its replies scored automatically."
        return [ui.section(f"*No assistant of your channels is watched yet.* {how}")]
    blocks = [ui.header("Your assistants")]
    for assistant in assistants:
        block = ui.section(home_line(assistant))
        subject = assistant.subject
        which = LowList(subject.channel_id, now - LOW_FOR, now, subject.author_id)
        if assistant.low and (buttons := low_button(which)):
            block["accessory"] = ui.spoken(buttons[0], assistant.name)
        blocks.append(block)
    rest = [ui.context(f"And {more:,} more: `/judge stats` in their channels.")] if more else []
    return [*blocks, *rest]


def home_line(assistant: AssistantAtHome) -> str:
    parts = [first_line(assistant.standing, assistant.name)]
    if assistant.only_in:
        parts.append(f"only in *{clip(assistant.only_in)}*")
    if number := sum(assistant.low.values()):
        parts.append(f"{number:,} low in {LOW_FOR.days} days")
    if assistant.cause:
        times = assistant.low[assistant.cause]
        parts.append(f"most often: {clip(assistant.cause)} ({times:,} of {number:,})")
    if assistant.subject.channel_id:
        parts.append(f"in <#{assistant.subject.channel_id}>")
    return " · ".join(parts)
