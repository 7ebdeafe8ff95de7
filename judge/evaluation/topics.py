"""Topics: what people ask about, named by a model, which then sorts the questions by number.

topics = await name_topics(judge.write, questions)      # ["travel expenses", "password reset"]
topic_of = await sort_by_topic(judge.write, {line: question, ...}, topics)
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from math import ceil
from typing import NamedTuple

from judge.errors import BadResponseError, JudgeError, SetupError
from judge.evaluation.naming import (
    LONGEST_TEXT,
    OTHER,
    Decide,
    Write,
    choose_names,
    gives_away,
    load_prompt,
    numbered,
    read_names,
    words_in,
)
from judge.evaluation.stats import MeanEstimate, estimate_mean, low_to
from judge.scoring.answers import spoken
from judge.scoring.rubric import Scale

FEWEST_QUESTIONS = 30
"""With fewer there are no topics."""
FEWEST_SHOWN = 10
"""The number of a topic's questions from which on its name is shown."""
MOST_TOPICS = 10
NOT_SORTED = "not sorted"
_MOST_WORDS = 5
_FEWEST_OF_A_NAME = 2
MOST_SORTED = 15
"""The number of questions in a request that sorts: a small model does not end its answer to thirty."""
_MOST_NAMED = 100  # questions of the request for names
_MOST_CHARACTERS = 8_000  # of these questions, about

_TO_NAME = load_prompt("topic_names.txt")
_TO_SORT = load_prompt("topics.txt")
_MATERIAL = _TO_SORT.partition("\n\n")[0]
_SORTED = re.compile(r"\W*(?P<number>\d+)\W+(?P<name>.+)")
_EDGES = re.compile(r"\A\W+|\W+\Z")
_QUESTION = "What is question {} mostly about? If none of the topics fits it, other."


async def name_topics(
    write: Write, questions: Sequence[str], known: Sequence[str] = ()
) -> list[str]:
    """Names for questions that no known topic fits, the most frequent first, with one request.

    Together with those that are known, there are at most ten. A name is left out if it stands for
    one question only, or if `gives_away` finds a proper name in it or a word of one or two
    questions, which might have dictated it. Of many questions, every second, third and so on is
    sent.

    Args:
        write: `Judge.write`, or a function like it.
        known: Topics that there are already.

    Raises:
        SetupError: The judge is the offline rater.
        JudgeError: The request failed, or there are neither known topics nor new ones.
    """
    room = MOST_TOPICS - len(known)
    if room <= 0 or not questions:
        return []
    sent = questions[:: _step(questions)]
    listed = ", ".join(f'"{name}"' for name in known)
    prompt = _TO_NAME.format(
        most=room,
        words=_MOST_WORDS,
        known=f" These topics are known already; name others: {listed}." if listed else "",
        questions=numbered(sent),
    )
    answer = await write(prompt)
    name_of = read_names(answer.text, len(sent), known, _MOST_WORDS)
    named = _new_names(name_of.values(), questions, known)
    if not (named or known):
        raise BadResponseError(
            "The model named no topics: in its answer no name has the numbers of two questions, "
            "or these names have words that only one or two questions have."
        )
    return named[:room]


def _new_names(given: Iterable[str], questions: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names that were given several times and tell of nobody, the most frequent first."""
    taken = {OTHER, *(name.casefold() for name in known)}
    said = dict(enumerate(map(words_in, questions)))
    return [
        name
        for name, times in Counter(given).most_common()
        if times >= _FEWEST_OF_A_NAME
        and name.casefold() not in taken
        and not gives_away(name, said)
    ]


def _step(questions: Sequence[str]) -> int:
    """At equal distances, so that the same questions get the same names."""
    characters = sum(min(len(question), LONGEST_TEXT) for question in questions)
    return ceil(max(len(questions) / _MOST_NAMED, characters / _MOST_CHARACTERS))


async def sort_by_topic(
    write: Write,
    questions: Mapping[int, str],
    topics: Sequence[str],
    decide: Decide | None = None,
) -> dict[int, str]:
    """The topic of each question, or "other" if none fits, by the question's key.

    A request takes up to fifteen questions. Those that its answer does not mention, and those of a
    request that failed, are left out: they are unsorted, which is not the same as "other".

    Args:
        write, decide: `Judge.write`, and `Judge.decide` if the judge `decides`, which then chooses
        among the topics; or functions like them.
        questions: By a key of the caller's.
        topics: As `name_topics` gives them.

    Raises:
        SetupError: The judge is the offline rater.
        JudgeError: All requests failed, or the model sorted no question.
    """
    topic_of = dict[int, str]()
    failure: JudgeError = BadResponseError("The model sorted no question.")
    for begin in range(0, len(questions), MOST_SORTED):
        portion = dict(islice(questions.items(), begin, begin + MOST_SORTED))
        try:
            if decide:
                topic_of |= await choose_names(decide, portion, topics, _MATERIAL, _QUESTION)
            else:
                topic_of |= await _sort(write, portion, topics)
        except SetupError:
            raise
        except JudgeError as exc:
            failure = exc
    if questions and not topic_of:
        raise failure
    return topic_of


async def _sort(
    write: Write, questions: Mapping[int, str], topics: Sequence[str]
) -> dict[int, str]:
    prompt = _TO_SORT.format(
        topics="\n".join(f"- {name}" for name in topics), questions=numbered(questions.values())
    )
    answer = await write(prompt)
    keys = {str(number): key for number, key in enumerate(questions, 1)}
    spellings = {_to_plain(name): name for name in (*topics, OTHER)}
    topic_of = dict[int, str]()
    for line in spoken(answer.text).splitlines():
        match = _SORTED.fullmatch(line)
        name = spellings.get(_to_plain(match["name"])) if match else None
        if match and name and match["number"] in keys:
            topic_of.setdefault(keys[match["number"]], name)
    return topic_of


def _to_plain(name: str) -> str:
    """Without marks around it, such as a full stop or asterisks, and in lower case."""
    return _EDGES.sub("", name).casefold()


async def find_topics(
    write: Write, questions: Iterable[str], known: Sequence[str] = (), decide: Decide | None = None
) -> dict[str, str]:
    """Names topics and sorts the questions by them; the topic of each question, as `sort_by_topic`
    gives it, by the question's words.

    Known topics come first: new ones are named only if ten questions fit none of them.

    Raises:
        SetupError: The judge is the offline rater, or fewer than thirty questions differ.
        JudgeError: As `name_topics` and `sort_by_topic`.
    """
    times = Counter(questions)
    if len(times) < FEWEST_QUESTIONS:
        raise SetupError(
            f"Topics need at least {FEWEST_QUESTIONS} different questions, and there are "
            f"{len(times)}."
        )
    different = dict(enumerate(times))
    offered = [name for name in dict.fromkeys(known) if name != OTHER]
    topics = offered or await name_topics(write, [*times])
    topic_of = await sort_by_topic(write, different, topics, decide)
    others = {key: different[key] for key, topic in topic_of.items() if topic == OTHER}
    if offered and sum(times[question] for question in others.values()) >= FEWEST_SHOWN:
        with suppress(JudgeError):  # that they fit no known topic stays true
            topic_of |= await _sort_anew(write, others, offered, decide)
    return {different[key]: topic for key, topic in topic_of.items()}


async def _sort_anew(
    write: Write, questions: Mapping[int, str], known: Sequence[str], decide: Decide | None
) -> dict[int, str]:
    new = await name_topics(write, [*questions.values()], known)
    return await sort_by_topic(write, questions, new, decide) if new else {}


class Topic(NamedTuple):
    """What is counted of a topic's questions."""

    name: str
    questions: int
    mean: MeanEstimate | None  # of the scores of their replies
    low_share: float | None  # of these scores

    @property
    def cells(self) -> list[str]:
        """The figures as the cells of a table with the columns of `TITLES`."""
        mean = self.mean.judge if self.mean else None
        between = ""
        if mean and mean.low is not None:
            between = f"{mean.low:.1f} to {mean.high:.1f}"
        questions = f"{self.questions:,}"
        # Few of them make the range wide.
        if self.mean and self.mean.independent < self.mean.n:
            questions += f" ({self.mean.independent:,} independent)"
        return [
            self.name,
            questions,
            f"{mean.mean:.1f}" if mean else "",
            between,
            "" if self.low_share is None else f"{self.low_share:.0%}",
        ]


TITLES = ["Topic", "Questions", "Mean", "95%", "Low"]


def count_topics(
    rows: Iterable[tuple[str | None, float | None, Hashable]], scale: Scale
) -> list[Topic]:
    """The topics from ten questions on, the most frequent first; then all others as "other", and
    those without a topic as "not sorted".

    Args:
        rows: The topic of each question, the score of its reply by one judge, and what it shares
            with rows that depend on it.
    """
    rows = list(rows)
    frequent = Counter(topic for topic, _, _ in rows if topic and topic != OTHER)
    shown = [name for name, times in frequent.most_common() if times >= FEWEST_SHOWN]
    scores_of = defaultdict[str, list[tuple[float | None, Hashable]]](list)
    for topic, score, cluster in rows:
        name = topic if topic in shown else OTHER
        scores_of[name if topic else NOT_SORTED].append((score, cluster))
    names = (*shown, OTHER, NOT_SORTED)
    return [_to_topic(name, scores_of[name], scale) for name in names if scores_of[name]]


def _to_topic(name: str, replies: Sequence[tuple[float | None, Hashable]], scale: Scale) -> Topic:
    scores = [(score, cluster) for score, cluster in replies if score is not None]
    low = sum(score <= low_to(scale) for score, _ in scores)
    share = low / len(scores) if scores else None
    return Topic(name, len(replies), estimate_mean(scores, scale), share)
