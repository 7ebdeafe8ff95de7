"""Short-lived permissions that travel in payloads: trigger ids, response_urls, socket tickets."""

import secrets
from dataclasses import dataclass

from pocket_slack.clock import Clock
from pocket_slack.errors import SlackError
from pocket_slack.ids import Ids
from pocket_slack.model import Message

RESPONSE_URL_LIVES_S = 30 * 60
RESPONSE_URL_USES = 5
"""https://docs.slack.dev/interactivity/handling-user-interaction#message_responses"""


@dataclass
class Trigger:
    """Permission for one `views.open` or `views.push` on the screen of `user_id`."""

    user_id: str
    expires_at: float
    is_used: bool = False


@dataclass
class ResponseUrl:
    """Permission for up to five answers to one interaction, in its channel.

    Attributes:
        source: The message whose block was clicked; `replace_original` and `delete_original` apply
            to it.
    """

    user_id: str
    channel_id: str
    expires_at: float
    source: Message | None = None
    uses_left: int = RESPONSE_URL_USES


class Grants:
    """Issues permissions and redeems them."""

    def __init__(self, clock: Clock, ids: Ids, trigger_lives_s: float) -> None:
        self.base_url = "http://127.0.0.1"
        self._clock = clock
        self._ids = ids
        self._trigger_lives_s = trigger_lives_s
        self._triggers: dict[str, Trigger] = {}
        self._response_urls: dict[str, ResponseUrl] = {}
        self._tickets: set[str] = set()

    def new_trigger(self, user_id: str) -> str:
        """A trigger id for one modal; by default it expires after three seconds.

        Source: https://docs.slack.dev/interactivity/handling-user-interaction#modal_responses
        """
        trigger_id = self._ids.dotted()
        self._triggers[trigger_id] = Trigger(user_id, self._clock.now() + self._trigger_lives_s)
        return trigger_id

    def use_trigger(self, trigger_id: str) -> str:
        """The user on whose screen the modal may open. This uses up the trigger.

        Raises:
            SlackError: `invalid_arguments`, `exchanged_trigger_id` or `expired_trigger_id`, as
                documented: https://docs.slack.dev/reference/methods/views.open
        """
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_arguments", ["invalid `trigger_id`"])
        if trigger.is_used:
            raise SlackError("exchanged_trigger_id")
        if self._clock.now() >= trigger.expires_at:
            raise SlackError("expired_trigger_id")
        trigger.is_used = True
        return trigger.user_id

    def new_response_url(
        self, user_id: str, channel_id: str, kind: str, source: Message | None = None
    ) -> str:
        """A `response_url`; `kind` is Slack's path for it: `commands`, `actions` or `app`."""
        key = f"{kind}/{secrets.token_urlsafe(18)}"
        expires_at = self._clock.now() + RESPONSE_URL_LIVES_S
        self._response_urls[key] = ResponseUrl(user_id, channel_id, expires_at, source)
        return f"{self.base_url}/{key}"

    def has_response_url(self, key: str) -> bool:
        """Whether it was made here."""
        return key in self._response_urls

    def find_response_url(self, key: str) -> ResponseUrl:
        """The grant behind a `response_url`, if it may still be used; the caller counts the use.

        Raises:
            SlackError: `used_url` or `expired_url`, which Slack answers with HTTP 404; `no_service`
                if unknown.
        """
        grant = self._response_urls.get(key)
        if grant is None:
            raise SlackError("no_service")
        if grant.uses_left == 0:
            raise SlackError("used_url")
        if self._clock.now() >= grant.expires_at:
            raise SlackError("expired_url")
        return grant

    def new_ticket(self) -> str:
        """A ticket for one Socket Mode connection."""
        ticket = secrets.token_urlsafe(18)
        self._tickets.add(ticket)
        return ticket

    def use_ticket(self, ticket: str) -> bool:
        """Whether the ticket was valid. This uses it up."""
        was_good = ticket in self._tickets
        self._tickets.discard(ticket)
        return was_good
