"""What people would say of a channel's replies, how far that may be off, and what no model scored, in a sentence."""

from collections.abc import Mapping

from bot.domain.verdict import MADE_UP, OFFLINE
from bot.weeks.quality import WEEKS, Quality
from judge.stats import Interval

MIN_SCORES = 10
"""With fewer, a range would say little more than the scale does."""
_NUMBERS = {4: "four"}
_SPAN = f"the last {_NUMBERS[WEEKS]} weeks"
_NO_MODEL = {
    OFFLINE: "by the offline rater, which is no model",
    MADE_UP: "made up for the demo: no judge read them",
}


def corrected(quality: Quality | None) -> str:
    """The mean and the share of good replies as people would have them; empty with too few blind labels to say."""
    if quality is None or quality.mean.missing or not quality.mean.corrected or not quality.good.corrected:
        return ""
    mean, good = quality.mean, quality.good.corrected
    return (
        f"As people would score {_SPAN}: mean {span(mean.corrected, '.1f', '*')}, good ({quality.good_from} or more) "
        f"{span(good, '.0%')} ({_count(mean.n, 'score')}, corrected by {_count(mean.labelled, 'blind label')}; the "
        f"judge alone says {mean.judge.mean:.1f})."
    )


def uncorrected(quality: Quality | None) -> str:
    """The judge's own mean, what its range leaves out, and how many blind labels are missing; empty where none are."""
    if quality is None or not quality.mean.missing or quality.mean.n < MIN_SCORES:
        return ""
    return (
        f"Mean of {_SPAN} by the judge alone: {span(quality.mean.judge, '.1f')}. That range leaves out the judge's "
        f"own error, for which {_count(quality.mean.missing, 'more blind label')} would correct it (`/judge label`)."
    )


def without_model(raters: Mapping[str | None, int]) -> list[str]:
    """What no model scored, said before the figures are looked at."""
    cases = _count(sum(raters.values()), "case")
    return [f":warning: {raters[each]} of {cases} {how}." for each, how in _NO_MODEL.items() if each in raters]


def span(interval: Interval | None, form: str, mark: str = "") -> str:
    """A mean with its range, in words."""
    if interval is None or interval.low is None:
        return "unknown"
    return f"{mark}{interval.mean:{form}}{mark}, between {interval.low:{form}} and {interval.high:{form}}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
