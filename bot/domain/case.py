"""What was asked for, and how far it has come: the type that travels from Slack's payload to the
store.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.domain.watch import Shows
from judge.scoring.conversation import Turn, left_out_note

LARGEST_ID = 2**31 - 1
"""The largest number that a case can have: PostgreSQL's largest integer."""


class CaseStatus(StrEnum):
    """How far a case has come; an `ASKED` case waits for a person to type the question."""

    RECEIVED = "received"
    ASKED = "asked"
    JUDGED = "judged"
    DELIVERED = "delivered"


class Visibility(StrEnum):
    """Who sees the verdict: everyone in the thread, or only the requester."""

    THREAD = "thread"
    ME = "me"


class CaseSource(StrEnum):
    SHORTCUT = "shortcut"
    LINK = "link"
    TEXT = "text"
    MODAL = "modal"
    BUTTON = "button"
    MENTION = "mention"
    REACTION = "reaction"
    WATCH = "watch"


class QuestionSource(StrEnum):
    """Where the question was found; the verdict says so, because it may be the wrong one.

    `PREVIOUS`: right above the reply. `PARENT`: the first message of its thread, with others in
    between. `EARLIER`: any other message before it. `FORM`: another app's post that began the
    thread, where no person wrote. `CHOSEN`: a person chose the message; its thread is read as if
    that were the last one by a person.
    """

    PREVIOUS = "previous"
    PARENT = "parent"
    EARLIER = "earlier"
    FORM = "form"
    CHOSEN = "chosen"
    TYPED = "typed"


class Part(StrEnum):
    """What a message is to a case.

    `SHARED` is the author of a message that somebody shared into their question; the words stand in
    the question.
    """

    CONVERSATION = "conversation"
    QUESTION = "question"
    RESPONSE = "response"
    SHARED = "shared"


class CaseTurn(BaseModel):
    """A message that a case was read from, with its words.

    Turns of the conversation have a role and stand in the order of the thread. Messages of the
    question or of the reply are only listed if there are several; the case has their texts joined.
    `text_hash` is that of the whole message, of which a long turn keeps only the beginning and the
    end.
    """

    model_config = ConfigDict(frozen=True)

    part: Part
    ts: str
    author_id: str | None
    role: str = ""
    text: str | None
    text_hash: str


class Exclusion(StrEnum):
    """Why a verdict is left out of the figures of what people chose.

    `ANOTHER`: a person other than the first requester asked for it. `EDITED`: its question was
    edited after the reply. `CONTINUED`: a watch scored the reply again, because its author added to
    it. `PERSON`: the reply is a person's, and figures are about assistants.
    """

    ANOTHER = "another"
    EDITED = "edited"
    CONTINUED = "continued"
    PERSON = "person"


class Case(BaseModel):
    """One request to judge, as it came in.

    `response` is None until the message behind a link has been read, `question` until it has been
    found or typed. `key` identifies the request: the same key in the same team is the same case.
    `message_ts` is the judged message; None if the texts were typed. `parent_ts` is the thread's
    parent; None if the message is in the channel itself. `question_ts` is the message that the
    question was read from (of several the last), `question_author_id` the person who wrote or typed
    it. `turns` are the other messages it was read from; a stored case has them only if they were
    asked for. `messages_before` is how many messages stand before the question in its thread,
    `left_out` how many of them the judge is not shown. `messages` is how many messages the reply
    has; `message_ts` is the first. `unread` names what the reply shows and cannot be read as text,
    such as "1 picture"; None if there is nothing. `excluded` says why the case counts in no figure
    although everyone may see it. `probability` is that with which a watch drew the reply; None if
    the score was asked for. `shows` says what the channel sees of a drawn reply, `way` how the judge
    is asked about it, if not as the settings say. `blocker` is the sentence that says why there is
    nothing to judge; only the requester sees such a case.
    """

    model_config = ConfigDict(frozen=True)

    key: str
    team_id: str
    channel_id: str
    requester_id: str
    requester_name: str
    source: CaseSource
    rubric: str
    visibility: Visibility
    message_ts: str | None = None
    parent_ts: str | None = None
    author_id: str | None = None
    attempt: int = 1
    excluded: Exclusion | None = None
    probability: float | None = None
    shows: Shows | None = None
    way: str | None = None
    question: str | None = None
    question_source: QuestionSource | None = None
    question_ts: str | None = None
    question_author_id: str | None = None
    response: str | None = None
    turns: tuple[CaseTurn, ...] = ()
    messages_before: int = 0
    left_out: int = 0
    messages: int = 1
    unread: str | None = None
    blocker: str | None = None
    response_url: str | None = None

    @property
    def texts(self) -> tuple[str, str]:
        """The question and the response; one that is not there is empty."""
        return self.question or "", self.response or ""

    @property
    def conversation(self) -> tuple[Turn, ...]:
        """The turns before the question that still have their words, with a note where some are
        left out.
        """
        said = [
            Turn(each.role, each.text)
            for each in self.turns
            if each.part is Part.CONVERSATION and each.text
        ]
        return to_conversation(said, self.left_out)

    @property
    def choosable(self) -> dict[str, Turn]:
        """What people said before the reply, by ts, the newest first; without the question itself
        and without words that are gone.
        """
        said = {
            each.ts: Turn(each.role or "Asker", each.text)
            for each in self.turns[::-1]
            if each.text and (each.part is Part.QUESTION or each.role.startswith("Person"))
        }
        said.pop(self.question_ts or "", None)
        return said


def to_conversation(said: Sequence[Turn], left_out: int) -> tuple[Turn, ...]:
    """The turns, with a note after the first of how many are left out there."""
    return (*said[:1], *([left_out_note(left_out)] if left_out else []), *said[1:])


WITHOUT_QUESTION: dict[str, Any] = dict.fromkeys(
    ("question", "question_source", "question_ts", "question_author_id")
)
"""The fields of a case whose question is not known."""


class LoggedCase(Case):
    """A stored case, with its number and what has happened to it.

    `opened` counts how often it was started from the beginning: once, and again each time it is
    reopened or its question is typed. `lease_owner` is the name of the last attempt to settle it;
    each attempt has its own name. `thread_ts` is the thread that the verdict goes to, `reply_ts`
    our message in it. `thread_intent` and `reply_intent` say that a post was begun, so that after a
    crash we look for it before we post again. `slack_tries`, `model_tries` and `internal_errors`
    count consecutive failures: of Slack, of the model, and our own. `blocked_by` is Slack's error
    if the thread could not be written to; the verdict then goes only to the requester. `edited_at`
    and `deleted_at` are when we learned that the question's or the response's message was edited or
    deleted after we had read it. `forgotten_at` is when a person whose words it contains asked us
    to forget them. `score`, `justification` and the like are those of its verdict. `asked_at_s` is
    when its last step checked the lease owner, by `clock_s`; it is not stored.
    """

    id: int
    status: CaseStatus
    opened: int = 1
    lease_owner: str | None = None
    slack_tries: int = 0
    model_tries: int = 0
    internal_errors: int = 0
    question_hash: str | None = None
    response_hash: str | None = None
    thread_ts: str | None = None
    reply_ts: str | None = None
    thread_intent: bool = False
    reply_intent: bool = False
    blocked_by: str | None = None
    score: int | None = None
    lowest: int | None = None
    highest: int | None = None
    justification: str | None = None
    unscored_reason: str | None = None
    created_at: datetime
    judged_at: datetime | None = None
    delivered_at: datetime | None = None
    edited_at: datetime | None = None
    deleted_at: datetime | None = None
    forgotten_at: datetime | None = None
    asked_at_s: float = 0.0

    @property
    def is_private(self) -> bool:
        return self.visibility is Visibility.ME or self.blocker is not None

    @property
    def is_watched(self) -> bool:
        """Whether a watch drew the reply; such a case has no requester to tell."""
        return self.probability is not None

    @property
    def is_posted(self) -> bool:
        return not self.is_private and self.shows in {None, Shows.VERDICT}

    @property
    def is_for_one(self) -> bool:
        """Whether only the requester can see the case: other people know only what is in a
        channel's thread.
        """
        is_unposted = self.blocked_by is not None or self.status is CaseStatus.ASKED
        return self.is_private or is_unposted or self.channel_id.startswith("D")

    @property
    def loses_words(self) -> bool:
        return self.deleted_at is not None or self.forgotten_at is not None

    @property
    def texts_ts(self) -> str | None:
        """Our message with the two typed texts, which begins the thread; None if there is none."""
        return self.thread_ts if self.message_ts is None and self.parent_ts is None else None

    @property
    def last_ts(self) -> str:
        """The last message of its reply, if it has its turns."""
        said = (turn.ts for turn in self.turns if turn.part is Part.RESPONSE)
        return max(said, key=float, default=self.message_ts or "")

    @property
    def has_lost_texts(self) -> bool:
        return self.response is None and self.response_hash is not None

    @property
    def why_lost(self) -> str:
        """What has happened to its texts, if it has lost them."""
        if self.deleted_at:
            return "deleted"
        return "forgotten" if self.forgotten_at else "not stored"

    @property
    def lacks_question(self) -> bool:
        return self.question is None and self.blocker is None


def to_case_id(text: str) -> int | None:
    """The number of a case, as typed or as sent by a button; None if no case can have it."""
    if not re.fullmatch("[0-9]{1,10}", text) or int(text) > LARGEST_ID:
        return None
    return int(text)


def join_texts(texts: Sequence[str]) -> str:
    return "\n\n".join(text for text in texts if text)


def text_hash(text: str) -> str:
    """The SHA-256 of a text, in hex, which is kept even when the text is not."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class Recipient:
    """A person, and the place where they look for an answer.

    `channel_id` is empty if they are in no channel. `thread_ts` is an existing thread.
    `response_url` answers their last action, for half an hour. `is_in_channel` is whether they are
    in the channel itself, as after a command or a modal, and not at a message in it.
    """

    user_id: str
    channel_id: str
    thread_ts: str | None = None
    response_url: str | None = None
    is_in_channel: bool = False


def requester_of(case: Case) -> Recipient:
    is_in_channel = case.source in {CaseSource.LINK, CaseSource.TEXT, CaseSource.MODAL}
    return Recipient(
        case.requester_id, case.channel_id, case.parent_ts, case.response_url, is_in_channel
    )
