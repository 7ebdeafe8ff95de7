"""Converts requests to cases, the form in which they go to the store."""

from dataclasses import dataclass
from typing import Any

from bot.domain.case import (
    Case,
    CaseSource,
    Exclusion,
    LoggedCase,
    Part,
    QuestionSource,
    Visibility,
    exclusion_of_first,
)
from bot.slack.invocation import Invocation, Submission
from bot.slack.messages import Message, Permalink


@dataclass(frozen=True)
class Choice:
    rubric: str
    visibility: Visibility


def message_case(
    invocation: Invocation, message: Message, choice: Choice, source: CaseSource = CaseSource.SHORTCUT
) -> Case:
    """The case for "Score this reply" or a mention: the message is the response, and the question is found later."""
    return Case(
        **_asked_by(invocation, choice),
        key=message_key(invocation.channel_id, message.ts, choice.visibility, invocation.user_id, attempt=1),
        source=source,
        message_ts=message.ts,
        parent_ts=message.parent_ts,
        author_id=message.author_id,
        excluded=exclusion_of_first(invocation.user_id, message.author_id),
        response=message.text,
        blocker=message.blocker,
    )


def link_case(invocation: Invocation, link: Permalink, choice: Choice, blocker: str | None = None) -> Case:
    """The case for `/judge <link>`; the message is read later."""
    key = message_key(link.channel_id, link.message_ts, choice.visibility, invocation.user_id, attempt=1)
    asked = {**_asked_by(invocation, choice), "channel_id": link.channel_id}
    return Case(
        **asked,
        key=key,
        source=CaseSource.LINK,
        message_ts=link.message_ts,
        parent_ts=link.parent_ts,
        blocker=blocker,
    )


def texts_case(invocation: Invocation, question: str, response: str, choice: Choice) -> Case:
    """The case for `/judge question | response`."""
    return Case(
        **_asked_by(invocation, choice),
        key=f"command:{invocation.trigger_id}",
        source=CaseSource.TEXT,
        question=question,
        question_source=QuestionSource.TYPED,
        question_author_id=invocation.user_id,
        response=response,
    )


def modal_case(invocation: Invocation, submission: Submission, default_rubric: str) -> Case:
    """The case for the modal of `/judge`; a view submitted twice is the same case."""
    # In direct messages and the Home tab, the window does not ask who sees the verdict: only this person can.
    choice = Choice(submission.rubric or default_rubric, submission.visibility or Visibility.THREAD)
    asked = texts_case(invocation, submission.question, submission.response, choice)
    its = {"channel_id": invocation.window_channel_id, "key": f"view:{submission.view_id}"}
    return asked.model_copy(update=its | {"source": CaseSource.MODAL})


def again_case(invocation: Invocation, earlier: LoggedCase, choice: Choice, excluded: Exclusion | None) -> Case:
    """The case for "Score again": two people who click it on the same public case get one verdict."""
    attempt = earlier.attempt + 1
    target = earlier.message_ts or f"case-{earlier.id}"
    return _repeat(
        invocation,
        earlier,
        key=message_key(earlier.channel_id, target, choice.visibility, invocation.user_id, attempt),
        rubric=choice.rubric,
        visibility=choice.visibility,
        attempt=attempt,
        excluded=excluded,
    )


def corrected_case(
    invocation: Invocation, earlier: LoggedCase, submission: Submission, choice: Choice, excluded: Exclusion | None
) -> Case:
    """The case for "Wrong question?": the same response with the question that the person typed, or else chose."""
    has_typed = bool(submission.question)
    return _repeat(
        invocation,
        earlier,
        key=f"view:{submission.view_id}",
        visibility=choice.visibility,
        attempt=earlier.attempt + 1,
        excluded=excluded,
        question=submission.question or None,  # the chosen message is read again, with those before it
        question_source=QuestionSource.TYPED if has_typed else QuestionSource.CHOSEN,
        question_author_id=invocation.user_id if has_typed else None,
        question_ts=None if has_typed else submission.chosen,
        turns=tuple(turn for turn in earlier.turns if turn.part is Part.RESPONSE),
        messages_before=0,
        left_out=0,
    )


def _repeat(invocation: Invocation, earlier: LoggedCase, **changes: object) -> Case:
    kept = earlier.model_dump(include=set(Case.model_fields))
    kept |= {
        "source": CaseSource.BUTTON,
        "requester_id": invocation.user_id,
        "requester_name": invocation.user_name,
        "response_url": invocation.response_url,
        "probability": None,  # a person asked for this one, even if a watch drew the earlier one
        "shows": None,
    }
    if earlier.message_ts is None:
        kept["parent_ts"] = earlier.thread_ts
    elif earlier.blocker or earlier.edited_at:
        kept["response"] = None  # read again, because the message may have a text by now, or a new one
    if earlier.question_source is QuestionSource.CHOSEN:
        kept["question"] = None
    elif earlier.question_ts:
        # The thread is read again, because the reply may go on by now; what is known is for when it cannot be read.
        kept["question_source"] = None
        if earlier.edited_at:
            kept |= {"question": None, "question_ts": None, "question_author_id": None}
    kept["blocker"] = None
    return Case(**(kept | changes))


def message_key(channel_id: str, message_ts: str, visibility: Visibility, user_id: str, attempt: int) -> str:
    """The key that identifies a request to judge a message; private requests have one for each person."""
    audience = user_id if visibility is Visibility.ME else "thread"
    return f"message:{channel_id}:{message_ts}:{audience}:{attempt}"


def _asked_by(invocation: Invocation, choice: Choice) -> dict[str, Any]:
    return {
        "team_id": invocation.team_id,
        "channel_id": invocation.channel_id,
        "requester_id": invocation.user_id,
        "requester_name": invocation.user_name,
        "response_url": invocation.response_url,
        "rubric": choice.rubric,
        "visibility": choice.visibility,
    }
