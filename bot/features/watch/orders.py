"""A channel's watches: shown, set and ended with `/judge watch`, by people who may do so."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.blocker import CHANNEL_OFF
from bot.domain.watch import PER_DAY, Shows, Watch
from bot.features.watch import ids
from bot.features.watch import text as words
from bot.features.watch.assistants import assistants, watched_names
from bot.features.watch.everywhere import follow_orders
from bot.features.watch.figures import counted
from bot.features.watch.grammar import WatchWords
from bot.features.watch.notices import send_alert
from bot.features.watch.queries import WatchOrders, is_order
from bot.features.watch.watcher import Watcher
from bot.features.watch.way import PATIENCE_S
from bot.features.watch.window_text import price_a_day
from bot.pipeline.text import several_named
from bot.services import Services
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.members import WATCHES, called
from bot.slack.messenger import Post
from bot.store.watches import EVERYWHERE
from judge.scoring.ways import DECISION


async def refusal_of(
    services: Services, invocation: Invocation, channel_id: str, *, is_change: bool = True
) -> str:
    """Why this person may not see, or may not change, what a channel watches; empty if they may."""
    if refusal := await services.access.refusal(
        invocation, WATCHES, channel_id, is_change=is_change
    ):
        return refusal
    return CHANNEL_OFF if is_change and not services.policy.may_score(channel_id) else ""


def new_watch(
    services: Services, invocation: Invocation, place: str, author_id: str, ask: str | None = None
) -> Watch:
    """A watch with the default settings, which alerts the requester; `place` may be EVERYWHERE."""
    return Watch(
        invocation.team_id,
        place,
        author_id,
        services.clock(),
        # With a decision model, all of them cost little.
        per_day=0 if services.settings.judge_ask == DECISION else PER_DAY,
        alerts_to=(invocation.user_id,),
        ask=ask,
        is_private=place != EVERYWHERE,
    )


async def save_order(watcher: Watcher, watch: Watch, by: str) -> str:
    """Records a watch; returns why it was not recorded, or an empty string.

    Who got its alerts is told of a change, except for the person who made it.
    """
    if watch.shows is Shows.REACTION and "reactions:write" not in watcher.services.identity.scopes:
        return words.NO_REACTIONS
    services = watcher.services
    earlier = await watcher.orders.find(watch.team_id, watch.channel_id, watch.author_id)
    await watcher.save(watch, by)
    if is_order(watch):
        await follow_orders(watcher)
    if earlier and earlier != watch:
        post = words.changed_by(watch, await services.members.name_of(watch.author_id), by)
        await _tell_others(services, earlier, earlier.alerts_to, by, post)
    return ""


def clicked_watch(invocation: Invocation) -> tuple[str, str]:
    """The channel and the assistant of a button; without a channel, the one in which it was
    clicked.
    """
    channel_id, _, author_id = invocation.value.rpartition(":")
    return channel_id or invocation.channel_id, author_id


async def follow(watcher: Watcher, invocation: Invocation, typed: WatchWords) -> Post | str:
    """Does what a `/judge watch` command asks for; returns the answer."""
    services = watcher.services
    channel_id = invocation.channel_id
    is_change = bool(typed.assistant)
    refusal = await refusal_of(services, invocation, channel_id, is_change=is_change)
    if refusal:
        return refusal
    if not is_change:
        watches = await services.store.watches.of(invocation.team_id, channel_id)
        return words.state(await counted(services, watches))
    place = EVERYWHERE if typed.is_everywhere else channel_id
    try:
        if typed.changes is None:
            return await _ask_to_end(services, invocation, place, typed.assistant)
        return await _set(watcher, invocation, place, typed.assistant, typed.changes)
    except ValueError as exc:
        return str(exc)


def _author_of(
    typed: str, names: Mapping[str, str], unknown: Callable[[str, Sequence[str]], str]
) -> str:
    """The id of the assistant that was typed.

    Raises:
        ValueError: None of them has that name, or several have; says so to the person.
    """
    meant = called(typed, names)
    if not meant:
        raise ValueError(unknown(typed, list(names.values())))
    if len(meant) > 1:
        raise ValueError(several_named(typed, meant))
    return meant[0]


async def _assistant(services: Services, channel_id: str, typed: str) -> tuple[str, float]:
    """The id of the assistant that was typed, and how many replies it writes a day.

    Raises:
        ValueError: There is no such one, or the channel cannot be read; says so to the person.
    """
    try:
        names, a_day = await assistants(services, channel_id, typed)
    except SLACK_ERRORS as exc:
        raise ValueError(words.not_read(slack_word(exc))) from exc
    author_id = _author_of(typed, names, words.no_assistant)
    return author_id, a_day.get(author_id, 0)


async def _set(
    watcher: Watcher, invocation: Invocation, place: str, typed: str, changes: Mapping[str, Any]
) -> Post | str:
    services = watcher.services
    author_id, a_day = await _assistant(services, invocation.channel_id, typed)
    earlier = await watcher.orders.find(invocation.team_id, place, author_id)
    way = await watcher.ways.find(invocation.team_id, place, earlier, PATIENCE_S)
    watch = earlier or new_watch(services, invocation, place, author_id, way.ask)
    watch = changed(watch, invocation, changes, services.clock())
    refusal = await save_order(watcher, watch, invocation.user_id)
    if refusal:
        return refusal
    price = "" if is_order(watch) else price_a_day(watch, a_day, way)
    return await begun(watcher, watch, invocation.channel_id, price)


async def begun(watcher: Watcher, watch: Watch, channel_id: str, more: str) -> Post:
    """The answer in a channel that a watch of it, or an order, is set."""
    name = await watcher.services.members.name_of(watch.author_id)
    saved = await watcher.orders.find(watch.team_id, watch.channel_id, watch.author_id)
    return words.begun(saved or watch, name, channel_id, more)


async def _ask_to_end(
    services: Services, invocation: Invocation, place: str, typed: str
) -> Post | str:
    names = await watched_names(services, invocation.team_id, place)
    unknown = partial(words.not_watched, is_everywhere=place == EVERYWHERE)
    author_id = _author_of(typed, names, unknown)
    orders = WatchOrders(services.store.database)
    watch = await orders.find(invocation.team_id, place, author_id)
    if watch is None:
        return words.NOT_WATCHED
    return words.ask_to_end(watch, names[author_id])


def changed(
    watch: Watch, invocation: Invocation, changes: Mapping[str, Any], now: datetime
) -> Watch:
    """The watch with changes as `parse_watch` returns them; an order includes the channel again."""
    here = invocation.channel_id
    given = {name: value for name, value in changes.items() if name not in {"alert", "low"}}
    # Set in a channel, it does not follow from an order any more.
    given["is_derived"] = False
    given["except_in"] = tuple(each for each in watch.except_in if each != here)
    hear = {"here": (here,), "me": (invocation.user_id,), "off": ()}
    if "alert" in changes:
        given["alerts_to"] = hear[changes["alert"]]
    watch = replace(watch, **given)
    if changes.get("low"):
        alerts_to = watch.alerts_to or (invocation.user_id,)
        return replace(watch, alerts_to=alerts_to, low_since=watch.low_since or now)
    if "low" in changes or not watch.alerts_to:
        return replace(watch, low_since=None)
    return watch


async def end_watch(
    watcher: Watcher, invocation: Invocation, channel_id: str, author_id: str, place: str
) -> str:
    """Ends the watch of `place`, a channel or EVERYWHERE, if this person may in the channel; returns
    the sentence that tells them the outcome.

    Those who get its alerts are told, and so is the person who set it, except for the person who
    ended it.
    """
    services = watcher.services
    by = invocation.user_id
    refusal = await refusal_of(services, invocation, channel_id)
    if refusal:
        return refusal
    watch = await watcher.orders.find(invocation.team_id, place, author_id)
    if watch is None:
        return words.NOT_WATCHED
    setter = await watcher.orders.set_by(watch) or by
    if not await watcher.end(watch, by):
        return words.NOT_WATCHED
    if is_order(watch):
        await follow_orders(watcher)
    name = await services.members.name_of(author_id)
    hearing = dict.fromkeys((*watch.alerts_to, setter))
    await _tell_others(services, watch, hearing, by, words.ended_by(watch, name, by))
    if is_order(watch):
        return words.ended(name, "in all public channels")
    order = await watcher.orders.find(watch.team_id, EVERYWHERE, author_id)
    return words.ended(name, goes_on=order is not None)


async def _tell_others(
    services: Services, watch: Watch, hearing: Iterable[str], by: str, post: Post
) -> None:
    """Tells those who hear of a watch what somebody has done, except for that person."""
    others = tuple(to for to in hearing if to != by)
    await send_alert(services, replace(watch, alerts_to=others), post)


async def _test(watcher: Watcher, invocation: Invocation, _: Raw) -> None:
    said = await _send_test(watcher, invocation)
    await watcher.services.messenger.tell(invocation.recipient, said)


async def _send_test(watcher: Watcher, invocation: Invocation) -> str:
    services = watcher.services
    channel_id, author_id = clicked_watch(invocation)
    if refusal := await refusal_of(services, invocation, channel_id):
        return refusal
    watch = await watcher.orders.find(invocation.team_id, channel_id, author_id)
    if watch is None:
        return words.NOT_WATCHED
    post = words.test_post(watch, await services.members.name_of(author_id))
    return words.tested(watch, await send_alert(services, watch, post))


async def _end(watcher: Watcher, invocation: Invocation, _: Raw) -> None:
    place, _colon, author_id = invocation.value.rpartition(":")
    channel_id = place or invocation.channel_id
    said = await end_watch(watcher, invocation, channel_id, author_id, place)
    await watcher.services.messenger.replace(invocation.recipient, said)


def register(app: AsyncApp, watcher: Watcher) -> None:
    on_click(app, ids.ACTION_WATCH_OFF)(partial(_end, watcher))
    on_click(app, ids.ACTION_TEST_ALERT)(partial(_test, watcher))
