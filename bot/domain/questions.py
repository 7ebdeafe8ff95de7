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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    whether the same was asked again.
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

    `is_meant`: it mentions the assistant. Times are those
    of the answer's first words and of its end. `by_colleague`: a person other than the asker wrote
    in its thread, after the answer or in place of one. `last_ts` is the last message of a person in
    the thread after the answer, if any.
    """

    channel_id: str
    ts: str
    thread_ts: str
    asker_id: str
    is_meant: bool
    answer_ts: str | None = None
    first_words_at: datetime | None = None
    answered_at: datetime | None = None
    by_colleague: bool = False
    came_back: bool = False
    last_ts: str | None = None

    @property
    def asked_at(self) -> datetime:
        return to_time(self.ts)

    @property
    def waited(self) -> timedelta | None:
        """From the question to the first words."""
        return self.first_words_at - self.asked_at if self.first_words_at else None

    def is_waiting(self, now: datetime) -> bool:
        return self.first_words_at is None and now - self.asked_at < OPEN_FOR

    def is_unanswered(self, now: datetime) -> bool:
        return self.first_words_at is None and now - self.asked_at >= OPEN_FOR


def to_time(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), UTC)


def questions_to(
    assistant_id: str, messages: Iterable[SeenMessage], now: datetime
) -> Sequence[Question]:
    """The questions to one assistant among the messages of its channels, the oldest first."""
    in_order = sorted(messages, key=lambda message: float(message.ts))
    candidates = _candidates(assistant_id, in_order)
    channels = _answered_throughout(candidates, now)
    asked_again = _asked_again(in_order)
    return [
        replace(question, came_back=question.ts in asked_again)
        for question in candidates
        if question.is_meant or question.first_words_at or question.channel_id in channels
    ]


def channels_meant(
    assistant_id: str, messages: Iterable[SeenMessage], now: datetime
) -> Collection[str]:
    """The channels where all messages count as questions to the assistant."""
    in_order = sorted(messages, key=lambda message: float(message.ts))
    return _answered_throughout(_candidates(assistant_id, in_order), now)


def _candidates(assistant_id: str, in_order: Sequence[SeenMessage]) -> Sequence[Question]:
    """What may be a question to the assistant: each row of messages by a person."""
    threads = defaultdict[tuple[str, str], list[SeenMessage]](list)
    for message in in_order:
        threads[message.channel_id, message.thread_ts].append(message)
    in_channel = _answered_in_channel(assistant_id, in_order)
    found = [
        question
        for thread in threads.values()
        for question in _of_thread(assistant_id, thread, in_channel)
    ]
    return sorted(found, key=lambda question: float(question.ts))


def _of_thread(
    assistant_id: str, thread: Sequence[SeenMessage], in_channel: Mapping[str, SeenMessage]
) -> Iterator[Question]:
    """The candidates of a thread: each row of messages by a person."""
    rows = [list(row) for _, row in groupby(thread, lambda message: message.author_id)]
    has_spoken = False
    for number, row in enumerate(rows):
        first = row[0]
        if first.author_id == assistant_id:
            has_spoken = has_spoken or any(message.says is Says.WORDS for message in row)
            continue
        asked = [message for message in row if message.says is Says.WORDS]
        is_named = any(assistant_id in message.mentions for message in asked)
        # Of other apps only a form that begins a thread is somebody's question.
        is_form = first.is_app and number == 0 and not first.is_in_thread
        is_persons = not first.is_app and (has_spoken or not first.is_in_thread or is_named)
        if not asked or not (is_persons or is_form):
            continue
        yield _question(assistant_id, asked[0], rows[number + 1 :], is_named, in_channel)


def _question(
    assistant_id: str,
    asked: SeenMessage,
    later_rows: Sequence[Sequence[SeenMessage]],
    is_named: bool,
    in_channel: Mapping[str, SeenMessage],
) -> Question:
    later = [message for row in later_rows for message in row]
    answers = [
        message
        for message in _until_next_question(assistant_id, asked, later)
        if _is_answer(message, assistant_id)
    ]
    answer = answers[0] if answers else in_channel.get(asked.ts)
    people = [message for message in later if not message.is_app]
    if answer:
        people = [message for message in people if float(message.ts) > float(answer.ts)]
    others = [message for message in people if message.author_id != asked.author_id]
    return Question(
        channel_id=asked.channel_id,
        ts=asked.ts,
        thread_ts=asked.thread_ts,
        asker_id=asked.author_id,
        is_meant=is_named,
        answer_ts=answer.ts if answer else None,
        first_words_at=answer.at if answer else None,
        answered_at=answer.finished_at if answer else None,
        by_colleague=bool(others),
        last_ts=people[-1].ts if answer and people else None,
    )


def _is_answer(message: SeenMessage, assistant_id: str) -> bool:
    """Whether it is a whole message of the assistant with words; a broken stream is none."""
    is_whole = message.finished_at is not None
    return message.author_id == assistant_id and message.says is Says.WORDS and is_whole


def _until_next_question(
    assistant_id: str, asked: SeenMessage, later: Sequence[SeenMessage]
) -> Iterator[SeenMessage]:
    """The messages up to the asker's next question after an answer: what follows answers that."""
    was_answered = False
    for message in later:
        was_answered = was_answered or _is_answer(message, assistant_id)
        if was_answered and message.author_id == asked.author_id:
            return
        yield message


def _answered_in_channel(
    assistant_id: str, in_order: Sequence[SeenMessage]
) -> Mapping[str, SeenMessage]:
    """The answers that stand in the channel, not in a thread, by the ts of their question."""
    answers = dict[str, SeenMessage]()
    last = dict[str, SeenMessage]()
    for message in in_order:
        if message.is_in_thread:
            continue
        if message.author_id != assistant_id:
            if not message.is_app and message.says is Says.WORDS:
                last[message.channel_id] = message
            continue
        question = last.pop(message.channel_id, None)
        if not question or not _is_answer(message, assistant_id):
            continue
        if message.at - question.at <= _IN_CHANNEL:
            answers[question.ts] = message
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
            answered[question.channel_id].append(question.first_words_at is not None)
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
