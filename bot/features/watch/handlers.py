"""`/judge watch`: which assistants are scored by themselves in a channel, and how many of their replies."""

from dataclasses import replace
from typing import Any

import aiohttp
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from bot.feature import Services
from bot.features.watch import text as words
from bot.features.watch.alerts import send_alert
from bot.features.watch.figures import watches_of_channel
from bot.features.watch.orders import find_watch, name_of, order_on, refusal_of, save_order, tokens_of
from bot.features.watch.watcher import Watcher, assistants, is_named
from bot.features.watch.window import open_window
from bot.pipeline.text import COMMAND_TOO_SLOW, sentence
from bot.slack import ids
from bot.slack.blocks import ModalState
from bot.slack.client import slack_word
from bot.slack.commands import WatchRequest, parse_watch
from bot.slack.invocation import Invocation, clicked_value, to_invocation
from bot.slack.messenger import Post


async def answer_command(watcher: Watcher, invocation: Invocation, text: str) -> None:
    """Shows or changes what the channel watches, or opens the window for it."""
    messenger = watcher.services.messenger
    try:
        request = parse_watch(text)
    except ValueError as exc:
        await messenger.tell(invocation.recipient, sentence(words.not_understood(str(exc))))
        return
    if request.action == "window":
        state = ModalState(channel_id=invocation.channel_id)
        if not await open_window(watcher, invocation, state, request.author):
            await messenger.tell(invocation.recipient, sentence(COMMAND_TOO_SLOW))
        return
    is_change = request.action != "state"
    refusal = await refusal_of(watcher.services, invocation, invocation.channel_id, is_change=is_change)
    post = sentence(refusal) if refusal else await _do(watcher, invocation, request)
    await messenger.tell(invocation.recipient, post)


async def _do(watcher: Watcher, invocation: Invocation, request: WatchRequest) -> Post:
    services, place = watcher.services, (invocation.team_id, invocation.channel_id)
    if request.action == "state":
        return words.state(await watches_of_channel(services, *place), await tokens_of(services, *place))
    if request.action == "off":
        return await _end(watcher, invocation, request.author)
    try:
        found = await assistants(services, invocation.channel_id, request.author)
    except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
        return sentence(words.not_read(slack_word(exc)))
    called = [each for each in found if is_named(request.author, each, found)]
    if not called:
        return sentence(words.no_assistant(request.author, list(found.values())))
    if len(called) > 1:
        return sentence(words.several_assistants(request.author, called))
    (author_id,) = called
    watch = replace(await order_on(services, invocation, invocation.channel_id, author_id), **request.changes)
    if request.alert:
        hear = {"here": (invocation.channel_id,), "me": (invocation.user_id,), "off": ()}
        watch = replace(watch, alerts_to=hear[request.alert])
    if refusal := await save_order(watcher, watch, invocation.user_id):
        return sentence(refusal)
    return words.begun(watch, found[author_id])


async def _end(watcher: Watcher, invocation: Invocation, author: str) -> Post:
    watches = await watcher.services.store.watches.of(invocation.team_id, invocation.channel_id)
    names = {watch.author_id: await name_of(watcher.services, watch.author_id) for watch in watches}
    called = [each for each in watches if is_named(author, each.author_id, names)]
    if not called:
        return sentence(words.not_watched(author, list(names.values())))
    if len(called) > 1:
        return sentence(words.several_assistants(author, [each.author_id for each in called]))
    await watcher.end(called[0], invocation.user_id)
    return sentence(words.ended(names[called[0].author_id]))


async def _test(services: Services, invocation: Invocation, author_id: str) -> str:
    """Sends a test alert; what to say of it."""
    channel_id = invocation.channel_id
    if refusal := await refusal_of(services, invocation, channel_id, is_change=True):
        return refusal
    watch = await find_watch(services, invocation.team_id, channel_id, author_id)
    if watch is None:
        return words.NOT_WATCHED
    if watch.alerts_to and not await services.store.watches.begin_test(watch, services.clock()):
        return words.TESTED_JUST_NOW
    post = words.test_alert(watch, await name_of(services, author_id))
    return words.tested(watch, await send_alert(services, watch, post))


def register(app: AsyncApp, services: Services) -> None:
    @app.action(ids.ACTION_TEST_ALERT)
    async def send_test(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        invocation = to_invocation(body)
        said = await _test(services, invocation, clicked_value(body))
        await services.messenger.tell(invocation.recipient, sentence(said))
