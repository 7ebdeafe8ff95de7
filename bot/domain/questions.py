"""Questions to an assistant, found among the messages of its channels.

A person's message is a question to an assistant if it mentions it, or if the assistant answered it.
An assistant that answers at least four in five of the messages that do not mention it is taken to
mean to answer them all: then those without an answer count, too. The first message of a person in a
row stands for all of them. Greetings and thanks are no questions.

    thread            a question, answers by the assistant, what others write
    channel           a message, and within a quarter of an hour the assistant's, if it does not
                      answer in threads

Nothing here needs the words of a message.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import groupby

OPEN_FOR = timedelta(hours=24)
"""After so long, a question without an answer counts as unanswered."""
AGAIN_WITHIN = timedelta(hours=24)
"""The asker who asks the same again within this time came back."""
_IN_CHANNEL = timedelta(minutes=15)
_MEANT_SHARE = 0.8
MEANT_FOR = timedelta(days=14)
"""The messages of so long tell whether an assistant answers those that do not mention it."""
_FEWEST_MEANT = 5


Thread = tuple[str, str]
"""The ids of a channel and of the message that a thread begins with."""


class Says(StrEnum):
    """What a message holds: words; a greeting or thanks; or nothing yet, such as steps alone."""

    WORDS = "words"
    THANKS = "thanks"
    NOTHING = "nothing"


@dataclass(frozen=True)
class SeenMessage:
    """A message of a watched channel, without its words.

    `thread_ts` is its own `ts` outside a thread. `mentions` are ids of the assistants whom it names.
    `finished_at` is when it was whole, and None as long as it is being written. `text_hash` tells
    whether the same was asked again. `author_id` is empty if that person was forgotten.
    """

    team_id: str
    channel_id: str
    ts: str
    thread_ts: str
    author_id: str
    is_app: bool
    says: Says
    mentions: tuple[str, ...] = ()
    text_hash: str | None = None
    finished_at: datetime | None = None

    @property
    def at(self) -> datetime:
        return to_time(self.ts)

    @property
    def is_in_thread(self) -> bool:
        return self.thread_ts != self.ts


@dataclass(frozen=True)
class Question:
    """A question to an assistant, and what came of it.

    `is_meant`: it mentions the assistant; `is_usual`: it does not, but stands where the assistant
    answers nearly all that do not. `answer_ts` is the answer's first message with words, and
    `answered_at` when that was whole. `by_colleague`: a person other than the asker wrote in its
    thread, after the answer or in place of one, and not just thanks. `last_ts` is the last message
    of a person in the thread after the answer, if any. Questions in the same words share a
    `text_hash`.
    """

    channel_id: str
    ts: str
    thread_ts: str
    asker_id: str
    is_meant: bool
    is_usual: bool = False
    answer_ts: str | None = None
    answered_at: datetime | None = None
    by_colleague: bool = False
    came_back: bool = False
    last_ts: str | None = None
    text_hash: str | None = None

    @property
    def thread(self) -> Thread:
        return self.channel_id, self.thread_ts

    @property
    def asked_at(self) -> datetime:
        return to_time(self.ts)

    @property
    def waited(self) -> timedelta | None:
        """From the question to the first words."""
        return to_time(self.answer_ts) - self.asked_at if self.answer_ts else None

    def is_waiting(self, now: datetime) -> bool:
        return self.answer_ts is None and now - self.asked_at < OPEN_FOR

    def is_unanswered(self, now: datetime) -> bool:
        return self.answer_ts is None and not self.is_waiting(now)


def to_time(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), UTC)


def questions_to(
    assistant_id: str, messages: Iterable[SeenMessage], now: datetime
) -> Sequence[Question]:
    """The questions to one assistant among the messages of its channels, the oldest first."""
    candidates = _candidates(assistant_id, messages)
    channels = _answered_throughout(candidates, now)
    found = list[Question]()
    for question in candidates:
        if not question.is_meant and question.channel_id in channels:
            found.append(replace(question, is_usual=True))
        elif question.is_meant or question.answer_ts:
            found.append(question)
    return found


def _candidates(assistant_id: str, messages: Iterable[SeenMessage]) -> Sequence[Question]:
    """What may be a question to the assistant: each row of messages by a person."""
    in_order = sorted(messages, key=lambda message: float(message.ts))
    in_channel = _answered_in_channel(assistant_id, in_order)
    asked_again = _asked_again(in_order)
    found = list[Question]()
    for thread in _threads(in_order):
        for asked, later, is_named in _rows(assistant_id, thread):
            question = Question(
                channel_id=asked.channel_id,
                ts=asked.ts,
                thread_ts=asked.thread_ts,
                asker_id=asked.author_id,
                is_meant=is_named,
                came_back=asked.ts in asked_again,
                text_hash=asked.text_hash,
            )
            answers = (message for message in later if _is_answer(message, assistant_id))
            answer = next(answers, None) or in_channel.get(asked.ts)
            people = [message for message in later if not message.is_app]
            found.append(_followed(question, answer, people))
    return sorted(found, key=lambda question: float(question.ts))


def _threads(in_order: Sequence[SeenMessage]) -> Iterable[Sequence[SeenMessage]]:
    threads = defaultdict[Thread, list[SeenMessage]](list)
    for message in in_order:
        threads[message.channel_id, message.thread_ts].append(message)
    return threads.values()


def _followed(
    question: Question, answer: SeenMessage | None, people: Sequence[SeenMessage]
) -> Question:
    """The question with its answer, and with what people wrote in its thread after that, or in
    place of one.
    """
    if answer:
        people = [message for message in people if float(message.ts) > float(answer.ts)]
    by_colleague = any(
        message.author_id != question.asker_id and message.says is not Says.THANKS
        for message in people
    )
    question = replace(question, by_colleague=by_colleague)
    if answer is None:
        return question
    last_ts = people[-1].ts if people else None
    answered_at = answer.finished_at
    return replace(question, answer_ts=answer.ts, answered_at=answered_at, last_ts=last_ts)


def _rows(
    assistant_id: str, thread: Sequence[SeenMessage]
) -> Iterator[tuple[SeenMessage, Sequence[SeenMessage], bool]]:
    """Each row of messages by a person that may be a question: its first words, what comes after
    the row, and whether it names the assistant.
    """
    has_spoken = False
    later = list(thread)
    for author_id, messages in groupby(thread, lambda message: message.author_id):
        row = list(messages)
        later = later[len(row) :]
        asked = [message for message in row if message.says is Says.WORDS]
        if author_id == assistant_id:
            has_spoken = has_spoken or bool(asked)
            continue
        first = row[0]
        is_named = any(assistant_id in message.mentions for message in asked)
        # Of other apps only a form that begins a thread is somebody's question.
        is_asked_within = not first.is_app and (has_spoken or is_named)
        if asked and (is_asked_within or not first.is_in_thread):
            yield asked[0], later, is_named


def _is_answer(message: SeenMessage, assistant_id: str) -> bool:
    """Whether it is a whole message of the assistant with words; a broken stream is none."""
    is_whole = message.finished_at is not None
    return message.author_id == assistant_id and message.says is Says.WORDS and is_whole


def _answered_in_channel(
    assistant_id: str, in_order: Sequence[SeenMessage]
) -> Mapping[str, SeenMessage]:
    """The answers that stand in the channel, not in a thread, by the ts of their question."""
    answers = dict[str, SeenMessage]()
    last = dict[str, SeenMessage]()
    for message in in_order:
        if message.is_in_thread:
            continue
        if message.author_id == assistant_id:
            question = last.pop(message.channel_id, None)
            is_soon = question is not None and message.at - question.at <= _IN_CHANNEL
            if question and is_soon and _is_answer(message, assistant_id):
                answers[question.ts] = message
        elif not message.is_app and message.says is Says.WORDS:
            last[message.channel_id] = message
    return answers


def _answered_throughout(questions: Sequence[Question], now: datetime) -> set[str]:
    """The channels where the assistant answers four in five of the messages that do not mention
    it.
    """
    answered = defaultdict[str, list[bool]](list)
    for question in questions:
        is_over = now - question.asked_at > timedelta(hours=1)
        is_late = now - question.asked_at <= MEANT_FOR
        if not question.is_meant and is_over and is_late:
            answered[question.channel_id].append(question.answer_ts is not None)
    return {
        channel_id
        for channel_id, each in answered.items()
        if len(each) >= _FEWEST_MEANT and sum(each) >= _MEANT_SHARE * len(each)
    }


def _asked_again(in_order: Sequence[SeenMessage]) -> set[str]:
    """The ts of messages that their author wrote again within a day, wherever that was."""
    again = set[str]()
    last = dict[tuple[str, str], SeenMessage]()
    for message in in_order:
        if message.is_app or message.says is not Says.WORDS or message.text_hash is None:
            continue
        key = message.author_id, message.text_hash
        earlier = last.get(key)
        if earlier and message.at - earlier.at <= AGAIN_WITHIN:
            again.add(earlier.ts)
        last[key] = message
    return again
