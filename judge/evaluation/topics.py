"""Topics: what people ask about, named by a model, which then sorts the questions by number.

topics = await name_topics(judge.write, questions)      # ["travel expenses", "password reset"]
topic_of = await sort_by_topic(judge.write, {line: question, ...}, topics)
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

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

FEWEST_QUESTIONS = 30
"""With fewer there are no topics."""
FEWEST_SHOWN = 10
"""The number of a topic's questions from which on its name is shown."""
MOST_TOPICS = 10
_MOST_WORDS = 5
_FEWEST_OF_A_NAME = 2
_MOST_NAMED, _MOST_SORTED = 100, 30  # questions of a request
_MOST_CHARACTERS = 8_000  # of the questions of a request

_TO_NAME = load_prompt("topic_names.txt")
_TO_SORT = load_prompt("topics.txt")
_MATERIAL = _TO_SORT.partition("\n\n")[0]
_QUESTION = "What is question {} mostly about? If none of the topics fits it, other."


async def name_topics(
    write: Write, questions: Sequence[str], known: Sequence[str] = ()
) -> list[str]:
    """Names for questions that no known topic fits, the most frequent first, with one request.

    Together with those that are known, there are at most ten. A name is left out if it stands for
    one question only, or has a word with a capital or a rare one of the questions', as
    `gives_away` has it: so a question can hardly dictate one, and it is nobody's proper name. Of
    more than a hundred questions the first are sent.

    Args:
        write: `Judge.write`, or a function like it.
        questions: A random sample, for instance.
        known: Topics that there are already.

    Raises:
        SetupError: The judge is the offline rater.
        JudgeError: The request failed, or there are neither known topics nor new ones.
    """
    taken = {OTHER, *(name.casefold() for name in known)}
    room = MOST_TOPICS - len(known)
    sent = next(_portions(enumerate(questions), _MOST_NAMED), {})
    if room <= 0 or not sent:
        return []
    listed = ", ".join(f'"{name}"' for name in known)
    prompt = _TO_NAME.format(
        most=room,
        words=_MOST_WORDS,
        known=f" These topics are known already; name others: {listed}." if listed else "",
        questions=numbered(sent.values()),
    )
    answer = await write(prompt)
    frequent = Counter(read_names(answer.text, len(sent), known, _MOST_WORDS).values())
    said = {key: words_in(question) for key, question in sent.items()}
    named = [
        name
        for name, times in frequent.most_common()
        if times >= _FEWEST_OF_A_NAME
        and name.casefold() not in taken
        and not gives_away(name, said)
    ]
    if not (named or known):
        raise BadResponseError(
            "The model named no topics: in its answer no name has the numbers of two questions, "
            "or these names are words of single questions."
        )
    return named[:room]


async def sort_by_topic(
    write: Write,
    questions: Mapping[int, str],
    topics: Sequence[str],
    decide: Decide | None = None,
) -> dict[int, str]:
    """The topic of each question, or "other" if none fits, by the question's key.

    A request takes up to thirty questions. Those that its answer does not mention, and those of a
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
    for portion in _portions(questions.items(), _MOST_SORTED):
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
    named = read_names(answer.text, len(questions), topics, _MOST_WORDS)
    keys = list(questions)
    return {keys[number - 1]: name if name in topics else OTHER for number, name in named.items()}


def _portions(questions: Iterable[tuple[int, str]], most: int) -> Iterator[dict[int, str]]:
    """The questions by request, in their order."""
    portion = dict[int, str]()
    characters = 0
    for key, question in questions:
        length = min(len(question), LONGEST_TEXT)
        if portion and (len(portion) == most or characters + length > _MOST_CHARACTERS):
            yield portion
            portion = {}
            characters = 0
        portion[key] = question
        characters += length
    if portion:
        yield portion
