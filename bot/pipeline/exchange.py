"""What a reply is and what it answers, found among the messages of its thread; pure, without calls.

A reply is all that its author says in a row: assistants split long answers, and say "let me look
that up" first. The question is the last message before it by a person, and the conversation is what
stands before that.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import Any

from bot.domain.case import CaseTurn, Part, QuestionSource, join_texts, text_hash
from bot.slack.messages import Message, is_said_to
from judge import Turn
from judge.scoring.conversation import bounded
from judge.scoring.numbers import number_of

ASSISTANT = "the assistant"
OTHER_APP = "another app"
"""The roles of the judged author and of other apps; people are "Person 1", "Person 2" and so on."""

SAID = {None, "bot_message", "file_share", "me_message", "thread_broadcast"}
"""The subtypes of what people and apps say; all others are Slack's own notices, such as joins and pins."""

_MENTION = re.compile(r"@([UW][A-Z0-9]{2,})")


@dataclass(frozen=True)
class Question:
    """The messages taken as the question, where they were found, and whose words they are."""

    messages: tuple[Message, ...]
    source: QuestionSource
    author_id: str | None

    @property
    def text(self) -> str:
        return "\n".join(map(_words, self.messages))

    def is_edited_after(self, reply_ts: str) -> bool:
        """Whether it was edited after the reply, so that the reply answers something else."""
        return any(float(each.edited_ts or 0) > float(reply_ts) for each in self.messages)


@dataclass(frozen=True)
class Exchange:
    """A reply, the question that it answers (None if no message can be one), and the turns before
    that.

    `messages_before` counts the messages before the question, `left_out` those of them that are not
    among the turns.
    """

    reply: tuple[Message, ...]
    question: Question | None = None
    conversation: tuple[CaseTurn, ...] = ()
    messages_before: int = 0
    left_out: int = 0

    @property
    def response(self) -> str:
        """The texts of the reply, joined; what was not read has a mark at its place, beside words."""
        is_said = any(message.text for message in self.reply)
        return join_texts([*map(_words, self.reply)]) if is_said else ""

    @property
    def turns(self) -> tuple[CaseTurn, ...]:
        """All its messages that a case does not name by itself."""
        asked = self.question.messages if self.question else ()
        listed = ((Part.QUESTION, asked), (Part.RESPONSE, self.reply))
        several = [
            _to_turn(part, each)
            for part, messages in listed
            if len(messages) > 1
            for each in messages
        ]
        return (*self.conversation, *several, *_shared([*asked, *self.reply]))

    def to_found(self) -> dict[str, Any]:
        """The fields of a case that say what was found about its reply."""
        first = self.reply[0]
        unread = Counter(kind for message in self.reply for kind in message.read.unread)
        blockers = (message.blocker for message in self.reply if message.blocker)
        return {
            "message_ts": first.ts,
            "parent_ts": first.parent_ts,
            "author_id": first.author_id,
            "response": self.response,
            "blocker": None if self.response else next(blockers, None),
            "messages": len(self.reply),
            "unread": ", ".join(number_of(number, kind) for kind, number in unread.items()) or None,
            "turns": tuple(turn for turn in self.turns if turn.part is Part.RESPONSE),
        }

    def to_asked(self) -> dict[str, Any]:
        """The fields of a case that say what its question is, and what was said before; none
        without a question.
        """
        if self.question is None:
            return {}
        return {
            "question": self.question.text,
            "question_source": self.question.source,
            "question_ts": self.question.messages[-1].ts,
            "question_author_id": self.question.author_id,
            "turns": self.turns,
            "messages_before": self.messages_before,
            "left_out": self.left_out,
        }


def _words(message: Message) -> str:
    return message.text or message.read.text


def _shared(messages: Iterable[Message]) -> Iterator[CaseTurn]:
    """The authors of the messages that were shared into these; the words stand there."""
    for message in messages:
        for author_id in message.read.shared_by:
            yield CaseTurn(
                part=Part.SHARED, ts=message.ts, author_id=author_id, text=None, text_hash=""
            )


def _to_turn(part: Part, message: Message, role: str = "") -> CaseTurn:
    its = {"ts": message.ts, "author_id": message.author_id, "text_hash": text_hash(message.text)}
    return CaseTurn(part=part, role=role, text=_words(message), **its)


def is_anybodys(message: Message, own_ids: Collection[str]) -> bool:
    """Whether a message belongs to a conversation: it is no notice of Slack's, and neither by nor
    to this app.
    """
    is_to_us = any(is_said_to(own, message.text) for own in own_ids)
    return message.subtype in SAID and message.author_id not in own_ids and not is_to_us


def to_exchange(
    messages: Sequence[Message],
    ts: str,
    own_ids: Collection[str],
    persons: Collection[str],
    chosen: str | None = None,
) -> Exchange | None:
    """The exchange of `ts`, which may be any message of its reply; None if it is not among the
    thread's `messages`.

    The judge is not shown what stands between the question and the reply, because the reply does
    not answer that. If a person chose the question (`chosen`), it may be other questions with their
    answers. What this app (`own_ids`) says, and what is said to it, does not count. `persons` are
    the people among the authors.
    """
    said = [each for each in messages if each.ts == ts or is_anybodys(each, own_ids)]
    rows = [tuple(row) for _, row in groupby(said, lambda each: each.author_id)]
    before_reply = [*takewhile(lambda row: all(each.ts != ts for each in row), rows)]
    if len(before_reply) == len(rows):
        return None
    reply = rows[len(before_reply)]
    author_id = reply[0].author_id
    may_ask = {*persons} - {author_id}
    above = [*before_reply]
    while above and not (above[-1][0].author_id in may_ask and _asked(above[-1], chosen)):
        above.pop()
    asked = _asked(above[-1], chosen) if above else ()
    before = [each for row in above[:-1] for each in row if _words(each)]
    # A picture asks something if words came before it; alone, nobody could judge by it.
    if not any(each.text for each in (*before, *asked)):
        form = before_reply[0][0] if before_reply and chosen is None else None
        return Exchange(reply, _form(form, author_id))
    is_next = above == before_reply
    source = _source(asked[-1], is_chosen=chosen is not None, is_next=is_next)
    question = Question(asked, source, asked[-1].author_id)
    return _with_conversation(reply, question, before, persons)


def _asked(row: Sequence[Message], chosen: str | None) -> tuple[Message, ...]:
    """Those of a person's messages in a row that ask something: with words, up to the chosen one."""
    said = [each for each in row if _words(each)]
    if chosen is None:
        return tuple(said)
    at = next((number for number, each in enumerate(said, 1) if each.ts == chosen), 0)
    return tuple(said[:at])


def _source(question: Message, *, is_chosen: bool, is_next: bool) -> QuestionSource:
    if is_chosen:
        return QuestionSource.CHOSEN
    if is_next:
        return QuestionSource.PREVIOUS
    return QuestionSource.PARENT if question.parent_ts is None else QuestionSource.EARLIER


def _form(form: Message | None, author_id: str | None) -> Question | None:
    """Another app's post that began the thread, as the question; whom it names, if exactly one, has
    asked.
    """
    if form is None or form.parent_ts is not None or form.author_id == author_id or not form.text:
        return None
    return Question((form,), QuestionSource.FORM, _asker(form, author_id))


def _asker(form: Message, author_id: str | None) -> str | None:
    """Whose words a form has: the only person whom it names besides the assistant that it may call."""
    named = set(_MENTION.findall(form.text)) - {author_id}
    return named.pop() if len(named) == 1 else form.author_id


def _with_conversation(
    reply: tuple[Message, ...],
    question: Question,
    before: Sequence[Message],
    persons: Collection[str],
) -> Exchange:
    author_id = reply[0].author_id
    numbers: dict[str | None, int] = {}
    turns = []
    for message in before:
        role = OTHER_APP
        if message.author_id == author_id:
            role = ASSISTANT
        elif message.author_id in persons:
            role = f"Person {numbers.setdefault(message.author_id, len(numbers) + 1)}"
        if role == OTHER_APP and message.parent_ts is None:
            message = replace(message, author_id=_asker(message, author_id))
        turns.append(_to_turn(Part.CONVERSATION, message, role))
    texts = [
        turn.text
        for turn in bounded([Turn(turn.role, turn.text or "") for turn in turns])
        if turn.role
    ]
    left_out = len(turns) - len(texts)
    kept = [turns[0], *turns[1 + left_out :]] if turns else []
    shown = tuple(
        turn.model_copy(update={"text": text}) for turn, text in zip(kept, texts, strict=True)
    )
    return Exchange(reply, question, (*shown, *_shared(before)), len(before), left_out)
