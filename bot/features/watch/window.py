"""The window in which a watch is set: opened at once, filled when Slack has answered, checked when
submitted.
"""

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.domain.watch import Shows, Watch, is_channel
from bot.features.watch import assistants, ids, orders
from bot.features.watch import text as words
from bot.features.watch import window_text as window_words
from bot.features.watch.grammar import parse_watch
from bot.features.watch.news import announce, when_first
from bot.features.watch.orders import clicked_watch, end_watch
from bot.features.watch.watcher import Watcher
from bot.features.watch.way import PATIENCE_S, find_way
from bot.features.watch.window_text import WatchState, WatchView, said_modal
from bot.pipeline.text import not_understood
from bot.services import Services
from bot.slack import ids as slack_ids
from bot.slack import invocation as payloads
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.invocation import Invocation, Raw
from bot.slack.members import MembershipError, called
from bot.slack.messenger import Post
from bot.store.figures import Place
from bot.store.watches import EVERYWHERE
from judge.scoring.rubric import Scale


@dataclass(frozen=True)
class WatchForm:
    """A person's choices for an assistant; `also` is what else is to be done for a new watch.

    `share` is 0 if the window does not show this assistant's fields yet. `changes` are those of the
    fields below, as `orders.changed` takes them, and empty if the window does not show these. An
    empty floor is None.
    """

    author_id: str
    share: float
    also: Sequence[str]
    changes: Mapping[str, Any]


def to_watch_form(view: Raw, channel_id: str) -> WatchForm:
    values = view["state"]["values"]
    author_id = payloads.selected(values, ids.BLOCK_ASSISTANT) or ""

    def its(block_id: str) -> str:
        return slack_ids.of(block_id, author_id)

    def ticked(block_id: str) -> list[str]:
        return [
            each["value"]
            for each in payloads.field_of(values, block_id).get("selected_options") or ()
        ]

    one_in = payloads.selected(values, its(ids.BLOCK_SHARE))
    hears_here = ticked(its(ids.BLOCK_ALERTS_HERE))
    people = payloads.field_of(values, its(ids.BLOCK_ALERTS_TO)).get("selected_users") or []
    alerts_to = (*((channel_id,) if hears_here else ()), *people[: window_words.MOST_PEOPLE])
    changes = {
        "per_day": int(payloads.typed(values, its(ids.BLOCK_PER_DAY)) or 0),
        "shows": Shows(payloads.selected(values, its(ids.BLOCK_SHOWS)) or Shows.NOTHING),
        "alerts_to": alerts_to,
        "floor": float(floor) if (floor := payloads.typed(values, its(ids.BLOCK_FLOOR))) else None,
        "low": bool(ticked(its(ids.BLOCK_LOW)) and alerts_to),
    }
    is_long = its(ids.BLOCK_SHOWS) in values
    return WatchForm(
        author_id,
        1 / int(one_in) if one_in else 0,
        ticked(ids.BLOCK_ALSO),
        changes if is_long else {},
    )


async def answer_command(watcher: Watcher, invocation: Invocation, text: str) -> Post | str:
    try:
        typed = parse_watch(text)
    except ValueError as exc:
        return not_understood(exc, words.HELP)
    if typed.assistant and typed.changes == {} and not typed.is_everywhere:
        return await open_window(watcher, invocation, invocation.channel_id, typed.assistant)
    return await orders.follow(watcher, invocation, typed)


async def open_window(
    watcher: Watcher,
    invocation: Invocation,
    channel_id: str,
    author: str,
    *,
    is_everywhere: bool = False,
) -> str:
    """Opens a channel's window, on the assistant with the name or id `author` if any; returns why
    not, or nothing.
    """
    opened = await watcher.services.messenger.open_modal(
        invocation.trigger_id, said_modal(window_words.READING)
    )
    if not opened:
        return invocation.too_slow
    state = WatchState(
        channel_id=channel_id, told_at=invocation.channel_id, is_everywhere=is_everywhere
    )
    await _show(watcher, invocation, opened.id, state, author, None)
    return ""


async def _show(
    watcher: Watcher,
    invocation: Invocation,
    view_id: str,
    state: WatchState,
    author: str,
    chosen: WatchForm | None,
) -> None:
    """Fills the window.

    If only another share was `chosen`, or all fields, the others keep what the person has entered.
    """
    form = await _to_view(watcher.services, invocation, state, author)
    if isinstance(form, str):
        view = said_modal(form)
    else:
        state = state.model_copy(update={"is_everywhere": form.watch.is_everywhere})
        if chosen:
            watch = replace(form.watch, share=chosen.share)
            form = replace(form, watch=watch, version=state.version or "")
        view = window_words.watch_modal(state, form)
    await watcher.services.messenger.update_modal(view_id, view)


async def _to_view(
    services: Services, invocation: Invocation, state: WatchState, author: str
) -> WatchView | str:
    """The initial content of the window, or why it cannot be shown.

    Of a watch that follows from an order, it shows the order.
    """
    channel_id = state.channel_id or ""
    refusal = await orders.refusal_of(services, invocation, channel_id, is_change=True)
    if refusal:
        return refusal
    team_id = invocation.team_id
    watched = dict(await assistants.watched_names(services, team_id, channel_id))
    if state.is_everywhere:
        watched |= await assistants.watched_names(services, team_id, EVERYWHERE)
    try:
        found, a_day = await assistants.assistants(services, channel_id, author)
    except SLACK_ERRORS as exc:
        return words.not_read(slack_word(exc))
    names = {**watched, **found}
    # Without a name, it begins with an assistant that is not watched yet, if there is one.
    unwatched = [author_id for author_id in found if author_id not in watched]
    meant = called(author, names) if author else [*unwatched, *names]
    if not meant:
        return words.no_assistant(author, list(names.values())) if author else words.NO_BOTS
    author_id = meant[0]
    watch = await orders.order_on(services, invocation, channel_id, author_id)
    if state.is_everywhere or watch.is_derived:
        watch = await orders.order_on(services, invocation, EVERYWHERE, author_id)
    is_set = author_id in watched
    way = await find_way(services, team_id, watch.channel_id, watch if is_set else None, PATIENCE_S)
    watch = replace(watch, ask=way.ask)
    settings = await services.store.channels.of(team_id, channel_id)
    return WatchView(
        watch,
        is_set,
        names,
        await services.rubrics.of(team_id, channel_id),
        _version(watch if is_set else None),
        a_day.get(author_id, 0),
        way,
        settings.is_digest_on,
        await orders.set_by(services, watch),
        await services.questions_of(watch) if is_set else "",
    )


def _version(watch: Watch | None) -> str:
    """A short hash of the settings, to notice a change; `watch` is None if the assistant is not
    watched.
    """
    return hashlib.sha256(repr(watch).encode()).hexdigest()[:8]


async def _submitted(
    watcher: Watcher, invocation: Invocation, state: WatchState, form: WatchForm
) -> tuple[Raw, str]:
    """The answer to Slack for a submitted window, empty once the watch is set; and when a new one's
    figures come.
    """
    refusal = await _refusal(watcher, invocation, state, form)
    if refusal:
        return refusal, ""
    services = watcher.services
    team_id = invocation.team_id
    channel_id = state.channel_id or ""
    place = _place(state, form)
    earlier = await watcher.orders.find(team_id, place, form.author_id)
    watch = earlier or await orders.order_on(services, invocation, place, form.author_id)
    changes = {"share": form.share, **form.changes}
    if form.changes:
        changes["alerts_to"] += _other_channels(watch, channel_id)
    watch = orders.changed(watch, invocation, changes, services.clock())
    not_saved = await orders.save_order(watcher, watch, invocation.user_id)
    if not_saved:
        block_id = ids.BLOCK_ASSISTANT
        if form.changes:
            block_id = slack_ids.of(ids.BLOCK_SHOWS, form.author_id)
        return {"response_action": "errors", "errors": {block_id: not_saved.replace("`", "")}}, ""
    digest = ""
    if window_words.DIGEST in form.also:
        digest = await services.post_weekly(Place(team_id, channel_id), invocation.user_id)
    if earlier:
        return {}, ""
    if watch.is_everywhere:
        return {}, digest
    return {}, f"{when_first(window_words.scores_a_day(watch, state.a_day))} {digest}"


async def _refusal(
    watcher: Watcher, invocation: Invocation, state: WatchState, form: WatchForm
) -> Raw:
    """The answer to Slack for a window that cannot be submitted like this, or empty."""
    services = watcher.services
    team_id = invocation.team_id
    channel_id = state.channel_id or ""
    refusal, kept_out = await asyncio.gather(
        orders.refusal_of(services, invocation, channel_id, is_change=True),
        _kept_out(services, form, channel_id),
    )
    if refusal:
        return {"response_action": "update", "view": said_modal(refusal)}
    earlier = await watcher.orders.find(team_id, _place(state, form), form.author_id)
    rubric = await services.rubrics.of(team_id, channel_id)
    errors = await _errors(services, form, rubric.scale, is_watched=earlier is not None)
    errors |= kept_out
    shown_place = EVERYWHERE if state.is_everywhere else channel_id
    shown_watch = await watcher.orders.find(team_id, shown_place, form.author_id)
    if (state.version or "") != _version(shown_watch):
        errors.setdefault(ids.BLOCK_ASSISTANT, window_words.CHANGED_MEANWHILE)
    return {"response_action": "errors", "errors": errors} if errors else {}


def _other_channels(watch: Watch, channel_id: str) -> tuple[str, ...]:
    """The channels that hear of an order, of which the window of this one shows none."""
    return tuple(to for to in watch.alerts_to if is_channel(to) and to != channel_id)


def _place(state: WatchState, form: WatchForm) -> str:
    """What the window sets: the channel's watch, or the order for all public channels."""
    is_order = state.is_everywhere or window_words.EVERYWHERE in form.also
    return EVERYWHERE if is_order else state.channel_id or ""


async def _errors(
    services: Services, form: WatchForm, scale: Scale, *, is_watched: bool
) -> dict[str, str]:
    errors = {} if form.share else {ids.BLOCK_ASSISTANT: window_words.NOT_SHOWN_YET}
    is_ours = form.author_id in services.identity.own_ids
    if is_ours or not (is_watched or (await services.members.of(form.author_id)).is_bot):
        errors[ids.BLOCK_ASSISTANT] = window_words.NO_ASSISTANT
    floor = form.changes.get("floor")
    if floor is not None and not scale.low < floor < scale.high:
        errors[slack_ids.of(ids.BLOCK_FLOOR, form.author_id)] = window_words.off_floor(scale)
    return errors


async def _kept_out(services: Services, form: WatchForm, channel_id: str) -> dict[str, str]:
    """The error, by block id, for people who may not get alerts, which contain figures of the
    channel.
    """
    people = [each for each in form.changes.get("alerts_to", ()) if each != channel_id]
    block_id = slack_ids.of(ids.BLOCK_ALERTS_TO, form.author_id)
    keeps_out = (services.memberships.keeps_out(each, channel_id) for each in people)
    try:
        kept = await asyncio.gather(*keeps_out)
    except MembershipError as exc:
        return {block_id: window_words.unsure(exc)}
    out = [
        await services.members.name_of(each)
        for each, is_out in zip(people, kept, strict=True)
        if is_out
    ]
    return {block_id: window_words.kept_out(out)} if out else {}


def register(app: AsyncApp, watcher: Watcher) -> None:
    share = re.compile(f"^{ids.BLOCK_SHARE}-")

    @payloads.on_click(app, ids.ACTION_WATCH, ids.ACTION_WATCH_EVERYWHERE)
    async def open_in_message(invocation: Invocation, _: Raw) -> None:
        channel_id, author_id = clicked_watch(invocation)
        is_everywhere = invocation.action == ids.ACTION_WATCH_EVERYWHERE
        said = await open_window(
            watcher, invocation, channel_id, author_id, is_everywhere=is_everywhere
        )
        await watcher.services.messenger.tell(invocation.recipient, said)

    @payloads.on_click(app, ids.BLOCK_ASSISTANT, share, ids.ACTION_WATCH_MORE)
    async def choose(invocation: Invocation, body: Raw) -> None:
        await _choose(watcher, invocation, body["view"])

    @payloads.on_click(app, ids.ACTION_WATCH_END)
    async def end(invocation: Invocation, body: Raw) -> None:
        await _end(watcher, invocation, body["view"])

    @app.view(ids.VIEW_WATCH)
    async def set_watch(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        state = WatchState.of(body["view"])
        form = to_watch_form(body["view"], state.channel_id or "")
        answer, first = await _submitted(watcher, invocation, state, form)
        await ack(**answer)
        if not answer:
            await _tell_set(watcher.services, invocation, state, form, first)


async def _choose(watcher: Watcher, invocation: Invocation, view: Raw) -> None:
    """Shows the window as it is with what a person has chosen in it."""
    state = WatchState.of(view)
    form = to_watch_form(view, state.channel_id or "")
    chosen = form if form.share else None
    if invocation.action == ids.ACTION_WATCH_MORE:
        state = state.model_copy(update={"is_long": True})
    elif invocation.action == ids.BLOCK_ASSISTANT:
        state = state.model_copy(update={"is_everywhere": False})
        chosen = None
    await _show(watcher, invocation, view["id"], state, form.author_id, chosen)


async def _end(watcher: Watcher, invocation: Invocation, view: Raw) -> None:
    services = watcher.services
    state = WatchState.of(view)
    channel_id = state.channel_id or ""
    place = EVERYWHERE if state.is_everywhere else channel_id
    said = await end_watch(watcher, invocation, channel_id, invocation.value, place)
    shown = None
    with suppress(*SLACK_ERRORS):
        shown = await services.messenger.update_modal(view["id"], said_modal(said))
    if not shown:
        await services.messenger.tell(Recipient(invocation.user_id, channel_id), said)


async def _tell_set(
    services: Services, invocation: Invocation, state: WatchState, form: WatchForm, first: str
) -> None:
    """Tells the person alone, where they opened the window, unless they want the channel to know."""
    by = invocation.user_id
    channel_id = state.channel_id or ""
    watch = await orders.order_on(services, invocation, _place(state, form), form.author_id)
    said = ""
    if window_words.ANNOUNCE in form.also:
        said = await announce(services, replace(watch, channel_id=channel_id), by)
    name = await services.members.name_of(form.author_id)
    more = f"{first} {said}"
    watch = await orders.with_channels(services, watch)
    post = words.begun(watch, name, channel_id, more)
    await services.messenger.tell(Recipient(by, state.told_at or channel_id), post)
