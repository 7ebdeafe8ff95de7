"""The window in which a release is marked with a note and its day, and the button that takes it back."""

from datetime import date
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.features.watch import ids, orders, releases
from bot.features.watch import release_text as words
from bot.features.watch.release_text import ReleaseState
from bot.features.watch.series import today_of
from bot.services import Services
from bot.slack import invocation as payloads
from bot.slack.invocation import Invocation, Raw
from bot.slack.messenger import Post
from bot.store.figures import Place


def register(app: AsyncApp, services: Services) -> None:
    payloads.on_click(app, ids.ACTION_RELEASE)(partial(_open, services))
    payloads.on_click(app, ids.ACTION_UNDO_RELEASE)(partial(_undo, services))

    @app.view(ids.VIEW_RELEASE)
    async def mark_with_note(ack: AsyncAck, body: Raw) -> None:
        await _mark_with_note(services, ack, payloads.to_invocation(body), body["view"])


async def _open(services: Services, invocation: Invocation, _: Raw) -> None:
    messenger = services.messenger
    opened = await messenger.open_modal(invocation.trigger_id, words.said_modal("_…_"))
    if opened:
        await messenger.update_modal(opened, await _window(services, invocation))
    else:
        await messenger.tell(invocation.recipient, invocation.too_slow)


async def _window(services: Services, invocation: Invocation) -> dict[str, Any]:
    """The window for a note, or why a release cannot be marked."""
    channel_id, author_id = orders.clicked_watch(invocation)
    refusal = await orders.refusal_of(services, invocation, channel_id)
    if refusal:
        return words.said_modal(refusal)
    try:
        watched = await releases.subject_at(
            services, Place(invocation.team_id, channel_id, author_id)
        )
    except ValueError as exc:
        return words.said_modal(str(exc))
    name = await services.members.name_of(author_id)
    running = await releases.running(services, watched.subject)
    state = ReleaseState(channel_id=channel_id, author_id=author_id, told_at=invocation.channel_id)
    return words.release_modal(state, name, watched.channel_ids, running, today_of(services))


async def _mark_with_note(
    services: Services, ack: AsyncAck, invocation: Invocation, view: Raw
) -> None:
    state = ReleaseState.of(view)
    channel_id = state.channel_id or ""
    refusal = await orders.refusal_of(services, invocation, channel_id)
    if refusal:
        await ack(response_action="update", view=words.said_modal(refusal))
        return
    values = view["state"]["values"]
    day = _chosen_day(values, today_of(services))
    if day is None:
        await ack(response_action="errors", errors={ids.BLOCK_DAY: words.NO_DAY})
        return
    await ack()
    await _mark(services, invocation, state, payloads.typed(values, ids.BLOCK_NOTE), day)


async def _mark(
    services: Services, invocation: Invocation, state: ReleaseState, note: str, day: date
) -> None:
    by = invocation.user_id
    place = Place(invocation.team_id, state.channel_id or "", state.author_id)
    said: Post | str
    try:
        said = await releases.mark(services, place, note, by, day)
    except ValueError as exc:
        said = str(exc)
    await services.messenger.tell(Recipient(by, state.told_at or place.channel_id), said)


def _chosen_day(values: Raw, today: date) -> date | None:
    """The day that was chosen; None if a release of that day cannot be compared."""
    chosen = payloads.field_of(values, ids.BLOCK_DAY).get("selected_date")
    day = date.fromisoformat(chosen) if chosen else today
    return day if today - words.COMPARED_FOR <= day <= today else None


async def _undo(services: Services, invocation: Invocation, _: Raw) -> None:
    channel_id, number = orders.clicked_watch(invocation)
    refusal = await orders.refusal_of(services, invocation, channel_id)
    if refusal:
        await services.messenger.tell(invocation.recipient, refusal)
        return
    place = Place(invocation.team_id, channel_id)
    said = await releases.take_back(services, place, number, invocation.user_id)
    await services.messenger.replace(invocation.recipient, said)
