"""Whether a change of an assistant lies in one topic, or in what it is asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt

from bot.figures.quality import grouped
from judge.evaluation.naming import OTHER
from judge.evaluation.stats import MeanEstimate, MeanEstimator, difference
from judge.evaluation.topics import FEWEST_QUESTIONS, FEWEST_SHOWN, MOST_TOPICS
from judge.scoring.rubric import Scale

TAIL = 0.025 / MOST_TOPICS
"""The error on each side of a test, corrected for looking at ten topics."""
_SURE = 2.0  # standard errors
_FEWEST_SINCE = 10


@dataclass(frozen=True)
class TopicScore:
    """The score of a reply, when it was asked for, and in which thread; all are of one kind."""

    topic: str
    at: datetime
    thread: tuple[str, str]
    score: int


@dataclass(frozen=True)
class Moved:
    """A topic, or several, before a change and since; the shares are of all questions."""

    now: MeanEstimate
    before: MeanEstimate
    share_now: float
    share_before: float

    @property
    def share(self) -> float:
        return (self.share_now + self.share_before) / 2

    @property
    def level(self) -> float:
        """How much of the change of the mean is the topic's own."""
        return self.share * (self.now.judge.mean - self.before.judge.mean)

    @property
    def variance(self) -> float:
        return self.share**2 * (_error(self.now) ** 2 + _error(self.before) ** 2)

    @property
    def mean(self) -> float:
        return (self.now.judge.mean + self.before.judge.mean) / 2


@dataclass(frozen=True)
class FoundChange:
    """The one topic that a change lies in; without one, the mix has moved."""

    topic: str = ""
    moved: Moved | None = None


def find_change(
    scores: Sequence[TopicScore], since: datetime, scale: Scale, *, is_lower: bool
) -> FoundChange | None:
    """Where a change of the mean lies; None if that is not clear.

    The change of the mean is what each topic's own level adds, plus what another mix of topics
    adds. It lies in one topic if that has clearly moved, and it is certain that all others
    together, and the mix, make less than half of it. The mix has moved if it clearly makes the
    mean another one, and it is certain that the levels of topics make less than half of it.
    """
    before = [score for score in scores if score.at < since]
    now = [score for score in scores if score.at >= since]
    if len(before) < FEWEST_QUESTIONS or len(now) < _FEWEST_SINCE:
        return None
    topics = _moved_by_topic(now, before, scale)
    sign = -1 if is_lower else 1
    mix = sign * sum(each.mean * (each.share_now - each.share_before) for each in topics.values())
    half = (mix + sign * sum(each.level for each in topics.values())) / 2
    if half <= 0:
        return None
    if _add_less(topics.values(), half, sign) and _is_mix_clear(now, before, topics, scale):
        return FoundChange()
    name = _only_topic(topics, half, sign)
    return FoundChange(name, topics[name]) if name and mix < half else None


def _only_topic(topics: Mapping[str, Moved], half: float, sign: int) -> str | None:
    """The one that has clearly moved, if all others together add less than half of the change."""
    clear = [name for name, each in topics.items() if name and _has_moved(each, sign)]
    others = [each for name, each in topics.items() if name not in clear]
    return clear[0] if len(clear) == 1 and _add_less(others, half, sign) else None


def _add_less(topics: Collection[Moved], half: float, sign: int) -> bool:
    """Whether it is certain that the levels of these topics add less than half of the change."""
    error = sqrt(sum(each.variance for each in topics))
    return sign * sum(each.level for each in topics) + _SURE * error < half


def _shown(scores: Sequence[TopicScore]) -> set[str]:
    by_topic = grouped((score.topic, score) for score in scores if score.topic != OTHER)
    return {name for name, its in by_topic.items() if len(its) >= FEWEST_SHOWN}


def _moved_by_topic(
    now: Sequence[TopicScore], before: Sequence[TopicScore], scale: Scale
) -> Mapping[str, Moved]:
    """The topics that had ten questions or more before, and under no name all others. One without a
    score now, or before, has the same level then.
    """
    names = _shown(before)
    since = _by_name(now, names)
    earlier = _by_name(before, names)
    topics = dict[str, Moved]()
    for name in since.keys() | earlier.keys():
        scores_now = since.get(name, [])
        scores_before = earlier.get(name, [])
        level = mean_of(scores_now or scores_before, scale)
        was = mean_of(scores_before or scores_now, scale)
        if level and was:
            share_before = len(scores_before) / len(before)
            topics[name] = Moved(level, was, len(scores_now) / len(now), share_before)
    return topics


def _by_name(
    scores: Sequence[TopicScore], names: Collection[str]
) -> Mapping[str, list[TopicScore]]:
    return grouped((score.topic if score.topic in names else "", score) for score in scores)


def mean_of(scores: Sequence[TopicScore], scale: Scale) -> MeanEstimate | None:
    mean = MeanEstimator(scale)
    for score in scores:
        mean.add(score.score, cluster=score.thread)
    return mean.estimate()


def _error(mean: MeanEstimate) -> float:
    """The standard error of a mean, as its range has it, which is wider with few scores."""
    low, high = mean.judge.low, mean.judge.high
    if low is None or high is None:
        return mean.scale.high - mean.scale.low
    return (high - low) / (2 * _SURE)


def _has_moved(topic: Moved, sign: int) -> bool:
    moved = difference(topic.now, topic.before, TAIL)
    return moved is not None and moved.is_clear and sign * moved.mean > 0


def _is_mix_clear(
    now: Sequence[TopicScore],
    before: Sequence[TopicScore],
    topics: Mapping[str, Moved],
    scale: Scale,
) -> bool:
    """Whether the mean would clearly have changed with topics whose levels stay."""
    estimates = list[MeanEstimate | None]()
    for scores in (now, before):
        mean = MeanEstimator(scale)
        for score in scores:
            topic = topics.get(score.topic) or topics[""]
            mean.add(topic.mean, cluster=score.thread)
        estimates.append(mean.estimate())
    after, earlier = estimates
    moved = difference(after, earlier) if after and earlier else None
    return moved is not None and moved.is_clear
