"""`/judge watch`: which assistants are scored by themselves in a channel, and how many of their replies."""

from dataclasses import dataclass, replace
from typing import Any

import aiohttp
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from bot.features.watch import text as words
from bot.features.watch.alerts import AlertDelivery
from bot.features.watch.orders import WatchOrders
from bot.features.watch.watcher import Assistants, is_named
from bot.features.watch.window import WatchWindow
from bot.pipeline.text import COMMAND_TOO_SLOW, sentence
from bot.slack import ids
from bot.slack.blocks import ModalState
from bot.slack.client import slack_word
from bot.slack.commands import WatchRequest, parse_watch
from bot.slack.invocation import Invocation, clicked_value, to_invocation
from bot.slack.messenger import Messenger, Post


@dataclass(frozen=True)
class WatchCommand:
    """Shows and changes what a channel watches."""

    orders: WatchOrders
    window: WatchWindow
    assistants: Assistants
    messenger: Messenger

    async def answer(self, invocation: Invocation, text: str) -> None:
        try:
            request = parse_watch(text)
        except ValueError as exc:
            await self._tell(invocation, sentence(words.not_understood(str(exc))))
            return
        if request.action == "window":
            if not await self.window.open(invocation, ModalState(channel_id=invocation.channel_id), request.author):
                await self._tell(invocation, sentence(COMMAND_TOO_SLOW))
            return
        is_change = request.action != "state"
        if refusal := await self.orders.refusal(invocation, invocation.channel_id, is_change=is_change):
            await self._tell(invocation, sentence(refusal))
            return
        await self._tell(invocation, await self._do(invocation, request))

    async def _do(self, invocation: Invocation, request: WatchRequest) -> Post:
        match request.action:
            case "state":
                return await self.orders.state(invocation.team_id, invocation.channel_id)
            case "off":
                return await self._end(invocation, request.author)
            case _:
                return await self._set(invocation, request)

    async def _end(self, invocation: Invocation, author: str) -> Post:
        watches = await self.orders.of(invocation.team_id, invocation.channel_id)
        names = await self.orders.names(watches)
        called = [each for each in watches if is_named(author, each.author_id, names)]
        if not called:
            return sentence(words.not_watched(author, [names[each.author_id] for each in watches]))
        if len(called) > 1:
            return sentence(words.several_assistants(author, [each.author_id for each in called]))
        (watch,) = called
        await self.orders.watcher.end(watch, invocation.user_id)
        return sentence(words.ended(names[watch.author_id]))

    async def _set(self, invocation: Invocation, request: WatchRequest) -> Post:
        try:
            found = await self.assistants.called(invocation.channel_id, request.author)
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            return sentence(words.not_read(slack_word(exc)))
        called = [each for each in found if is_named(request.author, each, found)]
        if not called:
            return sentence(words.no_assistant(request.author, list(found.values())))
        if len(called) > 1:
            return sentence(words.several_assistants(request.author, called))
        (author_id,) = called
        watch = replace(await self.orders.on(invocation, invocation.channel_id, author_id), **request.changes)
        if request.alert:
            hear = {"here": (invocation.channel_id,), "me": (invocation.user_id,), "off": ()}
            watch = replace(watch, alerts_to=hear[request.alert])
        if refusal := await self.orders.save(watch, invocation.user_id):
            return sentence(refusal)
        return words.begun(watch, found[author_id])

    async def _tell(self, invocation: Invocation, post: Post) -> None:
        await self.messenger.tell(invocation.recipient, post)


@dataclass(frozen=True)
class AlertButton:
    """Sends tests."""

    orders: WatchOrders
    alerts: AlertDelivery
    messenger: Messenger

    async def send(self, invocation: Invocation, author_id: str) -> str:
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
    @app.action(ids.ACTION_TEST_ALERT)
    async def send_test(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        invocation = to_invocation(body)
        said = await button.send(invocation, clicked_value(body))
        await button.messenger.tell(invocation.recipient, sentence(said))
