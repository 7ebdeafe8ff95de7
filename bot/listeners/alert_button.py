"""The button "Send a test": an alert that says it is a test, to exactly those who would hear."""

from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.extract.clicks import clicked_value
from bot.extract.invocation import Invocation, to_invocation
from bot.listeners.watch_orders import WatchOrders
from bot.slack import ids
from bot.slack.teller import Teller
from bot.views import alerts as words
from bot.views.messages import sentence
from bot.watching.telling import AlertTeller


@dataclass(frozen=True)
class AlertButton:
    """Sends tests.

    Attributes:
        orders: What is watched.
        alerts: What tells of it.
        teller: Who is told how it went.
    """

    orders: WatchOrders
    alerts: AlertTeller
    teller: Teller

    async def send(self, invocation: Invocation, author_id: str) -> str:
        """Sends a test, and gives whom it reached, or why it did not."""
        channel_id = invocation.channel_id
        if refusal := await self.orders.refusal(invocation, channel_id, is_change=True):
            return refusal
        watches = await self.orders.of(invocation.team_id, channel_id)
        watch = next((each for each in watches if each.author_id == author_id), None)
        if watch is None:
            return words.NOT_WATCHED
        if watch.alerts_to and not await self.orders.store.watches.begin_test(watch, self.orders.clock()):
            return words.TESTED_JUST_NOW
        name = (await self.orders.members.of(author_id)).name
        return words.tested(watch, await self.alerts.tell(watch, words.test_alert(watch, name)))


def register(app: AsyncApp, button: AlertButton) -> None:
    """Connects the button."""

    @app.action(ids.ACTION_TEST_ALERT)
    async def send_test(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        invocation = to_invocation(body)
        said = await button.send(invocation, clicked_value(body))
        await button.teller.tell(invocation.recipient, sentence(said))
