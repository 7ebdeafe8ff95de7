"""How a standing is said, on every screen with the same words."""

from collections.abc import Sequence
from datetime import date, timedelta

from bot.domain.standing import Standing, Whose
from bot.features.watch.findings import judge_change_of
from bot.features.watch.series import Series
from bot.figures.week import FEWEST
from bot.slack import blocks as ui
from bot.slack.messenger import Post, to_post
from bot.slack.mrkdwn import clip
from judge.evaluation.standing import MIN_BEFORE, Direction, Event
from judge.evaluation.stats import Interval, low_to
from judge.scoring.numbers import number_of

_ANOTHER_JUDGE = (
    "From then on it counts as another judge: earlier scores and labels are not joined with later "
    "ones."
)
_MOST_CHANNELS = 5
_TOLD_FOR = timedelta(weeks=4)  # the end of a change; then it is steady
_UNJUDGED = timedelta(days=3)  # longer than a weekend without replies
MARKS = {Direction.LOWER: "▼", Direction.HIGHER: "▲"}


def headline(standing: Standing, name: str) -> str:
    """The sentence on an assistant: who has changed, since when, and its level; without a full
    stop.
    """
    helper = f"*{clip(name)}*"
    if standing.whose in {Whose.JUDGE, Whose.BOTH} and standing.direction is Direction.TOO_FEW:
        return _judge_changed(standing, helper)
    if standing.release_id is not None and not standing.is_clear:
        return _alike(standing, helper)
    if standing.direction is Direction.TOO_FEW:
        return f"{helper} has too few scores yet to say whether it changes{_level(standing)}"
    if standing.direction is Direction.STEADY:
        return _steady(standing, helper)
    return f"{_changed(standing, helper)}{_figures(standing)}{_doubt(standing)}"


def _judge_changed(standing: Standing, helper: str) -> str:
    if standing.whose is Whose.JUDGE:
        return f"The judge has become {_stricter(standing)}{_since(standing)}; {helper} has not changed"
    both = f"{helper} has become {_better(standing)}, and the judge {_stricter(standing)}"
    return f"{both}{_figures(standing)}"


def _changed(standing: Standing, helper: str) -> str:
    is_remembered = standing.told_at and standing.release_id is None
    if standing.whose is not Whose.ASSISTANT:
        still = " still" if is_remembered else ""
        way = "lower" if standing.direction is Direction.LOWER else "higher"
        return f"Scores of {helper} are{still} {way}"
    if is_remembered:
        return f"{helper} is still {_better(standing)}"
    again = " again" if standing.event is Event.FURTHER else ""
    return f"{helper} has become {_better(standing)}{again}"


def _alike(standing: Standing, helper: str) -> str:
    """That a release has no clear effect."""
    if standing.change is None or standing.since is None:
        return f"{helper} has too few scores to compare{_since(standing)}"
    low, high = standing.change.low, standing.change.high
    said = f"{helper} has not clearly changed{_figures(standing)}"
    return f"{said}; the difference is likely between {low:+.1f} and {high:+.1f}"


def first_line(standing: Standing | None, name: str) -> str:
    """The headline with its mark, as it begins on every screen."""
    if standing is None:
        return f"*{clip(name)}* has no scores of earlier days yet"
    mark = MARKS.get(standing.direction, "")
    unjudged = ""
    if standing.judged_on and standing.looked_at.date() - standing.judged_on > _UNJUDGED:
        unjudged = f" (not judged since {day_words(standing.judged_on)})"
    return f"{mark} {headline(standing, name)}{unjudged}".lstrip()


def _steady(standing: Standing, helper: str) -> str:
    if standing.looked_at - standing.stored_at > _TOLD_FOR:
        return f"{helper} is steady{_level(standing)}"
    if standing.event is Event.BACK:
        # Without the level: the mean of four weeks has the days of the change in it.
        return f"{helper} is back at its level{_since(standing)}"
    if standing.event is Event.STAYED and standing.level is not None:
        return (
            f"{helper} has stayed at {standing.level:.1f}{_since(standing)}; that is its level now"
        )
    return f"{helper} is steady{_level(standing)}"


def _doubt(standing: Standing) -> str:
    """Why the change is not said to be the assistant's; empty if it is, or if the judge could not be
    asked, as `cause_lines` says.
    """
    if standing.whose is Whose.OPEN:
        return "; whose change that is cannot be told yet"
    if standing.whose is Whose.QUESTIONS:
        return "; its questions have changed, too"
    return ""


def _better(standing: Standing) -> str:
    return "better" if (standing.step or 0) > 0 else "worse"


def _stricter(standing: Standing) -> str:
    return "milder" if (standing.judge_step or 0) > 0 else "stricter"


def _since(standing: Standing) -> str:
    if standing.since is None:
        return ""
    if standing.released_on:
        return f" since the release of {day_words(standing.released_on)}"
    return f" since {day_words(standing.since)}"


def day_words(day: date) -> str:
    return f"{day.day} {day:%b}"


def channels_words(channel_ids: Sequence[str]) -> str:
    shown = ", ".join(f"<#{channel_id}>" for channel_id in channel_ids[:_MOST_CHANNELS])
    rest = len(channel_ids) - _MOST_CHANNELS
    return f"{shown} and {rest} more" if rest > 0 else shown


def _figures(standing: Standing) -> str:
    if standing.level is None or standing.before is None:
        return _since(standing)
    return f": {standing.level:.1f}{_since(standing)}, was {standing.before:.1f}"


def _level(standing: Standing) -> str:
    if standing.level is None or standing.n < FEWEST:
        return ""
    return f": {standing.level:.1f}"


def level_line(standing: Standing) -> str:
    """What the level is, and its range; empty with too few scores."""
    if standing.level is None or standing.n < FEWEST:
        return ""
    of = number_of(standing.n, "score")
    is_since = standing.is_clear or standing.release_id is not None
    when = "since then" if is_since else "in four weeks"
    sure = ""
    if standing.level_low is not None:
        sure = f", likely between {standing.level_low:.1f} and {standing.level_high:.1f}"
    return f"The mean of {of} {when}{sure}."


def new_judge_notice(standing: Standing, name: str, channel_ids: Sequence[str]) -> Post:
    """Another judge version scores, with which a standing begins anew."""
    by = f"`{clip(standing.version)}`" if standing.version else "another judge"
    return to_post(
        f"*{clip(name)}* in {channels_words(channel_ids)} is now scored by {by}. Scores of different "
        f"judges are not compared, so alerts start again once there are {MIN_BEFORE} scores older "
        "than a week."
    )


def new_model_notice(name: str, channel_ids: Sequence[str], new: str, old: str) -> Post:
    """Another model answers under the judge's name."""
    return to_post(
        f"The judge of *{clip(name)}* in {channels_words(channel_ids)}: the provider now answers "
        f"as `{clip(new)}`, was `{clip(old)}`. If its scores change, it is asked again about older "
        "replies."
    )


def cause_lines(standing: Standing) -> list[str]:
    """What is known of whose change it is, each in a sentence."""
    lines = list[str]()
    change = judge_change_of(standing)
    if change:
        older = number_of(standing.asked, "older reply", "older replies")
        lines.append(f"The judge was asked again about {older}: it gives {_given(change)}.")
    if standing.whose is Whose.NOT_ASKED:
        lines.append(f"The judge could not be asked again: {standing.why}.")
    if standing.whose in {Whose.JUDGE, Whose.BOTH}:
        lines.append(_ANOTHER_JUDGE)
    if standing.questions:
        lines.append(standing.questions)
    return lines


def _given(change: Interval) -> str:
    if change.low is None or change.high is None:
        return "about the same"
    if not change.is_clear:
        return f"the same ({change.low:+.1f} to {change.high:+.1f})"
    near, far = change.sizes
    how = "more" if change.mean > 0 else "less"
    return f"{abs(change.mean):.1f} {how} ({near:.1f} to {far:.1f})"


def standing_alert(
    standing: Standing,
    name: str,
    channel_ids: Sequence[str],
    lines: Sequence[str],
    low_part: Sequence[ui.Block],
) -> Post:
    """What people are told of a change, once: who has changed, further figures, why scores are low,
    and then what that is based on.
    """
    said = f"{headline(standing, name)}."
    channels = channels_words(channel_ids)
    where = f"All its scores in {channels}, looked at once a day."
    if standing.release_id is not None:
        where = f"This is what release {standing.release_id} has changed in {channels}."
        if standing.change is None:
            where = f"Release {standing.release_id} was marked in {channels}."
    basis = [level_line(standing), *cause_lines(standing), where]
    blocks = [
        ui.section("\n".join([said, *lines])),
        *low_part,
        ui.context(" ".join(line for line in basis if line)),
    ]
    return Post(said.replace("*", ""), blocks)


def share_line(series: Series, since: date) -> str:
    """How many replies have low scores since a day, and had before."""
    lowest = series.kind.lowest
    low = low_to(series.kind.scale)
    which = f"{lowest} to {low}" if lowest < low else f"{low}"
    shares = list[str]()
    for scores in (series.since(since), series.before(since)):
        number = len([score for score in scores if score.score <= low])
        share = number / max(len(scores), 1)
        shares.append(f"{number:,} of {len(scores):,} ({share:.0%})")
    return f"Scored {which}: {shares[0]} since then, {shares[1]} before."
