"""What was asked for, and how far it has come: the type that travels from Slack's payload to the log."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from bot.domain.watch import Shows

LARGEST_ID = 2**31 - 1
"""The largest number that a case can have, as PostgreSQL counts."""


class CaseStatus(StrEnum):
    """How far a case has come; `ASKED` waits for a person to type the question."""

    RECEIVED = "received"
    ASKED = "asked"
    JUDGED = "judged"
    DELIVERED = "delivered"


class Visibility(StrEnum):
    """Who sees the verdict: everybody in the thread, or only the person who asked."""

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
    WORKFLOW = "workflow"


class QuestionSource(StrEnum):
    """Where the question was found; the verdict says so, because it may be the wrong one."""

    PARENT = "parent"
    PREVIOUS = "previous"
    TYPED = "typed"


WORKFLOW = "workflow"
"""Who asks for the cases of steps, in place of a person's id."""


class Exclusion(StrEnum):
    """Why a verdict counts in no figure of what people chose: who asked for it, or typed its question.

    `EDITED`: its question was edited after the reply. `WORKFLOW`: a step asked for it, of which nobody knows who chose
    the reply; it counts apart.
    """

    AUTHOR = "author"
    ANOTHER = "another"
    EDITED = "edited"
    WORKFLOW = "workflow"


class Case(BaseModel):
    """One request to judge, as it came in.

    `response` is None until the message behind a link was read, `question` until it was found or typed.
    `key` makes the request recognisable: the same key in the same team is the same case.
    `message_ts` names the judged message, and is None when the texts were typed;
    `parent_ts` names the thread's parent, and is None for a message that stands in the channel itself;
    `question_ts` names the message that the question was read from, `question_author_id` who wrote or typed it.
    `excluded` says why it counts in no figure although everybody may see it.
    `probability` is that with which a watch drew the reply, and None where somebody asked for the score; `shows` says
    what the channel sees of what a watch has drawn.
    `blocker` is the sentence that says why there is nothing to judge; such a case disturbs nobody but its requester.
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
    question: str | None = None
    question_source: QuestionSource | None = None
    question_ts: str | None = None
    question_author_id: str | None = None
    response: str | None = None
    blocker: str | None = None
    response_url: str | None = None


class LoggedCase(Case):
    """A case that is durable: with its number, and with what has happened to it.

    `opened` counts how often it was taken up from the beginning: once, and again with each question typed for it.
    `lease_owner` is the name of the last attempt to settle it; each attempt has a name of its own.
    `thread_ts` is the thread that the verdict goes to, `reply_ts` our message in it. `thread_intent` and
    `reply_intent` say that a post was begun, so that after a crash we look before we post again.
    `slack_tries`, `model_tries` and `internal_errors` count failures in a row: of Slack, of the model, and of our own.
    `blocked_by` is Slack's error where the thread could not be written to; the verdict then goes to the
    requester alone. `edited_at` and `deleted_at` say when we heard that the question's or the response's message was
    edited or deleted after we had read it, `forgotten_at` when somebody whose words it has asked us to forget them.
    `score`, `highest` and `unscored_reason` are those of its verdict. `asked_at_s` is when its last step asked for the
    lease owner, by `clock_s`; it is in no log.
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
    highest: int | None = None
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
        """Whether nobody asked for it: a watch drew the reply, and nobody in particular is told."""
        return self.probability is not None

    @property
    def is_for_workflow(self) -> bool:
        return self.source is CaseSource.WORKFLOW

    @property
    def tells_requester(self) -> bool:
        return not (self.is_watched or self.is_for_workflow)

    @property
    def is_posted(self) -> bool:
        return not self.is_private and self.shows in {None, Shows.VERDICT}

    @property
    def is_for_one(self) -> bool:
        """Whether nobody but the requester can see the case: all others know only what stands in a channel's thread."""
        is_unposted = self.blocked_by is not None or self.status is CaseStatus.ASKED
        return self.is_private or is_unposted or self.channel_id.startswith("D")

    @property
    def loses_words(self) -> bool:
        return self.deleted_at is not None or self.forgotten_at is not None

    @property
    def texts_ts(self) -> str | None:
        """Our message with the two typed texts, which begins the thread; None where there is none."""
        return self.thread_ts if self.message_ts is None and self.parent_ts is None else None

    @property
    def begins_thread(self) -> bool:
        return self.message_ts is None

    @property
    def has_lost_texts(self) -> bool:
        return self.response is None and self.response_hash is not None

    @property
    def lacks_question(self) -> bool:
        return self.question is None and self.blocker is None


def to_case_id(text: str) -> int | None:
    """The number of a case, as it was typed or sent along by a button; None where no case can have it."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_ID)) else None
    return number if number is not None and number <= LARGEST_ID else None


def text_hash(text: str) -> str:
    """What stays of a text where the text itself is not kept: SHA-256, in hex."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class CurrentVerdict:
    """What counts so far for a reply: who asked for the first verdict on it, and whether one of them is a score."""

    first_requester_id: str
    is_scored: bool


def exclusion_of_first(user_id: str, author_id: str | None) -> Exclusion | None:
    """Why the verdict on a reply of this author stands aside, although nobody has asked for one before."""
    return Exclusion.AUTHOR if user_id == author_id else None


def exclusion_of(
    user_id: str, earlier: LoggedCase, current_verdict: CurrentVerdict | None, *, has_typed: bool
) -> Exclusion | None:
    """Why a verdict that this person asks for once more stands aside; None where it replaces the earlier one.

    Whoever asked first, the reply's author aside, may repeat and correct it. Others may where there is no score yet, or
    where the text has been edited since, unless the question is the author's, too: it may be that which was edited.
    `has_typed`: the question is that person's own, which is as good as a score of one's own, so it never takes
    another's place; nor does it when somebody else repeats it.
    """
    if user_id == earlier.author_id:
        return Exclusion.AUTHOR
    if earlier.excluded is Exclusion.EDITED and not has_typed:
        return Exclusion.EDITED
    if earlier.excluded and earlier.question_source is QuestionSource.TYPED and not has_typed:
        return earlier.excluded
    if current_verdict is None or user_id == current_verdict.first_requester_id:
        return None
    is_edited = earlier.edited_at is not None and earlier.question_author_id != earlier.author_id
    return Exclusion.ANOTHER if has_typed or (current_verdict.is_scored and not is_edited) else None


@dataclass(frozen=True)
class Execution:
    """One run of the step, under the id that Slack gave it; it waits until it is completed or failed.

    `quotes` is whether its workflow may be told the justification: that quotes the reply, and a workflow passes on what
    it is told to whomever it was built for.
    """

    id: str
    quotes: bool


_ASKED_IN_THE_CHANNEL = {CaseSource.LINK, CaseSource.TEXT, CaseSource.MODAL}


@dataclass(frozen=True)
class Recipient:
    """A person, and the place where they look for an answer.

    `channel_id` is empty where they are in none. `thread_ts` names a thread that is there already. `response_url`
    answers what they did last, for half an hour. `is_in_channel` is whether they stand in the channel itself, as after
    a command or a window, and not at a message in it.
    """

    user_id: str
    channel_id: str
    thread_ts: str | None = None
    response_url: str | None = None
    is_in_channel: bool = False


def requester_of(case: Case) -> Recipient:
    is_in_channel = case.source in _ASKED_IN_THE_CHANNEL
    return Recipient(case.requester_id, case.channel_id, case.parent_ts, case.response_url, is_in_channel)
