"""A command, shortcut, submission or click becomes a Case, or the little that a listener needs to answer it."""

from dataclasses import dataclass, replace
from typing import Any

from bot.domain.case import Case, CaseSource, LoggedCase, QuestionSource, Visibility, to_case_id
from bot.domain.obstacle import Obstacle, ObstacleKind
from bot.domain.recipient import Recipient, requester_of
from bot.extract.links import Permalink
from bot.extract.messages import Message, to_message
from bot.log.labels import Label
from bot.slack import ids
from bot.slack.modal_state import ModalState
from bot.slack.mrkdwn import clean

Raw = dict[str, Any]


@dataclass(frozen=True)
class Invocation:
    """Who did something, where, and the short-lived ways to answer: `trigger_id` (3 s), `response_url` (30 min).

    A submitted window stands in no channel (`channel_id` is empty); `window_channel_id` says where it was opened, and
    the `response_url` is of there.
    """

    team_id: str
    channel_id: str
    user_id: str
    user_name: str
    trigger_id: str
    response_url: str | None
    is_foreign: bool
    window_channel_id: str | None = None
    thread_ts: str | None = None

    @property
    def recipient(self) -> Recipient:
        """Whoever did it, where they did it; not where a window was opened, since they may have left."""
        response_url = None if self.window_channel_id else self.response_url
        is_in_channel = self.thread_ts is None
        return Recipient(self.user_id, self.channel_id, self.thread_ts, response_url, is_in_channel)

    def recipient_at(self, case: Case) -> Recipient:
        """Whoever did it, at a case that they can see; somebody else may have asked for it."""
        return replace(requester_of(case), user_id=self.user_id, response_url=self.response_url)

    def to_state(self, case_id: int | None = None) -> ModalState:
        """What a window remembers that is opened now."""
        return ModalState(channel_id=self.channel_id, response_url=self.response_url, case_id=case_id)


@dataclass(frozen=True)
class Choice:
    """What a case is judged by and who sees it."""

    rubric: str
    visibility: Visibility


@dataclass(frozen=True)
class Submission:
    """A submitted modal: its inputs, and what it remembered."""

    view_id: str
    state: ModalState
    question: str
    response: str
    rubric: str | None
    visibility: Visibility | None


def to_invocation(body: Raw) -> Invocation:
    """The person behind a payload; commands are flat, everything interactive is nested, and so are events."""
    if "command" in body:
        return _from_command(body)
    if "event" in body:
        return _from_event(body)
    user, team = body["user"], body.get("team") or {}
    team_id = team.get("id") or user.get("team_id") or ""
    home = {team_id, (body.get("enterprise") or {}).get("id"), None}
    state = _to_state(body["view"]) if body.get("type") == "view_submission" else ModalState()
    return Invocation(
        team_id=team_id,
        channel_id=(body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id") or "",
        user_id=user["id"],
        user_name=user.get("username") or user.get("name") or user["id"],
        trigger_id=body.get("trigger_id", ""),
        response_url=body.get("response_url") or state.response_url,
        is_foreign=user.get("team_id") not in home,
        window_channel_id=state.channel_id,
        thread_ts=((body.get("container") or {}) | (body.get("message") or {})).get("thread_ts"),
    )


def _from_command(body: Raw) -> Invocation:
    return Invocation(
        team_id=body["team_id"],
        channel_id=body["channel_id"],
        user_id=body["user_id"],
        user_name=body.get("user_name") or body["user_id"],
        trigger_id=body.get("trigger_id", ""),
        response_url=body.get("response_url"),
        is_foreign=False,
    )


def _from_event(body: Raw) -> Invocation:
    event = body["event"]
    return Invocation(
        team_id=body["team_id"],
        channel_id=event.get("channel") or "",
        user_id=event["user"],
        user_name=event["user"],
        trigger_id="",
        response_url=None,
        is_foreign=False,
    )


def home_channel(body: Raw) -> str:
    """The direct messages between a person and the app, from the opening of the Home tab or from a click in it."""
    return str(body["event"]["channel"] if "event" in body else body["view"]["private_metadata"])


def clicked_message(body: Raw, own_ids: frozenset[str]) -> Message:
    """The message that a shortcut was used on; one of our own has an obstacle, whatever it says."""
    message = to_message(body["message"])
    is_own = message.author_id in own_ids or body["message"].get("bot_id") in own_ids
    return replace(message, obstacle=Obstacle(ObstacleKind.OWN_MESSAGE)) if is_own else message


def message_case(invocation: Invocation, message: Message, choice: Choice, obstacle: str | None) -> Case:
    """The case behind "Score this reply": the message is the response, its question is yet to be found."""
    return Case(
        **_asked_by(invocation, choice),
        key=message_key(invocation.channel_id, message.ts, choice.visibility, invocation.user_id, attempt=1),
        source=CaseSource.SHORTCUT,
        message_ts=message.ts,
        parent_ts=message.parent_ts,
        author_id=message.author_id,
        response=message.text,
        obstacle=obstacle,
    )


def link_case(invocation: Invocation, link: Permalink, choice: Choice, obstacle: str | None) -> Case:
    """The case behind `/judge <link>`: the message is yet to be read."""
    key = message_key(link.channel_id, link.message_ts, choice.visibility, invocation.user_id, attempt=1)
    asked = {**_asked_by(invocation, choice), "channel_id": link.channel_id}
    return Case(
        **asked,
        key=key,
        source=CaseSource.LINK,
        message_ts=link.message_ts,
        parent_ts=link.parent_ts,
        obstacle=obstacle,
    )


def texts_case(invocation: Invocation, question: str, response: str, choice: Choice) -> Case:
    """The case behind `/judge question | response`."""
    return Case(
        **_asked_by(invocation, choice),
        key=f"command:{invocation.trigger_id}",
        source=CaseSource.TEXT,
        question=question,
        question_source=QuestionSource.TYPED,
        response=response,
    )


def modal_case(invocation: Invocation, submission: Submission, default: Choice) -> Case:
    """The case behind the modal of `/judge`; a view submitted twice is the same case."""
    # The Home tab's window does not ask who sees the verdict: it goes to the person's own messages with the app.
    choice = Choice(submission.rubric or default.rubric, submission.visibility or Visibility.THREAD)
    asked = _asked_by(invocation, choice)
    asked["channel_id"] = invocation.window_channel_id
    return Case(
        **asked,
        key=f"view:{submission.view_id}",
        source=CaseSource.MODAL,
        question=submission.question,
        question_source=QuestionSource.TYPED,
        response=submission.response,
    )


def again_case(invocation: Invocation, earlier: LoggedCase, choice: Choice) -> Case:
    """The case behind "Score again": two people who press it on the same public case get one verdict."""
    attempt = earlier.attempt + 1
    target = earlier.message_ts or f"case-{earlier.id}"
    return _repeat(
        invocation,
        earlier,
        key=message_key(earlier.channel_id, target, choice.visibility, invocation.user_id, attempt),
        rubric=choice.rubric,
        visibility=choice.visibility,
        attempt=attempt,
    )


def corrected_case(invocation: Invocation, earlier: LoggedCase, submission: Submission, choice: Choice) -> Case:
    """The case behind "Wrong question?": the same response with the question that the person typed."""
    return _repeat(
        invocation,
        earlier,
        key=f"view:{submission.view_id}",
        visibility=choice.visibility,
        attempt=earlier.attempt + 1,
        question=submission.question,
        question_source=QuestionSource.TYPED,
        question_ts=None,
    )


def _repeat(invocation: Invocation, earlier: LoggedCase, **changes: object) -> Case:
    kept = earlier.model_dump(include=set(Case.model_fields))
    kept |= {
        "source": CaseSource.BUTTON,
        "requester_id": invocation.user_id,
        "requester_name": invocation.user_name,
        "response_url": invocation.response_url,
    }
    if earlier.message_ts is None:
        kept["parent_ts"] = earlier.thread_ts
    elif earlier.obstacle or earlier.edited_at:
        kept["response"] = None  # read again: it may have a text by now, or another
    if earlier.edited_at and earlier.question_ts:
        kept |= {"question": None, "question_source": None, "question_ts": None}
    kept["obstacle"] = None
    return Case(**(kept | changes))


def to_submission(body: Raw) -> Submission:
    """The inputs of a submitted modal, as typed, surrounding whitespace dropped."""
    view = body["view"]
    values = view["state"]["values"]
    visibility = _selected(values, ids.BLOCK_VISIBILITY)
    return Submission(
        view_id=view["id"],
        state=_to_state(view),
        question=_typed(values, ids.BLOCK_QUESTION),
        response=_typed(values, ids.BLOCK_RESPONSE),
        rubric=_selected(values, ids.BLOCK_RUBRIC),
        visibility=Visibility(visibility) if visibility else None,
    )


def clicked_case_id(body: Raw) -> int | None:
    """The number of the case whose button was pressed; None where the button has none."""
    return to_case_id(body["actions"][0].get("value") or "")


def clicked_feedback(body: Raw) -> tuple[int | None, bool]:
    """The number of the case whose feedback buttons were pressed, and whether it was "agree"."""
    choice, _, case_id = (body["actions"][0].get("value") or "").partition(":")
    return to_case_id(case_id), choice == ids.AGREE


def to_label(body: Raw) -> tuple[ModalState, Label | None]:
    """What the modal for one's own score remembered, and the label that was filled in; None without a score."""
    view = body["view"]
    values = view["state"]["values"]
    try:
        score = int(_selected(values, ids.BLOCK_SCORE) or _typed(values, ids.BLOCK_SCORE))
        label = Label(score, _typed(values, ids.BLOCK_REASON) or None)
    except ValueError:
        label = None
    return _to_state(view), label


def message_key(channel_id: str, message_ts: str, visibility: Visibility, user_id: str, attempt: int) -> str:
    """What makes a request to judge a message recognisable: private requests are each person's own."""
    audience = user_id if visibility is Visibility.ME else "thread"
    return f"message:{channel_id}:{message_ts}:{audience}:{attempt}"


def _asked_by(invocation: Invocation, choice: Choice) -> Raw:
    return {
        "team_id": invocation.team_id,
        "channel_id": invocation.channel_id,
        "requester_id": invocation.user_id,
        "requester_name": invocation.user_name,
        "response_url": invocation.response_url,
        "rubric": choice.rubric,
        "visibility": choice.visibility,
    }


def _to_state(view: Raw) -> ModalState:
    return ModalState.from_private_metadata(view.get("private_metadata") or "")


def _typed(values: Raw, block_id: str) -> str:
    return clean((values.get(block_id) or {}).get(block_id, {}).get("value") or "").strip()


def _selected(values: Raw, block_id: str) -> str | None:
    option = (values.get(block_id) or {}).get(block_id, {}).get("selected_option")
    return option["value"] if option else None
