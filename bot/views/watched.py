"""What watches have drawn in a week, a line or two for each assistant: figures of replies that nobody picked."""

from collections.abc import Iterator, Mapping, Sequence

from bot.domain.watch import Fate
from bot.slack.authors import Member
from bot.slack.mrkdwn import clip
from bot.views.quality import corrected, span, without_model
from bot.weeks.watched import Watched

_NAME = 80
_MOST = 10


def watched_lines(watched: Sequence[Watched], members: Mapping[str, Member]) -> list[str]:
    """The lines that a digest leads with; none where nothing was drawn, or nobody who may be named."""
    shown = [each for each in watched if each.author_id in members][:_MOST]
    return [line for each in shown for line in _lines(each, clip(members[each.author_id].name, _NAME))]


def _lines(each: Watched, name: str) -> Iterator[str]:
    drawn = f"*{name}*, random replies"
    if each.week is None:
        yield f"{drawn}: none has a score ({_counted(each)})."
        return
    before = "" if each.before is None else f"; last week {each.before.mean.judge.mean:.1f}"
    scale = f"of {each.scale[0]} to {each.scale[1]}"
    mean = each.week.mean.judge
    shown = f"*{mean.mean:.1f}*" if mean.low is None else span(mean, ".1f", "*")
    yield f"{drawn}: mean {shown}, {scale} ({_counted(each)}{before})."
    yield from without_model(each.raters)
    if people := corrected(each.weeks):
        yield people
    if each.others:
        yield f"Scored by another judge or on another scale, and not counted above: {each.others:,}."
    if each.coverage.lost:
        yield f"Not scored though drawn: {_lost(each)}. The others of the same day stand for them."


def _counted(each: Watched) -> str:
    scored = each.week.mean.n if each.week else 0
    return f"{scored:,} scored of {each.coverage.seen + each.earlier:,}"


def _lost(each: Watched) -> str:
    words = {Fate.OVER: "over a limit", Fate.MISSED: "missed or unscored"}
    return ", ".join(
        f"{each.coverage.fates[fate]} {said}" for fate, said in words.items() if each.coverage.fates.get(fate)
    )
