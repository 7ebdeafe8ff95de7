"""Converts payloads: who did something and where, what they clicked, submitted in a window, or
typed after `/judge`.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.blocker import OWN_MESSAGE
from bot.domain.case import Case, Recipient, Visibility, requester_of, to_case_id
from bot.slack import ids
from bot.slack.blocks import ModalState
from bot.slack.messages import Message, Permalink, parse_permalink, to_message
from bot.slack.mrkdwn import clean, to_plain

Raw = dict[str, Any]
TEAMS = "teams_of_organisation"
"""Where the door writes the workspaces of an organisation that has installed the app; its id is then `team_id`."""
IS_OURS = "is_ours"
"""Where it is written that a person of another workspace is nevertheless served as one of this."""


@dataclass(frozen=True)
class Invocation:
    """Who did something, where, and the short-lived ways to answer: `trigger_id` (3 s),
    `response_url` (30 min).

    A submitted window belongs to no channel (`channel_id` is empty); `window_channel_id` is where
    it was opened, and its `response_url` leads there. In the Home tab it is the channel of the
    person's direct messages with the app. `message_ts` is the message in which they
    clicked, `is_ephemeral` whether it goes when they reload Slack. `action` is the id of what was
    clicked, and `value` what a button sends back, both empty if there is none.
    """

    team_id: str
    channel_id: str
    user_id: str
    user_name: str
    is_foreign: bool
    trigger_id: str = ""
    response_url: str | None = None
    window_channel_id: str | None = None
    thread_ts: str | None = None
    message_ts: str = ""
    is_command: bool = False
    is_ephemeral: bool = False
    action: str = ""
    value: str = ""
    too_slow: ClassVar[str] = "The window did not open in time. Please try again."

    @property
    def place(self) -> tuple[str, str]:
        """The team and the channel; of a window, the one where it was opened."""
        return self.team_id, self.window_channel_id or self.channel_id

    @property
    def case_id(self) -> int | None:
        """The number of the case whose button was clicked, or None if the button has none."""
        # The words of the answer that it stands in may come before.
        return to_case_id(self.value.rpartition(":")[2])

    @property
    def recipient(self) -> Recipient:
        """The person, where they acted; not where a window was opened, because they may have left
        that channel.
        """
        response_url = None if self.window_channel_id else self.response_url
        is_in_channel = self.thread_ts is None
        return Recipient(self.user_id, self.channel_id, self.thread_ts, response_url, is_in_channel)

    @property
    def is_direct(self) -> bool:
        return self.channel_id.startswith("D")

    def recipient_at(self, case: Case) -> Recipient:
        """The person as a recipient where the case is, or where they typed a command; the case may
        be another's.
        """
        there = replace(requester_of(case), user_id=self.user_id, response_url=self.response_url)
        return replace(there, is_in_channel=True) if self.is_command else there

    def to_state(self, case_id: int | None = None) -> ModalState:
        return ModalState(
            channel_id=self.channel_id, response_url=self.response_url, case_id=case_id
        )


def to_invocation(body: Raw) -> Invocation:
    """The invocation in a payload, which is flat for commands, and nested for interactions and
    events.
    """
    if "command" in body:
        return _from_command(body)
    if is_event(body):
        return _from_event(body)
    return _from_interaction(body)


def is_event(body: Raw) -> bool:
    return "event" in body


def workspace_of(body: Raw) -> tuple[str | None, str | None]:
    """The enterprise and the team whose installation of the app a payload is for; None for what
    Slack does not name.

    Called once, at the door (`bot/workspaces.py`), which writes the answer into the payload as
    `enterprise_id` and `team_id`; everything else reads it there. Slack's own values may be another
    company's in a channel shared with it.

    Source: slack_bolt.request.internals.extract_team_id and extract_enterprise_id
    """
    if body.get("authorizations"):
        granted = body["authorizations"][0]
        return granted.get("enterprise_id"), granted.get("team_id") or body.get("team_id")
    team, user, view = ((body.get(part) or {}) for part in ("team", "user", "view"))
    where = team.get("id") or body.get("team_id") or user.get("team_id")
    installed = view.get("app_installed_team_id") or where
    if installed and installed.startswith("E"):  # installed for a whole organisation
        return installed, where
    if (
        installed != where
    ):  # the window of a person of another company; the enterprise in the payload is theirs
        return None, installed
    return (body.get("enterprise") or {}).get("id") or body.get("enterprise_id"), installed


def person_elsewhere(body: Raw) -> str | None:
    """The person of a payload that does not place them in a workspace of ours; None otherwise.

    Slack must be asked: reactions and older message shortcuts name no workspace, and another one
    may be of our organisation, or of a company that is allowed.
    """
    whose: Raw = body["user"] if "user" in body else {"id": (body.get("event") or {}).get("user")}
    return whose["id"] if _is_elsewhere(body) else None


def opens_home(body: Raw) -> bool:
    return is_event(body) and body["event"]["type"] == "app_home_opened"


def is_in_home(body: Raw) -> bool:
    return opens_home(body) or (body.get("view") or {}).get("type") == "home"


def kind_of(body: Raw) -> str | None:
    return body.get("type") or body.get("command")


def _from_interaction(body: Raw) -> Invocation:
    user = body["user"]
    view = body.get("view") or {}
    container = body.get("container") or {}
    state = ModalState.of(view) if body.get("type") == "view_submission" else ModalState()
    clicked = (body.get("actions") or [{}])[0]
    return Invocation(
        team_id=body["team_id"],
        channel_id=(body.get("channel") or {}).get("id") or container.get("channel_id") or "",
        user_id=user["id"],
        user_name=user.get("username") or user.get("name") or user["id"],
        trigger_id=body.get("trigger_id", ""),
        response_url=body.get("response_url") or state.response_url,
        is_foreign=_is_elsewhere(body) and not body.get(IS_OURS),
        window_channel_id=view["private_metadata"]
        if view.get("type") == "home"
        else state.channel_id,
        thread_ts=(container | (body.get("message") or {})).get("thread_ts"),
        message_ts=container.get("message_ts") or "",
        is_ephemeral=bool(container.get("is_ephemeral")),
        action=clicked.get("action_id") or "",
        value=clicked.get("value") or "",
    )


def _from_command(body: Raw) -> Invocation:
    return Invocation(
        team_id=body["team_id"],
        channel_id=body["channel_id"],
        user_id=body["user_id"],
        user_name=body.get("user_name") or body["user_id"],
        trigger_id=body.get("trigger_id", ""),
        response_url=body.get("response_url"),
        is_foreign=False,  # Slack offers commands only in the workspaces that have installed them
        is_command=True,
    )


def _from_event(body: Raw) -> Invocation:
    event = body["event"]
    thread_ts = event.get("thread_ts")
    return Invocation(
        team_id=body["team_id"],
        channel_id=event.get("channel") or (event.get("item") or {}).get("channel") or "",
        user_id=event["user"],
        user_name=event["user"],
        is_foreign=_is_elsewhere(body) and not body.get(IS_OURS),
        window_channel_id=event["channel"] if event["type"] == "app_home_opened" else None,
        thread_ts=thread_ts if thread_ts != event.get("ts") else None,
    )


def _is_elsewhere(body: Raw) -> bool:
    if "user" in body:
        return body["user"].get("team_id") not in _home(body)
    # Source: slack_bolt.request.internals.extract_actor_team_id. If Slack does not say, people of a
    # shared channel are.
    event = body.get("event") or {}
    theirs = event.get("user_team") or event.get("source_team") or event.get("team")
    return theirs not in _home(body) if theirs else bool(body.get("is_ext_shared_channel"))


def _home(body: Raw) -> set[str]:
    """The ids by which Slack names the workspace of a person who is not from another company."""
    return {body["team_id"], body.get("enterprise_id"), *body.get(TEAMS, ())} - {None}


def clicked_message(body: Raw, own_ids: frozenset[str]) -> Message:
    """The message that a shortcut was used on; our own messages always have a blocker."""
    message = to_message(body["message"])
    is_own = message.author_id in own_ids or body["message"].get("bot_id") in own_ids
    return replace(message, blocker=OWN_MESSAGE) if is_own else message


Act = Callable[[Invocation, Raw], Awaitable[None]]
"""Handles a click and its payload."""


def on_click(app: AsyncApp, *action_ids: str | re.Pattern[str]) -> Callable[[Act], Act]:
    """Decorates a function that handles clicks: each click is acknowledged first, which Slack
    expects within 3 s.
    """

    def register(act: Act) -> Act:
        async def acknowledge(ack: AsyncAck, body: Raw) -> None:
            await ack()
            await act(to_invocation(body), body)

        for action_id in action_ids:
            app.action(action_id)(acknowledge)
        return act

    return register


@dataclass(frozen=True)
class Submission:
    """A submitted window with texts: its inputs and its state; `chosen` is the ts of a message."""

    view_id: str
    state: ModalState
    question: str
    response: str
    chosen: str | None
    rubric: str | None
    visibility: Visibility | None


def to_submission(body: Raw) -> Submission:
    """The inputs as typed, without surrounding whitespace."""
    values = values_of(body)
    seen_by = selected(values, ids.BLOCK_VISIBILITY)
    return Submission(
        view_id=body["view"]["id"],
        state=ModalState.of(body["view"]),
        question=typed(values, ids.BLOCK_QUESTION),
        response=typed(values, ids.BLOCK_RESPONSE),
        chosen=selected(values, ids.BLOCK_CHOSEN),
        rubric=selected(values, ids.BLOCK_RUBRIC),
        visibility=Visibility(seen_by) if seen_by else None,
    )


def values_of(body: Raw) -> Raw:
    """The fields of a submitted window."""
    values: Raw = body["view"]["state"]["values"]
    return values


def field_of(values: Raw, block_id: str) -> Raw:
    """The content of a window's field; empty if the window has no such field."""
    return (values.get(block_id) or {}).get(block_id) or {}


def typed(values: Raw, block_id: str) -> str:
    return clean(field_of(values, block_id).get("value") or "").strip()


def selected(values: Raw, block_id: str) -> str | None:
    option = field_of(values, block_id).get("selected_option")
    return option["value"] if option else None


@dataclass(frozen=True)
class TypedTexts:
    """`question | response`; either may be empty."""

    question: str
    response: str


@dataclass(frozen=True)
class Word:
    """A subcommand and the text after it, or anything else that is neither a link nor two texts."""

    word: str
    rest: str = ""


def parse_command(text: str) -> Permalink | TypedTexts | Word | None:
    """The request in a command's text, or None if there is no text.

    Two texts are split at the first `|` with spaces around it, or else at the first `|`: a response
    may contain tables.
    """
    text = text.strip()
    if not text:
        return None
    link = parse_permalink(text)
    if link:
        return link
    plain = to_plain(text)
    separator = " | " if " | " in plain else "|"
    question, bar, response = plain.partition(separator)
    if bar:
        return TypedTexts(question.strip(), response.strip())
    word, *rest = plain.split(maxsplit=1)
    return Word(word.lower(), "".join(rest))


def unknown(text: str) -> ValueError:
    """What a feature raises for words after its own that it does not know."""
    return ValueError(f"I do not know {text[:80]!r}")
