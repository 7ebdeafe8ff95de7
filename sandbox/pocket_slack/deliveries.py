"""Payloads that are sent to the app: choice of a connection, acks, retries of events.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pocket_slack.clock import Clock, Timer
from pocket_slack.journal import Journal
from pocket_slack.model import Json

EVENT_RETRIES_AFTER_S = (0.0, 60.0, 300.0)
"""At once, then after one minute, then after five: https://docs.slack.dev/apis/events-api#retries"""

REMEMBERED = 10_000
"""Only the newest envelopes, up to this many, can be acknowledged or sent again."""

ACCEPTS_RESPONSE = {"slash_commands": True, "interactive": True, "events_api": False}


class Connection(Protocol):
    """One open Socket Mode connection, or the app's request URL."""

    id: str

    def send(self, message: Json) -> None:
        """Queues a message; never waits."""


@dataclass
class Delivery:
    """One payload for the app, and its outcome.

    Attributes:
        envelope_id: The id of the newest envelope; each retry of an event has its own
            (bolt-js#2487).
        kind: `slash_commands`, `interactive` or `events_api`.
        acked_ms: Milliseconds from sending to the ack in time; None until then.
        response: The payload of the app's ack.
        failure: Why it failed for the user, in Slack's words; None if it has not failed.
        attempt: How many times an event was sent again.
        retry_reason: Why, in Slack's words.
    """

    envelope_id: str
    kind: str
    payload: Json
    on_ack: Callable[[Json], None] | None = None
    on_failure: Callable[[str], None] | None = None
    sent_at: float = 0.0
    acked_ms: float | None = None
    response: Json | None = None
    failure: str | None = None
    attempt: int = 0
    retry_reason: str = ""
    timer: Timer | None = None

    @property
    def is_acked(self) -> bool:
        """Whether the app acknowledged in time."""
        return self.acked_ms is not None

    @property
    def is_over(self) -> bool:
        """Whether it is acknowledged or has failed for good."""
        return self.is_acked or self.failure is not None

    def envelope(self) -> Json:
        """The envelope's JSON, as sent."""
        body: Json = {
            "envelope_id": self.envelope_id,
            "payload": self.payload,
            "type": self.kind,
            "accepts_response_payload": ACCEPTS_RESPONSE[self.kind],
        }
        if self.kind == "events_api":
            body |= {"retry_attempt": self.attempt, "retry_reason": self.retry_reason}
        return body


class Deliveries:
    """Sends payloads to the connected app and keeps track of their outcomes."""

    def __init__(self, clock: Clock, journal: Journal, answer_within_s: float) -> None:
        self.connections: list[Connection] = []
        self.is_open = False
        self._clock = clock
        self._journal = journal
        self._answer_within_s = answer_within_s
        self._by_id: dict[str, Delivery] = {}  # oldest first
        self._turn = 0

    def send(
        self,
        kind: str,
        payload: Json,
        on_ack: Callable[[Json], None] | None = None,
        on_failure: Callable[[str], None] | None = None,
    ) -> Delivery:
        """Sends a payload to one of the connections.

        Args:
            kind: `slash_commands`, `interactive` or `events_api`.
            payload: As the app will read it.
            on_ack: Called with the ack's payload, `{}` if it has none.
            on_failure: Called with Slack's word for the failure.
        """
        delivery = Delivery(str(uuid.uuid4()), kind, payload, on_ack, on_failure)
        self._attempt(delivery)
        return delivery

    def ack(self, envelope_id: str, response: Json | None) -> None:
        """Records the app's ack.

        Late, repeated and unknown acks change nothing and are recorded as such.
        """
        delivery = self._by_id.get(envelope_id)
        note = "unknown" if delivery is None else "repeated" if delivery.is_acked else ""
        if delivery is None or note or delivery.failure is not None:
            self._journal.record(
                "ack", envelope_id=envelope_id, ignored=note or "late", payload=response
            )
            return
        delivery.acked_ms = round((self._clock.now() - delivery.sent_at) * 1000, 1)
        delivery.response = response
        if delivery.timer:
            delivery.timer.cancel()
        self._journal.record("ack", envelope_id=envelope_id, ms=delivery.acked_ms, payload=response)
        if delivery.on_ack:
            delivery.on_ack(response or {})

    def refuse(self, envelope_id: str, failure: str, reason: str, is_final: bool = False) -> None:
        """Records that the app answered with an error, or could not be reached; an event is sent
        again.

        Args:
            envelope_id: The envelope; an older one than the delivery's newest changes nothing.
            failure: Slack's word for people, if this is the end of it.
            reason: Slack's word for the app, if it is not.
            is_final: Whether the app wants no more retries.
        """
        delivery = self._by_id.get(envelope_id)
        if delivery is None or delivery.is_over or delivery.envelope_id != envelope_id:
            return
        self._journal.record("ack", envelope_id=envelope_id, ignored=failure, payload=None)
        if delivery.timer:
            delivery.timer.cancel()
        if is_final:
            self._fail(delivery, failure)
        else:
            self._overdue(delivery, failure, reason)

    def redeliver(self, delivery: Delivery) -> None:
        """Sends the same envelope again, as Slack may; its ack counts once.

        A failed delivery gets a new time limit.
        """
        if delivery.failure is not None:
            delivery.failure = None
            delivery.sent_at = self._clock.now()
            delivery.timer = self._clock.call_later(
                self._answer_within_s, lambda: self._overdue(delivery)
            )
        self._put(delivery, redelivered=True)

    def find(self, envelope_id: str) -> Delivery | None:
        """The delivery of an envelope, or None if it is unknown."""
        return self._by_id.get(envelope_id)

    def latest(self) -> list[Delivery]:
        """The deliveries that can be acknowledged or sent again, oldest first."""
        return list(self._by_id.values())

    def close(self) -> None:
        """Stops waiting for acks."""
        self.is_open = False
        for delivery in self._by_id.values():
            if delivery.timer:
                delivery.timer.cancel()

    def _attempt(self, delivery: Delivery) -> None:
        delivery.sent_at = self._clock.now()
        self._remember(delivery)
        is_sent = self._put(delivery)
        if not is_sent and delivery.kind != "events_api":
            self._fail(delivery, "dispatch_failed")
            return
        delivery.timer = self._clock.call_later(
            self._answer_within_s, lambda: self._overdue(delivery)
        )

    def _put(self, delivery: Delivery, redelivered: bool = False) -> bool:
        connection = self._next_connection()
        self._journal.record(
            "envelope",
            **_without_token(delivery.envelope()),
            connection=connection.id if connection else None,
            redelivered=redelivered,
        )
        if connection:
            connection.send(delivery.envelope())
        return connection is not None

    def _remember(self, delivery: Delivery) -> None:
        if delivery.attempt:
            delivery.envelope_id = str(uuid.uuid4())
        self._by_id[delivery.envelope_id] = delivery
        if len(self._by_id) > REMEMBERED:
            del self._by_id[next(iter(self._by_id))]

    def _next_connection(self) -> Connection | None:
        if not self.connections:
            return None
        self._turn += 1
        return self.connections[self._turn % len(self.connections)]

    def _overdue(
        self, delivery: Delivery, failure: str = "operation_timeout", reason: str = "timeout"
    ) -> None:
        # Only events are sent again; a command or a click that was not acknowledged is lost for
        # good.
        if delivery.kind != "events_api" or delivery.attempt == len(EVENT_RETRIES_AFTER_S):
            self._fail(delivery, failure)
            return
        wait_s = EVENT_RETRIES_AFTER_S[delivery.attempt]
        delivery.attempt += 1
        delivery.retry_reason = reason
        delivery.timer = self._clock.call_later(wait_s, lambda: self._attempt(delivery))

    def _fail(self, delivery: Delivery, failure: str) -> None:
        delivery.failure = failure
        self._journal.record("failure", envelope_id=delivery.envelope_id, error=failure)
        if delivery.on_failure:
            delivery.on_failure(failure)


def _without_token(envelope: Json) -> Json:
    """The envelope as it is recorded: without the token that comes with a workflow step."""
    event = envelope["payload"].get("event", {})
    if "bot_access_token" not in event:
        return envelope
    return envelope | {"payload": envelope["payload"] | {"event": event | {"bot_access_token": ""}}}
