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
from bot.domain.watch import Shows, Watch
from bot.feature import Services
from bot.features.watch import ids, orders
from bot.features.watch import text as words
from bot.features.watch import window_text as window_words
from bot.features.watch.looks import recent_replies
from bot.features.watch.news import announce, when_first
from bot.features.watch.orders import clicked_watch, end_watch, parse_watch
from bot.features.watch.watcher import Watcher
from bot.features.watch.window_text import WatchState, WatchView, said_modal
from bot.pipeline.lookup import NotReadableError
from bot.pipeline.text import not_understood
from bot.slack import ids as slack_ids
from bot.slack import invocation as payloads
from bot.slack.client import MISSING, SLACK_ERRORS, slack_word
from bot.slack.invocation import Invocation, Raw
from bot.slack.members import MembershipError
from bot.slack.messages import Message
from bot.slack.messenger import Post
from bot.store.figures import Place
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


def to_watch_form(body: Raw, channel_id: str) -> WatchForm:
    values = body["view"]["state"]["values"]
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
        author, changes = parse_watch(text)
    except ValueError as exc:
        return not_understood(exc, words.HELP)
    if author and changes == {}:
        return await open_window(watcher, invocation, invocation.channel_id, author)
    return await orders.follow(watcher, invocation, author, changes)


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
    """Fills the window: first with the fields, then, if it shows all, with replies that the watch
    might have taken.

    If only another share was `chosen`, or all fields, the others keep what the person has entered.
    """
    messenger = watcher.services.messenger
    url = watcher.services.identity.url
    form = await _to_view(watcher.services, invocation, state.channel_id or "", author)
    if isinstance(form, str):
        await messenger.update_modal(view_id, said_modal(form))
        return
    if chosen:
        form = replace(
            form, watch=replace(form.watch, share=chosen.share), version=state.version or ""
        )
    shown = await messenger.update_modal(view_id, window_words.watch_modal(state, form, None, url))
    if shown and state.is_long:
        replies = await _replies(watcher, form.watch)
        view = window_words.watch_modal(state, form, replies, url)
        # With the version, Slack refuses this if the person has chosen another assistant or share
        # meanwhile.
        await messenger.update_modal(view_id, view, shown.version)


async def _to_view(
    services: Services, invocation: Invocation, channel_id: str, author: str
) -> WatchView | str:
    """The initial content of the window, or why it cannot be shown."""
    if refusal := await orders.refusal_of(services, invocation, channel_id, is_change=True):
        return refusal
    place = invocation.team_id, channel_id
    watched = await orders.watched_names(services, *place)
    try:
        found, a_day = await orders.assistants(services, channel_id, author)
    except SLACK_ERRORS as exc:
        return words.not_read(slack_word(exc))
    names = {**watched, **found}
    # Without a name, the window begins with an assistant that is not watched yet, if there is one.
    meant = (
        orders.called(author, names)
        if author
        else [*(each for each in found if each not in watched), *names]
    )
    if not meant:
        return words.no_assistant(author, list(names.values())) if author else words.NO_BOTS
    watch = await orders.order_on(services, invocation, channel_id, meant[0])
    is_set = meant[0] in watched
    version = _version(watch if is_set else None)
    rubric = await services.rubrics.of(*place)
    (_, usd), settings = (
        await orders.price_of(services, *place),
        await services.store.channels.of(*place),
    )
    return WatchView(
        watch, is_set, names, rubric, version, a_day.get(meant[0], 0), usd, settings.is_digest_on
    )


async def _replies(watcher: Watcher, watch: Watch) -> Sequence[Message] | str:
    try:
        return await recent_replies(watcher, watch)
    except NotReadableError:
        return words.not_read(MISSING)
    except SLACK_ERRORS as exc:
        return words.not_read(slack_word(exc))


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
    services = watcher.services
    place = (invocation.team_id, state.channel_id or "")
    refusal, kept_out = await asyncio.gather(
        orders.refusal_of(services, invocation, place[1], is_change=True),
        _kept_out(services, form, place[1]),
    )
    if refusal:
        return {"response_action": "update", "view": said_modal(refusal)}, ""
    earlier = await watcher.orders.find(*place, form.author_id)
    rubric = await services.rubrics.of(*place)
    errors = {
        **await _errors(services, form, rubric.scale, is_watched=earlier is not None),
        **kept_out,
    }
    if (state.version or "") != _version(earlier):
        errors.setdefault(ids.BLOCK_ASSISTANT, window_words.CHANGED_MEANWHILE)
    if errors:
        return {"response_action": "errors", "errors": errors}, ""
    watch = earlier or await orders.order_on(services, invocation, place[1], form.author_id)
    watch = orders.changed(
        watch, invocation, {"share": form.share, **form.changes}, services.clock()
    )
    if refusal := await orders.save_order(watcher, watch, invocation.user_id):
        shown = (
            slack_ids.of(ids.BLOCK_SHOWS, form.author_id) if form.changes else ids.BLOCK_ASSISTANT
        )
        return {"response_action": "errors", "errors": {shown: refusal.replace("`", "")}}, ""
    digest = (
        await services.post_weekly(Place(*place), invocation.user_id)
        if window_words.DIGEST in form.also
        else ""
    )
    a_day = window_words.scores_a_day(watch, state.a_day)
    return {}, "" if earlier else f"{when_first(a_day)} {digest}"


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
        known, kept = await asyncio.gather(
            services.members.of_all(people), asyncio.gather(*keeps_out)
        )
    except MembershipError as exc:
        return {block_id: window_words.unsure(exc)}
    if bots := [member.name for member in known.values() if member.is_bot]:
        return {block_id: window_words.no_readers(bots)}
    out = [
        await services.members.name_of(each)
        for each, is_out in zip(people, kept, strict=True)
        if is_out
    ]
    return {block_id: window_words.kept_out(out)} if out else {}


def register(app: AsyncApp, watcher: Watcher) -> None:
    services = watcher.services

    @payloads.on_click(app, ids.ACTION_WATCH)
    async def open_in_message(invocation: Invocation, _: Raw) -> None:
        said = await open_window(watcher, invocation, *clicked_watch(invocation))
        await services.messenger.tell(invocation.recipient, said)

    @payloads.on_click(
        app, ids.BLOCK_ASSISTANT, re.compile(f"^{ids.BLOCK_SHARE}-"), ids.ACTION_WATCH_MORE
    )
    async def choose(invocation: Invocation, body: Raw) -> None:
        state = WatchState.of(body["view"])
        which = invocation.action
        form = to_watch_form(body, state.channel_id or "")
        if which == ids.ACTION_WATCH_MORE:
            state = state.model_copy(update={"is_long": True})
        chosen = form if which != ids.BLOCK_ASSISTANT and form.share else None
        await _show(watcher, invocation, body["view"]["id"], state, form.author_id, chosen)

    @payloads.on_click(app, ids.ACTION_WATCH_END)
    async def end(invocation: Invocation, body: Raw) -> None:
        channel_id = WatchState.of(body["view"]).channel_id or ""
        said = await end_watch(watcher, invocation, channel_id, invocation.value)
        shown = None
        with suppress(*SLACK_ERRORS):
            shown = await services.messenger.update_modal(body["view"]["id"], said_modal(said))
        if not shown:
            await services.messenger.tell(Recipient(invocation.user_id, channel_id), said)

    @app.view(ids.VIEW_WATCH)
    async def set_watch(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        state = WatchState.of(body["view"])
        form = to_watch_form(body, state.channel_id or "")
        answer, first = await _submitted(watcher, invocation, state, form)
        await ack(**answer)
        # only the person is told, where they opened the window, unless they want the channel to
        # know
        if not answer:
            by = invocation.user_id
            watch = await orders.order_on(
                services, invocation, state.channel_id or "", form.author_id
            )
            said = await announce(services, watch, by) if window_words.ANNOUNCE in form.also else ""
            post = words.begun(
                watch, await services.members.name_of(form.author_id), f"{first} {said}"
            )
            await services.messenger.tell(Recipient(by, state.told_at or watch.channel_id), post)
