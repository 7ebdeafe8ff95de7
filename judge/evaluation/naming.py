"""Texts put under names by a model, which sees them numbered: what causes and topics share."""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from judge.errors import BadResponseError
from judge.scoring.answers import spoken
from judge.scoring.attacks.marks import neutralise
from judge.scoring.decision import read_choices
from judge.scoring.judging import Written
from judge.scoring.rubric import list_rubrics, load_rubric
from judge.scoring.sanitize import one_line, sanitize

Write = Callable[[str], Awaitable[Written]]
Decide = Callable[[Sequence[Mapping[str, str]], Sequence[Mapping[str, Any]]], Awaitable[Written]]

OTHER = "other"
"""The name of what none of the names fits."""
LONGEST_TEXT = 400
"""The number of a text's characters that are sent."""
_PROMPTS = Path(__file__).parent
_LONGEST_NAME = 60
_LONGEST_PROSE = 300  # characters before a colon; more are no name
_SEVERAL_PEOPLE = 3  # who say a word that is not rare
_SHORTEST_WORD = 3  # letters; shorter ones name nobody

_LIST_MARK = re.compile(r"\A\W*(?:\d+[.)]\W+)?")
_NUMBERS = re.compile(r"\d+(?:\s*(?:,|and|&|-|–)\s*\d+)*")
_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")


def load_prompt(name: str) -> str:
    return (_PROMPTS / name).read_text(encoding="utf-8")


def numbered(texts: Iterable[str]) -> str:
    """Each text on one line, so that it cannot pass for the next one, and without tokens of a chat
    template.
    """
    lines = (neutralise(one_line(text, LONGEST_TEXT)) for text in texts)
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def read_names(text: str, count: int, known: Iterable[str], most_words: int) -> dict[int, str]:
    """The name above each number from 1 to `count` in a model's answer, where the number comes first.

    A name that is known but for its case has the known spelling.
    """
    spellings = {_to_name(name, most_words).casefold(): name for name in known}
    name_of = dict[int, str]()
    for line in spoken(text).splitlines():
        words, _, listed = line.partition(":")
        numbers = listed.strip("*_.,; \t")
        has_words = len(words) <= _LONGEST_PROSE and re.search(r"\w", words)
        if not (has_words and _NUMBERS.fullmatch(numbers)):
            continue
        name = _to_name(_LIST_MARK.sub("", words), most_words)
        name = spellings.setdefault(name.casefold(), name)
        for number in _numbers_in(numbers, count):
            name_of.setdefault(number, name)
    return name_of


def _numbers_in(listed: str, count: int) -> Iterator[int]:
    for first, last in _RANGE.findall(listed):
        if max(len(first), len(last)) <= len(str(count)):
            yield from range(max(int(first), 1), min(int(last or first), count) + 1)


def _to_name(words: str, most_words: int) -> str:
    first_words = " ".join(sanitize(words).split()[:most_words])
    shown = first_words.strip("*_`\"'#.- ")[:_LONGEST_NAME].rstrip()
    return OTHER if shown.casefold() in {"", OTHER, "others"} else shown


async def choose_names(
    decide: Decide, texts: Mapping[int, str], names: Sequence[str], material: str, question: str
) -> dict[int, str]:
    """The name of each text that a decision model chooses, or "other", by the text's key; without
    those where it declines.

    Args:
        material: What the texts are, for the model.
        question: What is asked of each, with a slot for its number.

    Raises:
        JudgeError: The request failed, or the decision is not valid.
    """
    asks_for = {"type": "choice", "choices": [{"value": name} for name in (*names, OTHER)]}
    keys = {str(number): key for number, key in enumerate(texts, 1)}
    questions = [
        asks_for | {"name": number, "instructions": question.format(number)} for number in keys
    ]
    messages = (
        {"role": "developer", "content": material},
        {"role": "user", "content": numbered(texts.values())},
    )
    answer = await decide(messages, questions)
    try:
        chosen = read_choices(answer.text, questions)
    except ValueError as exc:
        raise BadResponseError(f"The decision on the names is not valid: {exc}.") from exc
    return {keys[number]: name for number, name in chosen.items()}


def words_in(text: str) -> set[str]:
    """The words of a text; singular and plural, and upper and lower case, are one."""
    return set(map(_to_plain, _words(text)))


def gives_away(name: str, said: Mapping[Any, Collection[str]]) -> bool:
    """Whether a name has a word that somebody said, and that may tell who it was.

    Such a word has a capital, like a name, or is rare: fewer than three people said it. A capital
    tells nothing in the first word, or where all words have one. The words of the rubrics and
    prompts that come with the package are the judge's own, even if people said them too.

    Args:
        said: The words in somebody's question and in the reply to it, as `words_in` gives them, for
            each person.
    """
    words = _words(name)
    capitals_are_names = any(word.islower() for word in words[1:])
    for at, word in enumerate(words):
        people = sum(_to_plain(word) in theirs for theirs in said.values())
        is_name = at > 0 and capitals_are_names and word != word.lower()
        is_rare = people < _SEVERAL_PEOPLE
        if people and (is_name or is_rare) and _to_plain(word) not in _judges_words():
            return True
    return False


def _words(text: str) -> list[str]:
    whole = text.replace("’", "'").replace("n't", " not")
    return [word for word in re.findall(r"\w+", whole) if len(word) >= _SHORTEST_WORD]


def _to_plain(word: str) -> str:
    return word.casefold().removesuffix("s")


@cache
def _judges_words() -> frozenset[str]:
    rubrics = [load_rubric(name) for name in list_rubrics()]
    prompts = [load_prompt(path.name) for path in _PROMPTS.glob("*.txt")]
    texts = [*prompts, *(each.prompt for each in rubrics), *(each.aside for each in rubrics)]
    return frozenset(words_in(" ".join(texts)))
