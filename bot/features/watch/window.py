"""The window in which a watch is set: opened at once, filled when Slack has answered, checked when
submitted.
"""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.domain.watch import Shows, Watch, is_channel
from bot.features.watch import assistants, ids, orders
from bot.features.watch import text as words
from bot.features.watch import window_text as window_words
from bot.features.watch.grammar import parse_watch
from bot.features.watch.news import FIRST
from bot.features.watch.orders import clicked_watch, end_watch
from bot.features.watch.queries import is_order
from bot.features.watch.watcher import Watcher
from bot.features.watch.way import PATIENCE_S
from bot.features.watch.window_text import WatchState, WatchView, said_modal
from bot.pipeline.text import not_understood
from bot.services import Services
from bot.slack import ids as slack_ids
from bot.slack import invocation as payloads
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.invocation import Invocation, Raw
from bot.slack.members import called
from bot.slack.messenger import Post
from bot.store.figures import Place
from bot.store.watches import EVERYWHERE


@dataclass(frozen=True)
class WatchForm:
    """A person's choices for an assistant; `with_digest`: the channel is to have its digest, too.

    `share` is 0 if the window does not show this assistant's fields yet. `changes` are those of the
    fields below, as `orders.changed` takes them, and empty if the window does not show these. An
    empty floor is None.
    """

    author_id: str
    share: float
    with_digest: bool
    changes: Mapping[str, Any]


def to_watch_form(view: Raw, channel_id: str) -> WatchForm:
    values = view["state"]["values"]
    author_id = payloads.selected(values, ids.BLOCK_ASSISTANT) or ""
    one_in = payloads.selected(values, slack_ids.of(ids.BLOCK_SHARE, author_id))
    changes: Mapping[str, Any] = {}
    if slack_ids.of(ids.BLOCK_SHOWS, author_id) in values:
        changes = _to_changes(values, author_id, channel_id)
    share = 1 / int(one_in) if one_in else 0
    return WatchForm(author_id, share, _is_ticked(values, ids.BLOCK_ALSO), changes)


def _to_changes(values: Raw, author_id: str, channel_id: str) -> Mapping[str, Any]:
    """The changes in the fields that are below *More*."""

    def its(block_id: str) -> str:
        return slack_ids.of(block_id, author_id)

    floor = payloads.typed(values, its(ids.BLOCK_FLOOR))
    people = payloads.field_of(values, its(ids.BLOCK_ALERTS_TO)).get("selected_users") or []
    here = [channel_id] if _is_ticked(values, its(ids.BLOCK_ALERTS_HERE)) else []
    return {
        "per_day": int(payloads.typed(values, its(ids.BLOCK_PER_DAY)) or 0),
        "shows": Shows(payloads.selected(values, its(ids.BLOCK_SHOWS)) or Shows.NOTHING),
        "alerts_to": (*here, *people),
        "floor": float(floor) if floor else None,
        "low": _is_ticked(values, its(ids.BLOCK_LOW)) and bool(here or people),
    }


def _is_ticked(values: Raw, block_id: str) -> bool:
    return bool(payloads.field_of(values, block_id).get("selected_options"))


async def answer_command(watcher: Watcher, invocation: Invocation, text: str) -> Post | str:
    try:
        typed = parse_watch(text)
    except ValueError as exc:
        return not_understood(exc, words.HELP)
    if typed.assistant and typed.changes == {} and not typed.is_everywhere:
        return await open_window(watcher, invocation, invocation.channel_id, typed.assistant)
    return await orders.follow(watcher, invocation, typed)


async def open_window(
    watcher: Watcher, invocation: Invocation, channel_id: str, author: str
) -> str:
    """Opens a channel's window, on the assistant with the name or id `author` if any; returns why
    not, or nothing.
    """
    opened = await watcher.services.messenger.open_modal(
        invocation.trigger_id, said_modal(window_words.READING)
    )
    if not opened:
        return invocation.too_slow
    state = WatchState(channel_id=channel_id, told_at=invocation.channel_id)
    await _show(watcher, invocation, opened, state, author)
    return ""


async def _show(
    watcher: Watcher,
    invocation: Invocation,
    view_id: str,
    state: WatchState,
    author: str,
    share: float = 0,
) -> None:
    """Fills the window.

    If only another `share` was chosen, or all fields, the others keep what the person has entered.
    """
    form = await _to_view(watcher, invocation, state, author)
    if isinstance(form, str):
        view = said_modal(form)
    else:
        state = state.model_copy(update={"is_everywhere": is_order(form.watch)})
        if share:
            form = replace(form, watch=replace(form.watch, share=share))
        view = window_words.watch_modal(state, form)
    await watcher.services.messenger.update_modal(view_id, view)


async def _to_view(
    watcher: Watcher, invocation: Invocation, state: WatchState, author: str
) -> WatchView | str:
    """The initial content of the window, or why it cannot be shown.

    Of a watch that follows from an order, it shows the order.
    """
    services = watcher.services
    channel_id = state.channel
    team_id = invocation.team_id
    refusal = await orders.refusal_of(services, invocation, channel_id)
    if refusal:
        return refusal
    watched = await assistants.watched_names(services, team_id, channel_id)
    try:
        found, a_day = await assistants.assistants(services, channel_id, author)
    except SLACK_ERRORS as exc:
        return words.not_read(slack_word(exc))
    names = {**watched, **found}
    author_id = _author_of(author, watched, names)
    if author_id is None:
        return words.no_assistant(author, list(names.values())) if author else words.NO_BOTS
    view = await _view_of(watcher, invocation, channel_id, author_id)
    return replace(view, names=names, a_day=a_day.get(author_id, 0))


def _author_of(author: str, watched: Collection[str], names: Mapping[str, str]) -> str | None:
    """The assistant with the name or id `author`; without one, the first that is not watched yet,
    if there is one.
    """
    meant = called(author, names) if author else sorted(names, key=lambda each: each in watched)
    return meant[0] if meant else None


async def _view_of(
    watcher: Watcher, invocation: Invocation, channel_id: str, author_id: str
) -> WatchView:
    """What the window shows of one assistant, without its name and pace."""
    services = watcher.services
    team_id = invocation.team_id
    place = channel_id
    earlier = await watcher.orders.find(team_id, place, author_id)
    if earlier and earlier.is_derived:
        place = EVERYWHERE
        earlier = await watcher.orders.find(team_id, place, author_id)
    way = await watcher.ways.find(team_id, place, earlier, PATIENCE_S)
    watch = earlier or orders.new_watch(services, invocation, place, author_id, way.ask)
    settings = await services.store.channels.of(team_id, channel_id)
    return WatchView(
        watch,
        is_set=earlier is not None,
        rubric=await services.rubrics.of(team_id, channel_id),
        way=way,
        has_digest=settings.is_digest_on,
        set_by=await watcher.orders.set_by(watch),
        questions=await services.questions_of(watch) if earlier else "",
    )


async def _submit(
    watcher: Watcher, invocation: Invocation, state: WatchState, form: WatchForm
) -> Raw | Post:
    """What the person is told once the watch is set, or the answer to Slack if it is not."""
    services = watcher.services
    team_id = invocation.team_id
    refusal, errors = await asyncio.gather(
        orders.refusal_of(services, invocation, state.channel),
        _errors(services, team_id, state.channel, form),
    )
    if refusal:
        return {"response_action": "update", "view": said_modal(refusal)}
    if errors:
        return {"response_action": "errors", "errors": errors}
    return await _save(watcher, invocation, state, form)


async def _save(
    watcher: Watcher, invocation: Invocation, state: WatchState, form: WatchForm
) -> Raw | Post:
    services = watcher.services
    earlier = await watcher.orders.find(invocation.team_id, state.place, form.author_id)
    watch = await _chosen(watcher, invocation, state, form, earlier)
    not_saved = await orders.save_order(watcher, watch, invocation.user_id)
    if not_saved:
        errors = {_shows_block(form): not_saved.replace("`", "")}
        return {"response_action": "errors", "errors": errors}
    more = await _more(services, invocation, state, form, is_new=earlier is None)
    return await orders.begun(watcher, watch, state.channel, more)


async def _more(
    services: Services, invocation: Invocation, state: WatchState, form: WatchForm, *, is_new: bool
) -> str:
    """What follows: the first figures of a new watch, and the digest, which is switched on."""
    more = list[str]()
    if is_new and not state.is_everywhere:
        more.append(f"The first figures come after {FIRST} scores.")
    if form.with_digest:
        place = Place(invocation.team_id, state.channel)
        more.append(await services.post_weekly(place, invocation.user_id))
    return " ".join(more)


def _shows_block(form: WatchForm) -> str:
    """The field of what the channel sees, if the window shows it."""
    return slack_ids.of(ids.BLOCK_SHOWS, form.author_id) if form.changes else ids.BLOCK_ASSISTANT


async def _chosen(
    watcher: Watcher,
    invocation: Invocation,
    state: WatchState,
    form: WatchForm,
    earlier: Watch | None,
) -> Watch:
    """The watch with what a person has chosen in the window."""
    services = watcher.services
    way = await watcher.ways.find(invocation.team_id, state.place, earlier)
    new = orders.new_watch(services, invocation, state.place, form.author_id, way.ask)
    watch = earlier or new
    changes = {"share": form.share, **form.changes}
    if form.changes:
        # The channels that hear of an order, of which the window of this one shows none.
        others = [to for to in watch.alerts_to if is_channel(to) and to != state.channel]
        changes["alerts_to"] += tuple(others)
    return orders.changed(watch, invocation, changes, services.clock())


async def _errors(
    services: Services, team_id: str, channel_id: str, form: WatchForm
) -> dict[str, str]:
    """What is wrong with what a person has entered, by block id."""
    errors = {} if form.share else {ids.BLOCK_ASSISTANT: window_words.NOT_SHOWN_YET}
    scale = (await services.rubrics.of(team_id, channel_id)).scale
    floor = form.changes.get("floor")
    if floor is not None and not scale.low < floor < scale.high:
        errors[slack_ids.of(ids.BLOCK_FLOOR, form.author_id)] = window_words.off_floor(scale)
    people = [each for each in form.changes.get("alerts_to", ()) if each != channel_id]
    names = await _kept_out(services, channel_id, people)
    if names:
        errors[slack_ids.of(ids.BLOCK_ALERTS_TO, form.author_id)] = window_words.kept_out(names)
    return errors


async def _kept_out(services: Services, channel_id: str, people: Sequence[str]) -> Sequence[str]:
    """The names of those who may not see the channel's figures, which alerts contain; of all, if
    Slack does not answer.
    """
    keeps_out = (services.memberships.keeps_out(each, channel_id) for each in people)
    answers = await asyncio.gather(*keeps_out, return_exceptions=True)
    out = [each for each, is_out in zip(people, answers, strict=True) if is_out]
    return [await services.members.name_of(each) for each in out]


def register(app: AsyncApp, watcher: Watcher) -> None:
    share = re.compile(f"^{ids.BLOCK_SHARE}-")
    payloads.on_click(app, ids.ACTION_WATCH)(partial(_open_in_message, watcher))
    choices = ids.BLOCK_ASSISTANT, share, ids.ACTION_WATCH_MORE
    payloads.on_click(app, *choices)(partial(_choose, watcher))
    payloads.on_click(app, ids.ACTION_WATCH_END)(partial(_end, watcher))

    @app.view(ids.VIEW_WATCH)
    async def set_watch(ack: AsyncAck, body: Raw) -> None:
        await _set(watcher, ack, payloads.to_invocation(body), body["view"])


async def _open_in_message(watcher: Watcher, invocation: Invocation, _: Raw) -> None:
    channel_id, author_id = clicked_watch(invocation)
    said = await open_window(watcher, invocation, channel_id, author_id)
    await watcher.services.messenger.tell(invocation.recipient, said)


async def _set(watcher: Watcher, ack: AsyncAck, invocation: Invocation, view: Raw) -> None:
    """Sets the watch, and tells the person alone, where they opened the window."""
    state = WatchState.of(view)
    answer = await _submit(watcher, invocation, state, to_watch_form(view, state.channel))
    if not isinstance(answer, Post):
        await ack(**answer)
        return
    await ack()
    recipient = Recipient(invocation.user_id, state.told_at or state.channel)
    await watcher.services.messenger.tell(recipient, answer)


async def _choose(watcher: Watcher, invocation: Invocation, body: Raw) -> None:
    """Shows the window as it is with what a person has chosen in it."""
    view = body["view"]
    state = WatchState.of(view)
    form = to_watch_form(view, state.channel)
    if invocation.action == ids.ACTION_WATCH_MORE:
        state = state.model_copy(update={"is_long": True})
    # Of another assistant, it does not show the share yet.
    await _show(watcher, invocation, view["id"], state, form.author_id, form.share)


async def _end(watcher: Watcher, invocation: Invocation, body: Raw) -> None:
    messenger = watcher.services.messenger
    view = body["view"]
    state = WatchState.of(view)
    said = await end_watch(watcher, invocation, state.channel, invocation.value, state.place)
    if not await messenger.update_modal(view["id"], said_modal(said)):
        await messenger.tell(Recipient(invocation.user_id, state.channel), said)
