"""A channel's watches: shown, set and ended with `/judge watch`, by people who may do so."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf
from typing import Any, NamedTuple

from slack_bolt.async_app import AsyncApp

from bot.domain.blocker import CHANNEL_OFF
from bot.domain.watch import PER_DAY, Shows, Watch
from bot.feature import Services
from bot.features.watch import ids
from bot.features.watch import text as words
from bot.features.watch.everywhere import follow_orders
from bot.features.watch.figures import counted
from bot.features.watch.notices import send_alert
from bot.features.watch.queries import WatchOrders
from bot.features.watch.standing_text import test_alert
from bot.features.watch.watcher import Watcher
from bot.features.watch.way import PATIENCE_S, find_way
from bot.features.watch.window_text import price_a_day
from bot.pipeline.text import several_named
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.invocation import Invocation, Raw, on_click, unknown
from bot.slack.members import WATCHES
from bot.slack.messenger import Post
from bot.store.audit import Action
from bot.store.watches import EVERYWHERE
from judge.scoring.ways import DECISION

_WATCH = re.compile(
    r"off +@(?P<ended>[^@]+?)(?P<ended_everywhere> +everywhere)?"
    r"|@(?P<name>[^@]+?)(?P<everywhere> +everywhere)?(?:(?P<off> +off)"
    r"|( +(?P<share>all|1 +in +(?P<one_in>[1-9][0-9]{0,3})))?"
    r"( +(?P<per_day>[1-9][0-9]{0,4}) +a +day)?"
    r"( +(?P<shows>nothing|reaction|verdict))?"
    r"( +alert +(?P<alert>here|me|off))?(?P<low> +alert +low(?P<not_low> +off)?)?)",
    re.IGNORECASE,
)
_LONGEST = 300  # characters; a name has 80 at most
_VALUES: Mapping[str, Callable[[re.Match[str]], Any]] = {
    "share": lambda found: 1 / int(found["one_in"] or 1),
    "per_day": lambda found: int(found["per_day"]),
    "shows": lambda found: Shows(found["shows"].lower()),
    "alert": lambda found: found["alert"].lower(),
    "low": lambda found: not found["not_low"],
}


async def refusal_of(
    services: Services, invocation: Invocation, channel_id: str, *, is_change: bool
) -> str:
    """Why this person may not see, or may not change, what a channel watches; empty if they may."""
    if refusal := await services.access.refusal(
        invocation, WATCHES, channel_id, is_change=is_change
    ):
        return refusal
    return CHANNEL_OFF if is_change and not services.policy.may_score(channel_id) else ""


async def order_on(
    services: Services, invocation: Invocation, channel_id: str, author_id: str
) -> Watch:
    """The watch on an assistant as it is set, or a new one with the default settings, which alerts
    the requester.

    `channel_id` may be EVERYWHERE.
    """
    orders = WatchOrders(services.store.database)
    earlier = await orders.find(invocation.team_id, channel_id, author_id)
    if earlier:
        return earlier
    way = await find_way(services, invocation.team_id, channel_id)
    return Watch(
        invocation.team_id,
        channel_id,
        author_id,
        services.clock(),
        # With a decision model, all of them cost little.
        per_day=0 if services.settings.judge_ask == DECISION else PER_DAY,
        alerts_to=(invocation.user_id,),
        ask=way.ask,
        is_private=channel_id != EVERYWHERE,
    )


async def save_order(watcher: Watcher, watch: Watch, by: str) -> str:
    """Records a watch; returns why it was not recorded, or an empty string.

    Whoever gets no more alerts, or fewer, is told, except for the person who changed it.
    """
    if watch.shows is Shows.REACTION and "reactions:write" not in watcher.services.identity.scopes:
        return words.NO_REACTIONS
    services = watcher.services
    earlier = await watcher.orders.find(watch.team_id, watch.channel_id, watch.author_id)
    # Set in a channel, it does not follow from an order any more.
    await watcher.save(replace(watch, is_derived=False), by)
    if watch.is_everywhere:
        await follow_orders(watcher)
    if earlier:
        # All get fewer alerts, or those who are left out get none.
        stay = {by} if _is_less(watch, earlier) else {by, *watch.alerts_to}
        lose = tuple(to for to in earlier.alerts_to if to not in stay)
        name = await services.members.name_of(watch.author_id)
        post = words.changed_by(watch, name, by)
        await send_alert(services, replace(earlier, alerts_to=lose), post)
    return ""


def _is_less(watch: Watch, earlier: Watch) -> bool:
    """Whether there will be fewer alerts: it scores less, its floor is lower, or it tells of no
    single replies any more.
    """
    return (
        watch.share < earlier.share
        or (watch.per_day or inf) < (earlier.per_day or inf)
        or (watch.floor or -inf) < (earlier.floor or -inf)
        or (watch.low_since is None and earlier.low_since is not None)
    )


async def assistants(
    services: Services, channel_id: str, name: str = ""
) -> tuple[Mapping[str, str], Mapping[str, float]]:
    """The names, by id, of the bots that wrote in a channel lately, most replies first, and how
    many a day by whom.

    If there are none, or none of them has this `name` or id, the bots among the channel's members
    are added.

    Raises:
        SlackApiError, ClientError, TimeoutError: Slack does not let us read the channel, or is not
        available.
    """
    answer = await services.client.conversations_history(channel=channel_id, limit=200)
    latest: Sequence[Raw] = answer.get("messages") or []
    a_day = replies_a_day(latest, services.clock())
    wrote = dict.fromkeys(author_id for raw in latest for author_id in _authors(raw))
    found = await _bots(services, sorted(wrote, key=lambda each: -a_day.get(each, 0)))
    if called(name, found) if name else found:
        return found, a_day
    there = await services.client.conversations_members(channel=channel_id, limit=100)
    return found | await _bots(services, there.get("members") or []), a_day


def _authors(raw: Raw) -> Sequence[str]:
    """Those who wrote a message or in its thread, without a person who wrote the message itself."""
    return [
        *([raw.get("user") or raw["bot_id"]] if raw.get("bot_id") else []),
        *(raw.get("reply_users") or []),
    ]


def replies_a_day(latest: Sequence[Raw], now: datetime) -> Mapping[str, float]:
    """About how many replies each author wrote a day, in the last week or since the oldest of these
    messages.

    Of a thread Slack says how many messages it has and who wrote some: those of several people are
    taken to alternate, those of one to be one reply.
    """
    since = (now - timedelta(days=7)).timestamp()
    number = Counter[str]()
    for raw in latest:
        if float(raw.get("latest_reply") or raw["ts"]) < since:
            continue
        people = raw.get("reply_users_count") or 1
        of_each = raw.get("reply_count", 1) // people if people > 1 else 1
        number.update(dict.fromkeys(_authors(raw), max(of_each, 1)))
    oldest = min((float(raw["ts"]) for raw in latest), default=since)
    days = min(max((now.timestamp() - oldest) / 86_400, 1), 7)
    return {author_id: found / days for author_id, found in number.items()}


async def _bots(services: Services, ids: Iterable[str]) -> dict[str, str]:
    members = services.members
    others = [author_id for author_id in ids if author_id not in services.identity.own_ids]
    # Of up to 100; the command has already been acknowledged.
    found = await members.of_all(others, at_least_s=3)
    return {
        author_id: member.name
        for author_id, member in found.items()
        if member.is_bot and not await members.is_known_foreign(author_id)
    }


async def watched_names(services: Services, team_id: str, channel_id: str) -> Mapping[str, str]:
    watches = await services.store.watches.of(team_id, channel_id)
    return {watch.author_id: await services.members.name_of(watch.author_id) for watch in watches}


def called(typed: str, names: Mapping[str, str]) -> list[str]:
    return [
        author_id
        for author_id, name in names.items()
        if typed.lower() in {author_id.lower(), name.lower()}
    ]


class WatchWords(NamedTuple):
    """What stands after `/judge watch`: an assistant, and what to change of its watch, here or in
    all public channels.

    The changes have the names of `Watch`, but `alert` says who is told when the assistant gets
    worse ("here", "me" or "off"), and `low` whether also of single low replies. None ends the
    watch. Without an assistant, nothing is changed.
    """

    assistant: str
    changes: Mapping[str, Any] | None
    is_everywhere: bool = False


def parse_watch(text: str) -> WatchWords:
    """The words after `/judge watch`; the assistant's name may contain spaces."""
    if not text:
        return WatchWords("", None)
    found = _WATCH.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise ValueError(f"{unknown(text)}: I watch one assistant at a time, by `@` and its name")
    is_everywhere = bool(found["everywhere"] or found["ended_everywhere"])
    if found["off"] or found["ended"]:
        name = found["ended"] or found["name"]
        return WatchWords(name.strip(), None, is_everywhere)
    changes = {name: value(found) for name, value in _VALUES.items() if found[name]}
    return WatchWords(found["name"].strip(), changes, is_everywhere)


def clicked_watch(invocation: Invocation) -> tuple[str, str]:
    """The channel and the assistant of a button; without a channel, the one in which it was
    clicked.
    """
    channel_id, _, author_id = invocation.value.rpartition(":")
    return channel_id or invocation.channel_id, author_id


async def follow(watcher: Watcher, invocation: Invocation, typed: WatchWords) -> Post | str:
    """Does what a `/judge watch` command asks for; returns the answer."""
    services = watcher.services
    team_id = invocation.team_id
    channel_id = invocation.channel_id
    is_change = bool(typed.assistant)
    refusal = await refusal_of(services, invocation, channel_id, is_change=is_change)
    if refusal:
        return refusal
    if not is_change:
        return words.state(
            await counted(services, await services.store.watches.of(team_id, channel_id))
        )
    place = EVERYWHERE if typed.is_everywhere else channel_id
    names: Mapping[str, str] = await watched_names(services, team_id, place)
    a_day: Mapping[str, float] = {}
    if typed.changes is not None:
        try:
            names, a_day = await assistants(services, channel_id, typed.assistant)
        except SLACK_ERRORS as exc:
            return words.not_read(slack_word(exc))
    meant = called(typed.assistant, names)
    if len(meant) > 1:
        return several_named(typed.assistant, meant)
    if not meant:
        unknown_one = words.not_watched if typed.changes is None else words.no_assistant
        return unknown_one(typed.assistant, list(names.values()))
    author_id = meant[0]
    if typed.changes is None:
        return await _ask_to_end(services, invocation, place, author_id)
    await find_way(services, team_id, place, patience_s=PATIENCE_S)
    watch = await order_on(services, invocation, place, author_id)
    watch = changed(watch, invocation, typed.changes, services.clock())
    refusal = await save_order(watcher, watch, invocation.user_id)
    if refusal:
        return refusal
    name = names[author_id]
    if watch.is_everywhere:
        return words.begun_everywhere(await with_channels(services, watch), name, channel_id)
    way = await find_way(services, team_id, channel_id, watch)
    price = "" if way.usd is None else price_a_day(watch, a_day.get(author_id, 0), way)
    return words.begun(watch, name, price)


async def with_channels(services: Services, order: Watch) -> Watch:
    """An order as it is stored now, with the channels that it is followed in."""
    for each in await WatchOrders(services.store.database).everywhere(order.team_id):
        if each.author_id == order.author_id:
            return each
    return order


async def set_by(services: Services, watch: Watch) -> str:
    """Who has set a watch last, or the order that it follows from; empty if that is not known."""
    channel_id = EVERYWHERE if watch.is_derived else watch.channel_id
    audit = services.store.audit
    return await audit.last_by(Action.WATCH_SET, watch.team_id, channel_id, watch.author_id) or ""


async def _ask_to_end(
    services: Services, invocation: Invocation, place: str, author_id: str
) -> Post | str:
    name = await services.members.name_of(author_id)
    orders = WatchOrders(services.store.database)
    watch = await orders.find(invocation.team_id, place, author_id)
    if watch is None:
        return words.NOT_WATCHED
    if watch.is_everywhere:
        return words.ask_to_end_everywhere(await with_channels(services, watch), name)
    return words.ask_to_end(watch, name, await set_by(services, watch))


def changed(
    watch: Watch, invocation: Invocation, changes: Mapping[str, Any], now: datetime
) -> Watch:
    """The watch with changes as `parse_watch` returns them; an order includes the channel again."""
    here = invocation.channel_id
    left_out = tuple(channel_id for channel_id in watch.except_in if channel_id != here)
    watch = replace(watch, except_in=left_out)
    watch = replace(
        watch, **{name: value for name, value in changes.items() if name not in {"alert", "low"}}
    )
    hear = {
        "here": (invocation.channel_id,),
        "me": (invocation.user_id,),
        "off": (),
        None: watch.alerts_to,
    }
    low, alerts_to = changes.get("low"), hear[changes.get("alert")]
    if low:
        return replace(
            watch, alerts_to=alerts_to or (invocation.user_id,), low_since=watch.low_since or now
        )
    ends_low = low is False or not alerts_to
    return replace(watch, alerts_to=alerts_to, low_since=None if ends_low else watch.low_since)


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
    refusal = await refusal_of(services, invocation, channel_id, is_change=True)
    if refusal:
        return refusal
    watch = await watcher.orders.find(invocation.team_id, place, author_id)
    if watch is None:
        return words.NOT_WATCHED
    setter = await set_by(services, watch)
    if not await watcher.end(watch, by):
        return words.NOT_WATCHED
    if watch.is_everywhere:
        await follow_orders(watcher)
    name = await services.members.name_of(author_id)
    others = dict.fromkeys((*watch.alerts_to, setter or by))
    told = replace(watch, alerts_to=tuple(each for each in others if each != by))
    await send_alert(services, told, words.ended_by(watch, name, by))
    order = await watcher.orders.find(invocation.team_id, EVERYWHERE, author_id)
    where = "in all public channels" if watch.is_everywhere else "here"
    return words.ended(name, where, goes_on=order is not None)


async def _test(services: Services, invocation: Invocation) -> str:
    channel_id, author_id = clicked_watch(invocation)
    if refusal := await refusal_of(services, invocation, channel_id, is_change=True):
        return refusal
    watch = await WatchOrders(services.store.database).find(
        invocation.team_id, channel_id, author_id
    )
    if watch is None:
        return words.NOT_WATCHED
    post = test_alert(watch, await services.members.name_of(author_id), services.clock())
    return words.tested(watch, await send_alert(services, watch, post))


def register(app: AsyncApp, watcher: Watcher) -> None:
    services = watcher.services

    @on_click(app, ids.ACTION_WATCH_OFF)
    async def end(invocation: Invocation, _: Raw) -> None:
        channel_id = invocation.channel_id
        said = await end_watch(watcher, invocation, channel_id, invocation.value, channel_id)
        await services.messenger.replace(invocation.recipient, said)

    @on_click(app, ids.ACTION_END_EVERYWHERE)
    async def end_everywhere(invocation: Invocation, _: Raw) -> None:
        channel_id = invocation.channel_id
        said = await end_watch(watcher, invocation, channel_id, invocation.value, EVERYWHERE)
        await services.messenger.replace(invocation.recipient, said)

    @on_click(app, ids.ACTION_TEST_ALERT)
    async def send_test(invocation: Invocation, _: Raw) -> None:
        await services.messenger.tell(invocation.recipient, await _test(services, invocation))
