"""The questions on each topic, their mean and what came of them, counted."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from bot.domain.outcome import Outcome, Sign
from bot.domain.questions import Question
from bot.features.topics.change import TAIL, TopicScore, mean_of
from bot.features.topics.queries import SortedReply
from bot.figures.outcomes import ScoredReplies
from bot.figures.quality import grouped
from bot.store.figures import Kind
from judge.evaluation.naming import OTHER
from judge.evaluation.stats import MeanEstimate, difference
from judge.evaluation.topics import FEWEST_SHOWN


@dataclass(frozen=True)
class SortedQuestion:
    """A question of four weeks with its topic, the scored reply to it, if it has one, and what came
    of it, as far as that was seen.
    """

    topic: str
    question: Question
    reply: SortedReply | None
    signs: Collection[Sign] = ()


@dataclass(frozen=True)
class TopicCount:
    """The questions on a topic; `unanswered_share` is of all questions, also those not drawn."""

    name: str
    questions: Sequence[SortedQuestion]
    mean: MeanEstimate | None
    unanswered_share: float

    @property
    def case_ids(self) -> Sequence[int]:
        return [each.reply.id for each in self.questions if each.reply]


@dataclass(frozen=True)
class Report:
    """What an assistant is asked about.

    `topics` are those with ten questions in four weeks, the most frequent first, `rest` all other
    questions together. `worst` is the topic whose mean is clearly the lowest, and `others` the mean
    of all else. `replies` go further back.
    """

    topics: Sequence[TopicCount] = ()
    rest: TopicCount | None = None
    worst: TopicCount | None = None
    others: MeanEstimate | None = None
    replies: Sequence[SortedReply] = ()


def to_questions(
    replies: Sequence[SortedReply],
    outcomes: Sequence[Outcome],
    unanswered: Mapping[tuple[str, str], str],
) -> list[SortedQuestion]:
    """The questions whose replies were scored, and those that have no answer, the newest first; of
    others it is not known how well they were answered. A reply whose question was forgotten is none.

    Args:
        unanswered: The topics of those without an answer, by channel and message.
    """
    scored = ScoredReplies(replies)
    answered = dict[int, SortedQuestion]()
    left = list[SortedQuestion]()
    for outcome in outcomes:
        question = outcome.question
        if reply := scored.of(question):
            topic = reply.topic or OTHER
            answered[reply.id] = SortedQuestion(topic, question, reply, outcome.signs)
        elif Sign.UNANSWERED in outcome.signs:
            topic = unanswered.get((question.channel_id, question.ts), OTHER)
            left.append(SortedQuestion(topic, question, None, outcome.signs))
    found = [*answered.values(), *left]
    return sorted(found, key=lambda each: each.question.asked_at, reverse=True)


def to_report(questions: Sequence[SortedQuestion], replies: Sequence[SortedReply]) -> Report:
    kinds = Counter(question.reply.kind for question in questions if question.reply)
    kind = kinds.most_common(1)[0][0] if kinds else None
    by_topic = grouped((question.topic, question) for question in questions)
    shown = {
        name: its for name, its in by_topic.items() if name != OTHER and len(its) >= FEWEST_SHOWN
    }
    topics = [to_count(name, its, kind) for name, its in shown.items()]
    topics.sort(key=lambda topic: (-len(topic.questions), topic.name))
    left = [question for question in questions if question.topic not in shown]
    rest = to_count("", left, kind) if left else None
    worst, others = _worst(topics, questions, kind)
    return Report(topics, rest, worst, others, replies)


def to_count(name: str, questions: Sequence[SortedQuestion], kind: Kind | None) -> TopicCount:
    replies = [question.reply for question in questions if question.reply]
    unanswered = len(questions) - len(replies)
    # A reply that was drawn stands for several.
    answered = sum(1 / reply.probability for reply in replies)
    mean = mean_of(scores_of(replies, kind), kind.scale) if kind else None
    return TopicCount(name, questions, mean, unanswered / (unanswered + answered))


def scores_of(replies: Sequence[SortedReply], kind: Kind) -> list[TopicScore]:
    return [
        TopicScore(reply.topic, reply.asked_at, reply.thread, reply.score)
        for reply in replies
        if reply.kind == kind
    ]


def _worst(
    topics: Sequence[TopicCount], questions: Sequence[SortedQuestion], kind: Kind | None
) -> tuple[TopicCount | None, MeanEstimate | None]:
    """The topic with the lowest mean, if that is clearly lower than the mean of all else, which
    comes with it.
    """
    scored = [(topic.mean.judge.mean, topic) for topic in topics if topic.mean]
    if not scored or kind is None:
        return None, None
    _, lowest = min(scored, key=itemgetter(0))
    elsewhere = [
        question.reply for question in questions if question.reply and question.topic != lowest.name
    ]
    others = mean_of(scores_of(elsewhere, kind), kind.scale)
    lower = difference(lowest.mean, others, TAIL) if lowest.mean and others else None
    if lower and lower.is_clear and lower.mean < 0:
        return lowest, others
    return None, None
