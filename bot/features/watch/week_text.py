"""The text of a watched assistant's week, as a digest begins with it and as its details complete
it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bot.domain.watch import ReplyOutcome
from bot.features.watch.figures import Watched
from bot.features.watch.text import MOST_SHOWN, outcomes
from bot.figures import quality
from bot.figures.charts import BEFORE, BY_JUDGE, charts, distances, good_words, low_words
from bot.figures.quality import BY_LABELS
from bot.figures.week import FEWEST
from bot.slack import blocks as ui
from bot.slack.members import Member
from bot.slack.messenger import Drawn
from bot.slack.mrkdwn import clip


def watched_blocks(
    watched: Sequence[Watched], members: Mapping[str, Member]
) -> list[ui.Block | Drawn]:
    """The first part of a digest, for the watched assistants among `members`; empty if there are
    none.
    """
    found: list[ui.Block | Drawn] = []
    for each in [each for each in watched if each.author_id in members][:MOST_SHOWN]:
        # Only the first has a chart: a digest is at most a screen.
        drawn = (
            charts(each.this, each.trend, each.scale, "random", BY_JUDGE * each.is_corrected)
            if not found
            else []
        )
        found += [
            ui.section("\n".join(week_lines(each, clip(members[each.author_id].name)))),
            *drawn[-1:],
        ]
    return found


def detail_blocks(watched: Sequence[Watched], members: Mapping[str, Member]) -> list[ui.Block]:
    """What a digest leaves out of them: the judge's figures where those shown are corrected, and
    the last weeks'.
    """
    found = []
    for each in [each for each in watched if each.author_id in members][:MOST_SHOWN]:
        name = clip(members[each.author_id].name)
        by_judge = replace(each, is_corrected=False, change=None)
        judged = (
            _measures(by_judge, each.quality, f"{name}{BY_JUDGE}")
            if each.quality and each.is_corrected
            else ()
        )
        if lines := [*judged, *filter(None, [quality.corrected(each.weeks)])]:
            found.append(ui.section("\n".join(lines if judged else [f"*{name}*", *lines])))
    return found


def week_lines(each: Watched, name: str) -> Iterator[str]:
    which = "all replies" if each.is_whole else "random replies"
    drawn = f"*{name}*, {which}"
    scored = each.quality.mean.n if each.quality else 0
    counted = f"{scored:,} of {each.coverage.seen + each.earlier:,} scored"
    if each.coverage.broke_off:
        counted += f", {each.coverage.broke_off:,} broke off"
    if each.quality is None:
        yield f"{drawn}: no scores yet ({counted})."
        return
    if scored < FEWEST:
        yield f"{drawn}: fewer than {FEWEST} scores, so no mean ({counted})."
    else:
        mean, shares = _measures(each, each.quality, name)
        yield mean
        yield (
            f"{which.capitalize()}, {counted}, on a scale from {each.scale.low} to "
            f"{each.scale.high}."
        )
        yield shares
        if each.is_whole and not each.is_corrected:
            every = "Every finished reply" if each.coverage.broke_off else "Every reply"
            yield f"{every} was scored, so these figures have no sampling error."
    yield from quality.caveats(each.raters, each.unread)
    if each.others:
        yield (
            f"Not counted above, because another judge or another scale was used: {each.others:,}."
        )
    if each.coverage.deleted:
        all_drawn = each.coverage.seen - each.coverage.outcomes.get(ReplyOutcome.PASSED, 0)
        is_trusted = (
            10 * each.coverage.deleted <= all_drawn
        )  # with more, the rest may not represent them
        doubt = "" if is_trusted else " *That is more than one in ten, so do not trust this mean.*"
        yield f"Drawn, but deleted before scoring: {each.coverage.deleted}.{doubt}"
    if each.coverage.lost:
        lost = ", ".join(outcomes(each.coverage, (ReplyOutcome.OVER, ReplyOutcome.MISSED)))
        yield f"Drawn, but not scored: {lost}. Other replies of those days stand in for them."
    if none := outcomes(each.coverage, (ReplyOutcome.NO_ANSWER, ReplyOutcome.EDITED)):
        yield f"{', '.join(none)}."


def _measures(each: Watched, week: quality.Quality, name: str) -> tuple[str, str]:
    """The sentences on the mean, beside the one before, and on the shares of low and good scores."""
    shown = [
        (of.corrected if each.is_corrected else None) or of.judge
        for of in (week.mean, week.low, week.good)
    ]
    is_exact = each.is_whole and not each.is_corrected  # of all replies, and not of a sample
    mean, low, good = (
        f"*{of.mean:{form}}*" if is_exact or of.low is None else quality.span(of, form, "*")
        for of, form in zip(shown, (".1f", ".0%", ".0%"), strict=True)
    )
    of_finished = " of the finished replies" if each.is_of_finished else ""
    how = was = ""
    if change := each.change:
        how = ", no clear change"
        was = f", was {shown[0].mean - change.mean:.1f} in {BEFORE}"
        if change.is_clear:
            how, way = (" got worse", "down") if change.mean < 0 else (" got better", "up")
            _, near, far = distances(change)
            was += f" ({way} {near} to {far})"
    return (
        f"*{name}*{how}: mean{of_finished} {mean}{BY_LABELS if each.is_corrected else ''}{was}.",
        f"Scored {low_words(each.scale)}: {low}. Scored {good_words(each.scale)}: {good}.",
    )
