"""Causes: what several low replies have in common, named by a model and counted here.

causes = await find_causes(judge.write, {line: justification, ...}, known=("no source",))
causes.counts      # [Cause("no source", (3, 8, 21)), ..., Cause("other", (5,))]
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from judge.errors import BadResponseError, SetupError
from judge.evaluation.labelled import find_scale, to_number
from judge.evaluation.stats import low_to
from judge.rows.row_file import RowFile
from judge.scoring.answers import spoken
from judge.scoring.attacks.marks import neutralise
from judge.scoring.decision import read_choices
from judge.scoring.judging import Written
from judge.scoring.rubric import Scale, list_rubrics, load_rubric
from judge.scoring.sanitize import one_line, sanitize

Decide = Callable[[Sequence[Mapping[str, str]], Sequence[Mapping[str, Any]]], Awaitable[Written]]

FEWEST, MOST = 5, 100
"""The number of low replies from which on causes are asked for, and the most that are sent: the first ones."""
OTHER = "other"
_MOST_NAMES, _MOST_WORDS, _LONGEST_NAME = 5, 6, 60
_LONGEST_REASON = 400  # characters of it that are sent
_LONGEST_PROSE = 300  # characters before a colon; more are no name
_FEWEST_OF_A_CAUSE = 2
_SEVERAL_PEOPLE = 3  # who say a word that is not rare
_SHORTEST_WORD = 3  # letters; shorter ones name nobody

_PROMPT = Path(__file__).with_name("causes.txt").read_text(encoding="utf-8")
_MATERIAL = _PROMPT.partition("\n\n")[0]
_QUESTION = (
    "What was wrong with the reply according to reason {}? If none of the names says it, other."
)
_LIST_MARK = re.compile(r"\A\W*(?:\d+[.)]\W+)?")
_NUMBERS = re.compile(r"\d+(?:\s*(?:,|and|&|-|–)\s*\d+)*")
_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")


class Cause(NamedTuple):
    """A cause, and the keys of the replies that have it, in the order in which they were given."""

    name: str
    replies: tuple[int, ...]


@dataclass(frozen=True)
class Causes:
    """Why replies were scored low: the most frequent cause first, and last "other", if it has any."""

    counts: Sequence[Cause]
    left_out: int  # replies, which were more than one request takes


async def find_causes(
    write: Callable[[str], Awaitable[Written]],
    reasons: Mapping[int, str],
    known: Sequence[str] = (),
    decide: Decide | None = None,
    said: Mapping[str, Collection[str]] | None = None,
) -> Causes:
    """Puts low replies into at most five causes, with one request.

    The model names the causes and sorts the replies by number. The rest is counted here: a number
    that was not asked for is dropped, a number given twice counts where it comes first, and what
    has no cause, or shares it with no other reply, is "other". A decision model chooses among the
    known names, in one request for all replies; those that it finds other are then left to `write`.

    Args:
        write, decide: `Judge.write`, and `Judge.decide` if the judge `decides`, or functions like
        them.
        reasons: The judge's reason for each reply, by a key of the caller's, the most important
            first.
        known: Names that are offered to the model first, such as those of the week before.
        said: What people said in these exchanges, as for `gives_away`; a new name that gives one of
            them away is "other".

    Raises:
        SetupError: The judge is the offline rater, or there are fewer than five replies.
        JudgeError: A request failed, the answer names no cause of two replies, or the decision is
            not valid.
    """
    if len(reasons) < FEWEST:
        raise SetupError(
            f"Causes need at least {FEWEST} low replies with a reason, and there are "
            f"{len(reasons)}."
        )
    sent = dict(islice(reasons.items(), MOST))
    offered = [name for name in dict.fromkeys(known) if name != OTHER]
    chosen = await _choose(decide, sent, offered) if decide and offered else {}
    cause_of = dict(chosen)
    left = [key for key in sent if key not in chosen]
    if len(left) >= _FEWEST_OF_A_CAUSE:
        # What a decision left is none of the names that it chose among.
        names = "" if decide else ", ".join(f'"{name}"' for name in offered)
        prompt = _PROMPT.format(
            most=_MOST_NAMES,
            words=_MOST_WORDS,
            known=f"\nUse these names of the week before where they fit: {names}." if names else "",
            reasons=_numbered(sent[key] for key in left),
        )
        answer = await write(prompt)
        named = _read(answer.text, known)
        cause_of |= {
            left[number - 1]: name for number, name in named.items() if number <= len(left)
        }
    kept = _most_frequent(cause_of)
    if not (kept or chosen):
        raise BadResponseError(
            "The model named no causes: in its answer no name has the numbers of two replies."
        )
    kept = [name for name in kept if name in known or not gives_away(name, said or {})]
    replies: dict[str, list[int]] = {name: [] for name in (*kept, OTHER)}
    for key in sent:
        cause = cause_of.get(key, OTHER)
        replies[cause if cause in replies else OTHER].append(key)
    counts = [Cause(name, tuple(keys)) for name, keys in replies.items() if keys]
    return Causes(counts, len(reasons) - len(sent))


def _most_frequent(cause_of: Mapping[int, str]) -> list[str]:
    frequent = Counter(name for name in cause_of.values() if name != OTHER)
    most = frequent.most_common(_MOST_NAMES)
    return [name for name, replies in most if replies >= _FEWEST_OF_A_CAUSE]


async def _choose(
    decide: Decide, reasons: Mapping[int, str], known: Sequence[str]
) -> dict[int, str]:
    """The cause of each reply that has one of these, by its key."""
    asks_for = {"type": "choice", "choices": [{"value": name} for name in (*known, OTHER)]}
    keys = {str(number): key for number, key in enumerate(reasons, 1)}
    questions = [
        asks_for | {"name": number, "instructions": _QUESTION.format(number)} for number in keys
    ]
    messages = (
        {"role": "developer", "content": _MATERIAL},
        {"role": "user", "content": _numbered(reasons.values())},
    )
    answer = await decide(messages, questions)
    try:
        chosen = read_choices(answer.text, questions)
    except ValueError as exc:
        raise BadResponseError(f"The decision on the causes is not valid: {exc}.") from exc
    return {keys[number]: name for number, name in chosen.items() if name in known}


def _read(text: str, known: Sequence[str]) -> dict[int, str]:
    """The name above each number of the answer, where the number comes first."""
    spellings = {name.casefold(): name for name in known}
    cause_of = dict[int, str]()
    for line in spoken(text).splitlines():
        words, _, listed = line.partition(":")
        numbers = listed.strip("*_.,; \t")
        has_words = len(words) <= _LONGEST_PROSE and re.search(r"\w", words)
        if not (has_words and _NUMBERS.fullmatch(numbers)):
            continue
        name = _to_name(_LIST_MARK.sub("", words))
        name = spellings.setdefault(name.casefold(), name)
        for first, last in _RANGE.findall(numbers):
            if max(len(first), len(last)) <= len(str(MOST)):
                for number in range(max(int(first), 1), min(int(last or first), MOST) + 1):
                    cause_of.setdefault(number, name)
    return cause_of


def _to_name(words: str) -> str:
    shown = (
        " ".join(sanitize(words).split()[:_MOST_WORDS]).strip("*_`\"'#.- ")[:_LONGEST_NAME].rstrip()
    )
    return OTHER if shown.casefold() in {"", OTHER, "others"} else shown


def words_in(text: str) -> set[str]:
    """The words of a text; singular and plural, and upper and lower case, are one."""
    return set(map(_to_plain, _words(text)))


def gives_away(name: str, said: Mapping[str, Collection[str]]) -> bool:
    """Whether the name of a cause has a word that somebody said, and that may tell who it was.

    Such a word has a capital, like a name, or is rare: fewer than three people said it. A capital
    tells nothing in the first word, or where all words have one. The words of the rubrics that come
    with the package are the judge's own, whoever said them too.

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
    texts = [_PROMPT, *(each.prompt for each in rubrics), *(each.aside for each in rubrics)]
    return frozenset(words_in(" ".join(texts)))


def _numbered(reasons: Iterable[str]) -> str:
    """Each reason on one line, so that it cannot pass for the next one, and without tokens of a
    chat template.
    """
    lines = (neutralise(one_line(reason, _LONGEST_REASON)) for reason in reasons)
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def read_low(path: Path, rubric: Path | None = None) -> tuple[RowFile, Mapping[int, str]]:
    """The file, once read, and the judge's reason by line for each reply with a low score, the
    newest first.

    Of several rows of one reply, as exports have them, the last one counts.
    """
    file = RowFile.at(path)
    scale: Scale | None = None
    low: dict[object, tuple[int, str]] = {}  # by reply
    for row in file.rows():
        score = to_number(row.get("score"))
        reason = row.get("justification")
        if score is None or not isinstance(reason, str) or not reason.strip():
            continue
        scale = scale or find_scale(row, rubric)
        _, reply = row.known_by
        low.pop(reply, None)
        if score <= low_to(scale):
            low[reply] = (row.line, reason)
    file.require()
    return file, dict(reversed(low.values()))
