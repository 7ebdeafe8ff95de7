"""`/judge watch`: which assistants are scored by themselves in a channel, and how many of their replies."""

from dataclasses import dataclass, replace

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.extract.commands import WatchRequest, parse_watch
from bot.extract.invocation import Invocation
from bot.listeners.watch_orders import WatchOrders
from bot.listeners.watch_window import WatchWindow
from bot.slack.errors import slack_word
from bot.slack.modal_state import ModalState
from bot.slack.post import Post
from bot.slack.teller import Teller
from bot.views import watch as words
from bot.views.messages import sentence
from bot.views.refusals import COMMAND_TOO_SLOW
from bot.watching.assistants import Assistants, is_named


@dataclass(frozen=True)
class WatchCommand:
    """Shows and changes what a channel watches.

    Attributes:
        orders: What is watched.
        window: Asks for what was not typed.
        assistants: Who may be watched.
        teller: What answers.
    """

    orders: WatchOrders
    window: WatchWindow
    assistants: Assistants
    teller: Teller

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Does what was asked, or says why not, to the person alone."""
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
        await self.teller.tell(invocation.recipient, post)
