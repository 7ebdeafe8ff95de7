"""What a click brings along: the value of a button, the choice of a menu, the message of a shortcut."""

from dataclasses import dataclass, replace
from typing import Any

from bot.domain.case import to_case_id
from bot.domain.obstacle import Obstacle, ObstacleKind
from bot.extract.invocation import Invocation, to_invocation
from bot.extract.messages import Message, to_message
from bot.slack import ids
from bot.slack.modal_state import ModalState

Raw = dict[str, Any]


@dataclass(frozen=True)
class Feedback:
    """The feedback buttons that were pressed: of which case, and whether it was "agree"."""

    case_id: int | None
    agrees: bool


@dataclass(frozen=True)
class HomeVisit:
    """A person in the Home tab; `channel_id` is their direct messages with the app."""

    invocation: Invocation
    channel_id: str


def clicked_message(body: Raw, own_ids: frozenset[str]) -> Message:
    """The message that a shortcut was used on; one of our own has an obstacle, whatever it says."""
    message = to_message(body["message"])
    is_own = message.author_id in own_ids or body["message"].get("bot_id") in own_ids
    return replace(message, obstacle=Obstacle(ObstacleKind.OWN_MESSAGE)) if is_own else message


@dataclass(frozen=True)
class WindowClick:
    """A button that was pressed in a window: which window, and what it remembers."""

    invocation: Invocation
    view_id: str
    state: ModalState


def clicked_window(body: Raw) -> WindowClick:
    """The window in which a button was pressed."""
    view = body["view"]
    state = ModalState.from_private_metadata(view.get("private_metadata") or "")
    return WindowClick(to_invocation(body), str(view["id"]), state)


def clicked_value(body: Raw) -> str:
    """The value of the button that was pressed; empty where it has none."""
    return str(body["actions"][0].get("value") or "")


def clicked_watch(body: Raw) -> tuple[str, str]:
    """The channel and the assistant of the watch whose button was pressed in the Home tab."""
    channel_id, _, author_id = clicked_value(body).partition(":")
    return channel_id, author_id


def clicked_choice(body: Raw) -> str:
    """The value of what was chosen from a menu."""
    return str(body["actions"][0]["selected_option"]["value"])


def clicked_case_id(body: Raw) -> int | None:
    """The number of the case whose button was pressed; None where the button has none."""
    return to_case_id(clicked_value(body))


def clicked_feedback(body: Raw) -> Feedback:
    """What was pressed of the feedback buttons."""
    choice, _, case_id = clicked_value(body).partition(":")
    return Feedback(to_case_id(case_id), choice == ids.AGREE)


def opened_home(body: Raw) -> HomeVisit | None:
    """The visit behind the event that somebody opened the app; None where they opened another tab of it."""
    event = body["event"]
    return HomeVisit(to_invocation(body), str(event["channel"])) if event.get("tab") == "home" else None


def clicked_home(body: Raw) -> HomeVisit:
    """The visit behind a click in the Home tab."""
    return HomeVisit(to_invocation(body), str(body["view"]["private_metadata"]))
