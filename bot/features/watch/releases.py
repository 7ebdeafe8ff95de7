"""Releases: marked in the series of an assistant, listed and taken back, by a command, a window or
an operator.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.domain.standing import Subject
from bot.domain.watch import Watch
from bot.features.watch import assistants, ids, orders, text
from bot.features.watch import release_text as words
from bot.features.watch.queries import Release, Releases
from bot.features.watch.release_text import GIVEN_UP, ReleaseState
from bot.features.watch.series import read_series, today_of
from bot.features.watch.standings import StandingLooks, place_of
from bot.services import Services
from bot.slack import invocation as payloads
from bot.slack.invocation import Invocation, Raw
from bot.slack.messenger import Post
from bot.store.figures import Place
from bot.store.standings import Standings
from judge.evaluation.standing import days_until_clear


async def answer(services: Services, invocation: Invocation, typed: str) -> Post | str:
    """Marks a release, lists those of the channel, or takes one back."""
    place = Place(invocation.team_id, invocation.channel_id)
    is_list = typed in {"", "list"}
    refusal = await orders.refusal_of(services, invocation, place.channel_id, is_change=not is_list)
    if refusal:
        return refusal
    if is_list:
        return await _listed(services, place)
    word, _, rest = typed.partition(" ")
    if word == "undo":
        return await _take_back(services, place, rest, invocation.user_id)
    try:
        return await mark_as_typed(services, place, typed, invocation.user_id)
    except ValueError as exc:
        return str(exc)


async def _listed(services: Services, place: Place) -> str:
    releases = await Releases(services.store.database).of(place)
    names = {
        author_id: await services.members.name_of(author_id)
        for author_id in {release.author_id for release in releases}
    }
    numbers = [release.id for release in releases]
    effects = await Standings(services.store.database).of_releases(numbers)
    return words.listed(releases, names, effects)


async def _take_back(services: Services, place: Place, number: str, by: str) -> Post | str:
    """Takes a release back, unless somebody has before, and says who did."""
    if not number.isdecimal():
        return words.NO_NUMBER
    releases = Releases(services.store.database)
    release = await releases.find(place, int(number[:9]))
    if release is None:
        return words.NO_RELEASE
    await releases.take_back(release, by, services.clock())
    taken_back = await releases.find(place, release.id) or release
    return words.undone_notice(taken_back, await services.members.name_of(release.author_id))


async def mark_as_typed(services: Services, place: Place, typed: str, by: str) -> Post:
    """Marks a release now, of the assistant whose name `typed` begins with; the rest is its note.

    Raises:
        ValueError: No watched assistant has that name.
    """
    names = await assistants.watched_names(services, place.team_id, place.channel_id)
    author_id, note = _split(typed.removeprefix("@"), names)
    return await mark(services, replace(place, author_id=author_id), note, by)


def _split(typed: str, names: Mapping[str, str]) -> tuple[str, str]:
    """The assistant with whose name or id a text begins, and what follows."""
    fitting = [
        (len(called), author_id)
        for author_id, name in names.items()
        for called in (author_id, name)
        if f"{typed} ".lower().startswith(f"{called} ".lower())
    ]
    if not fitting:
        raise ValueError(text.not_watched(typed.partition(" ")[0], list(names.values())))
    length, author_id = max(fitting)
    return author_id, typed[length:].strip()


async def mark(
    services: Services, place: Place, note: str, by: str, day: date | None = None
) -> Post:
    """Marks a release of the place's assistant now, or at the beginning of an earlier day; returns
    the answer.

    Raises:
        ValueError: The assistant is not watched there any more.
    """
    subject, watches = await _subject_at(services, place)
    releases = Releases(services.store.database)
    today = today_of(services)
    day = day or today
    set_at = services.clock()
    if day < today:
        set_at = datetime.combine(day, time(), services.schedule.zone).astimezone(UTC)
    running = [each for each in await _running(services, subject) if each.set_at <= set_at]
    release = await releases.add(subject, note[: words.NOTE_LENGTH], by, set_at, day)
    clear_on = await _clear_on(services, place_of(subject, watches), day)
    name = await services.members.name_of(subject.author_id)
    channels = [watch.channel_id for watch in watches]
    share = max(watch.share for watch in watches)
    when = words.when_compared(clear_on, release, share)
    return words.marked(release, name, place.channel_id, channels, running, when)


async def _clear_on(services: Services, place: Place, day: date) -> date | None:
    """When half a point would be seen of a release on that day; None if not within four weeks."""
    series = await read_series(services, place)
    if series is None:
        return None
    scale = series.kind.scale
    today = today_of(services)
    days = await asyncio.to_thread(days_until_clear, series.dated(), day, today, scale)
    return day + timedelta(days=days) if days else None


async def _subject_at(services: Services, place: Place) -> tuple[Subject, Sequence[Watch]]:
    """The subject of the place's watch, and all its watches."""
    subjects = await StandingLooks(services).subjects()
    for subject, watches in subjects.items():
        for watch in watches:
            if (watch.channel_id, watch.author_id) == (place.channel_id, place.author_id):
                return subject, watches
    raise ValueError(text.NOT_WATCHED)


async def _running(services: Services, subject: Subject) -> Sequence[Release]:
    """The releases of a subject that are being compared."""
    since = services.clock() - GIVEN_UP
    to_compare = await Releases(services.store.database).to_compare(subject.team_id, since)
    return [release for release in to_compare if release.subject == subject]


def register(app: AsyncApp, services: Services) -> None:
    messenger = services.messenger

    @payloads.on_click(app, ids.ACTION_RELEASE)
    async def open_window(invocation: Invocation, _: Raw) -> None:
        opened = await messenger.open_modal(invocation.trigger_id, words.said_modal("_…_"))
        if not opened:
            await messenger.tell(invocation.recipient, invocation.too_slow)
            return
        await messenger.update_modal(opened.id, await _window(services, invocation))

    @app.view(ids.VIEW_RELEASE)
    async def mark_with_note(ack: AsyncAck, body: dict[str, Any]) -> None:
        await _mark_with_note(services, ack, payloads.to_invocation(body), body["view"])

    @payloads.on_click(app, ids.ACTION_UNDO_RELEASE)
    async def undo(invocation: Invocation, _: Raw) -> None:
        channel_id, number = orders.clicked_watch(invocation)
        refusal = await orders.refusal_of(services, invocation, channel_id, is_change=True)
        if refusal:
            await messenger.tell(invocation.recipient, refusal)
            return
        place = Place(invocation.team_id, channel_id)
        said = await _take_back(services, place, number, invocation.user_id)
        await messenger.replace(invocation.recipient, said)


async def _mark_with_note(
    services: Services, ack: AsyncAck, invocation: Invocation, view: Raw
) -> None:
    state = ReleaseState.of(view)
    channel_id = state.channel_id or ""
    refusal = await orders.refusal_of(services, invocation, channel_id, is_change=True)
    if refusal:
        await ack(response_action="update", view=words.said_modal(refusal))
        return
    values = view["state"]["values"]
    today = today_of(services)
    chosen = payloads.field_of(values, ids.BLOCK_DAY).get("selected_date")
    day = date.fromisoformat(chosen) if chosen else today
    if not today - words.COMPARED_FOR <= day <= today:
        await ack(response_action="errors", errors={ids.BLOCK_DAY: words.NO_DAY})
        return
    await ack()
    place = Place(invocation.team_id, channel_id, state.author_id)
    note = payloads.typed(values, ids.BLOCK_NOTE)
    said: Post | str
    try:
        said = await mark(services, place, note, invocation.user_id, day)
    except ValueError as exc:
        said = str(exc)
    recipient = Recipient(invocation.user_id, state.told_at or channel_id)
    await services.messenger.tell(recipient, said)


async def _window(services: Services, invocation: Invocation) -> dict[str, Any]:
    """The window for a note, or why a release cannot be marked."""
    channel_id, author_id = orders.clicked_watch(invocation)
    refusal = await orders.refusal_of(services, invocation, channel_id, is_change=True)
    if refusal:
        return words.said_modal(refusal)
    try:
        place = Place(invocation.team_id, channel_id, author_id)
        subject, watches = await _subject_at(services, place)
    except ValueError as exc:
        return words.said_modal(str(exc))
    name = await services.members.name_of(author_id)
    channels = [watch.channel_id for watch in watches]
    running = await _running(services, subject)
    state = ReleaseState(channel_id=channel_id, author_id=author_id, told_at=invocation.channel_id)
    return words.release_modal(state, name, channels, running, today_of(services))
