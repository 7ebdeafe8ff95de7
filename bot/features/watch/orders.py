"""A channel's watches: shown, set and ended with `/judge watch`, by people who may do so."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.blocker import CHANNEL_OFF
from bot.domain.watch import Shows, Watch
from bot.feature import Services
from bot.features.watch import ids
from bot.features.watch import text as words
from bot.features.watch.figures import counted
from bot.features.watch.notices import send_alert
from bot.features.watch.queries import WatchOrders
from bot.features.watch.standing_text import test_alert
from bot.features.watch.watcher import Watcher
from bot.features.watch.window_text import price_a_day
from bot.pipeline.text import several_named
from bot.settings import OFFLINE
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.invocation import Invocation, Raw, on_click, unknown
from bot.slack.members import WATCHES
from bot.slack.messenger import Post
from bot.store.audit import Action
from judge.scoring.model.addresses import OPENAI_URL
from judge.scoring.model.completion import cost_of
from judge.scoring.ways import DECISION

_TOKENS = {"decision": (700, 0), "distribution": (468, 0), "text": (468, 260)}
"""What a usual reply's score takes, read and written: docs/security.md, Cost."""
_WATCH = re.compile(
    r"off +@(?P<ended>[^@]+)"
    r"|@(?P<name>[^@]+?)(?:(?P<off> +off)"
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
    """
    earlier = await WatchOrders(services.store.database).find(
        invocation.team_id, channel_id, author_id
    )
    new = Watch(
        invocation.team_id, channel_id, author_id, services.clock(), alerts_to=(invocation.user_id,)
    )
    if services.settings.judge_ask == DECISION:
        new = replace(new, per_day=0)  # all of them cost little
    return earlier or new


async def price_of(services: Services, team_id: str, channel_id: str) -> tuple[str, float | None]:
    """The model that scores a channel's replies, and what a usual one costs in US dollars, if that
    is known.
    """
    settings, chosen = services.settings, await services.rubrics.log.chosen(team_id, channel_id)
    model, (read, written) = chosen.model or settings.judge_model, _TOKENS[settings.judge_ask]
    if model == OFFLINE:
        return model, 0
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    usage |= {"input_tokens": read, "output_tokens": written}
    answer = {
        "model": model,
        "usage": usage,
        "service_tier": settings.watch_tier or settings.judge_tier,
    }
    url, is_decision = settings.openai_base_url or OPENAI_URL, settings.judge_ask == DECISION
    usd = await asyncio.to_thread(cost_of, url, answer, is_decision=is_decision)
    return model, None if settings.judge_effort else usd


async def save_order(watcher: Watcher, watch: Watch, by: str) -> str:
    """Records a watch; returns why it was not recorded, or an empty string.

    Whoever gets no more alerts, or fewer, is told, except for the person who changed it.
    """
    if watch.shows is Shows.REACTION and "reactions:write" not in watcher.services.identity.scopes:
        return words.NO_REACTIONS
    services = watcher.services
    earlier = await WatchOrders(services.store.database).find(
        watch.team_id, watch.channel_id, watch.author_id
    )
    await watcher.save(watch, by)
    if earlier:
        # All get fewer alerts if it scores less or its floor is lower; otherwise those who are left
        # out get none.
        a_day = (watch.per_day or inf) < (earlier.per_day or inf)
        is_less = (
            watch.share < earlier.share or a_day or (watch.floor or -inf) < (earlier.floor or -inf)
        )
        is_less = is_less or watch.low_since is None is not earlier.low_since
        stay = {by} if is_less else {by, *watch.alerts_to}
        lose = tuple(each for each in earlier.alerts_to if each not in stay)
        name = await services.members.name_of(watch.author_id)
        await send_alert(
            services, replace(earlier, alerts_to=lose), words.changed_by(watch, name, by)
        )
    return ""


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
    number, since = Counter[str](), (now - timedelta(days=7)).timestamp()
    for raw in (each for each in latest if float(each.get("latest_reply") or each["ts"]) >= since):
        people = raw.get("reply_users_count") or 1
        each = raw.get("reply_count", 1) // people if people > 1 else 1
        number.update(dict.fromkeys(_authors(raw), max(each, 1)))
    oldest = min((float(raw["ts"]) for raw in latest), default=since)
    days = min(max((now.timestamp() - oldest) / 86_400, 1), 7)
    return {author_id: found / days for author_id, found in number.items()}


async def _bots(services: Services, ids: Iterable[str]) -> dict[str, str]:
    members, others = (
        services.members,
        [each for each in ids if each not in services.identity.own_ids],
    )
    found = await members.of_all(
        others, at_least_s=3
    )  # of up to 100; the command has already been acknowledged
    return {
        each: its.name
        for each, its in found.items()
        if its.is_bot and not await members.is_known_foreign(each)
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


def parse_watch(text: str) -> tuple[str, dict[str, Any] | None]:
    """The assistant in the text after `/judge watch`, whose name may contain spaces, and what to
    change of its watch.

    The changes have the names of `Watch`, but `alert` says who is told when the assistant gets
    worse ("here", "me" or "off"), and `low` whether also of single low replies. None ends the
    watch. Without an assistant, nothing is changed.
    """
    if not text:
        return "", None
    found = _WATCH.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise ValueError(f"{unknown(text)}: I watch one assistant at a time, by `@` and its name")
    if found["off"] or found["ended"]:
        return (found["ended"] or found["name"]).strip(), None
    return found["name"].strip(), {
        name: value(found) for name, value in _VALUES.items() if found[name]
    }


def clicked_watch(invocation: Invocation) -> tuple[str, str]:
    """The channel and the assistant of a button; without a channel, the one in which it was
    clicked.
    """
    channel_id, _, author_id = invocation.value.rpartition(":")
    return channel_id or invocation.channel_id, author_id


async def follow(
    watcher: Watcher, invocation: Invocation, typed: str, changes: Mapping[str, Any] | None
) -> Post | str:
    """Does what a `/judge watch` command asks for, as `parse_watch` returns it; returns the answer."""
    services, place = watcher.services, (invocation.team_id, invocation.channel_id)
    if refusal := await refusal_of(
        services, invocation, invocation.channel_id, is_change=bool(typed)
    ):
        return refusal
    if not typed:
        return words.state(await counted(services, await services.store.watches.of(*place)))
    of_watches = await watched_names(services, *place), dict[str, float]()
    try:
        names, a_day = (
            of_watches if changes is None else await assistants(services, place[1], typed)
        )
    except SLACK_ERRORS as exc:
        return words.not_read(slack_word(exc))
    meant = called(typed, names)
    if len(meant) > 1:
        return several_named(typed, meant)
    if not meant:
        return (words.not_watched if changes is None else words.no_assistant)(
            typed, list(names.values())
        )
    (author_id,) = meant
    if changes is None:
        return words.ask_to_end(author_id, names[author_id])
    watch = changed(
        await order_on(services, invocation, place[1], author_id),
        invocation,
        changes,
        services.clock(),
    )
    if refusal := await save_order(watcher, watch, invocation.user_id):
        return refusal
    _, usd = await price_of(services, *place)
    return words.begun(
        watch,
        names[author_id],
        "" if usd is None else price_a_day(watch, a_day.get(author_id, 0), usd),
    )


def changed(
    watch: Watch, invocation: Invocation, changes: Mapping[str, Any], now: datetime
) -> Watch:
    """The watch with changes as `parse_watch` returns them."""
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
    watcher: Watcher, invocation: Invocation, channel_id: str, author_id: str
) -> str:
    """Ends a watch if this person may; returns the sentence that tells them the outcome.

    Those who get its alerts are told, and so is the person who set it, except for the person who
    ended it.
    """
    services, by = watcher.services, invocation.user_id
    if refusal := await refusal_of(services, invocation, channel_id, is_change=True):
        return refusal
    watch = await WatchOrders(services.store.database).find(
        invocation.team_id, channel_id, author_id
    )
    set_by = await services.store.audit.last_by(
        Action.WATCH_SET, invocation.team_id, channel_id, author_id
    )
    if watch is None or not await watcher.end(watch, by):
        return words.NOT_WATCHED
    name = await services.members.name_of(author_id)
    others = dict.fromkeys((*watch.alerts_to, set_by or by))
    told = replace(watch, alerts_to=tuple(each for each in others if each != by))
    await send_alert(services, told, words.ended_by(watch, name, by))
    return words.ended(name)


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
        said = await end_watch(watcher, invocation, invocation.channel_id, invocation.value)
        await services.messenger.replace(invocation.recipient, said)

    @on_click(app, ids.ACTION_TEST_ALERT)
    async def send_test(invocation: Invocation, _: Raw) -> None:
        await services.messenger.tell(invocation.recipient, await _test(services, invocation))
