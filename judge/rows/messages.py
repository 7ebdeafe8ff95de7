"""Reads messages as logs have them: a question, its response, and the conversation before it.

What the assistant does in between, its steps, is part of the conversation and not of the response.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple

from judge.rows.entries import Entry, read_entries
from judge.rows.files import decode, encode, kind_of
from judge.scoring.attacks.marks import mark
from judge.scoring.conversation import Turn, bounded

_ROLES = ("user", "assistant", "tool", "system", "developer")


class Dialogue(NamedTuple):
    question: str
    response: str
    turns: tuple[Turn, ...] = ()

    @property
    def conversation(self) -> tuple[Turn, ...]:
        """The turns within the bounds of what a judge gets."""
        return bounded(self.turns)


class _Division(NamedTuple):
    """What comes before the question, the question, and what follows up to the answer's end."""

    before: Sequence[Entry]
    question: Sequence[Entry]
    after: Sequence[Entry]


def read_messages(messages: Sequence[Any]) -> Dialogue:
    """The last question with an answer, and all that the assistant says after it; "" for what is
    missing.

    Steps after the question are not the response: they end the conversation, and their roles say
    so. What the assistant says before its last step is marked as a step, if more follows.

    If these are no messages, the ValueError completes "line 17: ".
    """
    division = _divide(messages)
    after = division.after
    last_step = max((at for at, entry in enumerate(after) if entry.is_step), default=-1)
    words_follow = any(
        entry.has_words for entry in after[last_step + 1 :] if entry.role == "assistant"
    )
    answer: list[Entry] = []
    others: list[Entry] = []
    for at, entry in enumerate(after):
        if entry.is_step or entry.role != "assistant":
            others.append(replace(entry, role=f"{entry.role} after the question"))
        elif words_follow and at < last_step and entry.has_words:
            answer.append(replace(entry, text=mark("step", entry.text)))
        else:
            answer.append(entry)
    turns = _to_turns([*division.before, *others])
    return Dialogue(_joined(division.question), _joined(answer), turns)


def find_prompt(messages: Sequence[Any]) -> str:
    """What was asked, as `to_prompt` has it, with digests of the pictures and files in it."""
    division = _divide(messages)
    digests = [
        sha256(encode(part).encode()).hexdigest()
        for entry in (*division.before, *division.question)
        for part in entry.unread
    ]
    return to_prompt(_joined(division.question), _to_turns(division.before), *digests)


def to_prompt(question: str, turns: Iterable[Turn], *others: str) -> str:
    """A text that identifies a prompt: equal for all responses to it."""
    before = [(turn.role, turn.text) for turn in turns]
    return encode([*before, question, *others]) if before or others else question


def has_reply(messages: Sequence[Any]) -> bool:
    """Whether the assistant's reply can be read, if only as an empty text: it is there, and not
    only in marks.
    """
    replies = [
        entry
        for entry in _divide(messages).after
        if entry.role == "assistant" and not entry.is_step
    ]
    if any(entry.has_words for entry in replies):
        return True
    return bool(replies) and not any(entry.text.strip() for entry in replies)


def completed(messages: Sequence[Any], system: Any, response: str | None) -> Sequence[Any]:
    """The messages with the system prompt and the response beside them; raises ValueError if they
    have an answer.
    """
    first = []
    if system and isinstance(system, str | list):
        first = [{"role": "system", "content": system}]
    last = []
    if response is not None:
        last = [{"role": "assistant", "content": response}]
    # Read before anything is put in front, so that a problem has the number that the list has.
    entries = read_entries(messages, "messages") if first or last else []
    if last and entries and entries[-1].role == "assistant" and not entries[-1].is_step:
        raise ValueError("messages end with an answer, and response is another; leave one out")
    return [*first, *messages, *last]


def read_turns(conversation: Any) -> tuple[Turn, ...]:
    """The turns of a row's `conversation`: messages, their JSON, or none (None, "").

    Raises as `read_messages`.
    """
    if isinstance(conversation, str):
        with suppress(ValueError):
            conversation = decode(f'{{"it": {conversation or "null"}}}'.encode())["it"]
    if not isinstance(conversation, list | tuple | None):
        raise ValueError(
            f"conversation is {kind_of(conversation)} where a list belongs; rename it if "
            "it is something else"
        )
    return _to_turns(read_entries(conversation or (), "conversation"))


def split_messages(messages: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The messages up to the end of the question, and those up to the end of its answer; raises as
    `read_messages`.
    """
    numbers = [0]
    roles: list[str] = []
    for number, message in enumerate(messages, start=1):
        for entry in read_entries([message], "messages"):
            numbers.append(number)
            roles.append(entry.role)
    question, answer = _ends(roles)
    return messages[: numbers[question]], messages[numbers[question] : numbers[answer]]


def _divide(messages: Sequence[Any]) -> _Division:
    entries = read_entries(messages, "messages")
    for entry in entries:
        if entry.role not in _ROLES:
            raise ValueError(
                f"messages have a role that is not known: {entry.role[:40]!r}; known are "
                f"{', '.join(_ROLES)}"
            )
    end_of_question, end_of_answer = _ends([entry.role for entry in entries])
    start = end_of_question
    while start and entries[start - 1].role == "user":
        start -= 1
    return _Division(
        before=entries[:start],
        question=entries[start:end_of_question],
        after=entries[end_of_question:end_of_answer],
    )


def _ends(roles: Sequence[str]) -> tuple[int, int]:
    """Where the question and its answer end.

    What the user says last, such as thanks, is neither if there is an answer before it.
    """
    before_thanks = len(roles)
    while before_thanks and roles[before_thanks - 1] == "user":
        before_thanks -= 1
    for end in (before_thanks, len(roles)):
        question = end
        while question and roles[question - 1] != "user":
            question -= 1
        if question and "assistant" in roles[question:end]:
            break
    return question, end


def _joined(entries: Sequence[Entry]) -> str:
    return "\n\n".join(entry.text for entry in entries if entry.text)


def _to_turns(entries: Iterable[Entry]) -> tuple[Turn, ...]:
    return tuple(
        Turn(entry.role, entry.text, entry.is_step) for entry in entries if entry.text.strip()
    )
