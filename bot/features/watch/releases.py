"""Releases: marked in the series of an assistant, listed and taken back."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from bot.domain.standing import Subject
from bot.features.watch import assistants, orders, text
from bot.features.watch import release_text as words
from bot.features.watch.queries import Release, Releases
from bot.features.watch.release_text import GIVEN_UP
from bot.features.watch.series import read_series, today_of
from bot.features.watch.standing_queries import StandingSteps
from bot.features.watch.subjects import WatchedSubject, subjects_of
from bot.services import Services
from bot.slack.invocation import Invocation
from bot.slack.messenger import Post
from bot.store.figures import Place
from judge.evaluation.standing import days_until_clear


async def answer(services: Services, invocation: Invocation, typed: str) -> Post | str:
    """Marks a release, lists those of the channel, or takes one back."""
    place = Place(invocation.team_id, invocation.channel_id)
    word, _, rest = typed.partition(" ")
    is_list = word in {"", "list"}
    refusal = await orders.refusal_of(services, invocation, place.channel_id, is_change=not is_list)
    if refusal:
        return refusal
    if word == "undo":
        return await take_back(services, place, rest, invocation.user_id)
    try:
        if is_list:
            return await _listed(services, place, rest)
        return await mark_as_typed(services, place, typed, invocation.user_id)
    except ValueError as exc:
        return str(exc)


async def _listed(services: Services, place: Place, typed: str) -> str:
    """The releases of a channel, or only those of the assistant that was typed."""
    if typed:
        place, _ = await _split(services, place, typed)
    releases = await Releases(services.store.database).of(place)
    names = {
        author_id: await services.members.name_of(author_id)
        for author_id in {release.author_id for release in releases}
    }
    numbers = [release.id for release in releases]
    effects = await StandingSteps(services.store.database).of_releases(numbers)
    return words.listed(releases, names, effects)


async def take_back(services: Services, place: Place, number: str, by: str) -> Post | str:
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
    its_place, note = await _split(services, place, typed)
    return await mark(services, its_place, note, by)


async def _split(services: Services, place: Place, typed: str) -> tuple[Place, str]:
    """The place of the watched assistant with whose name or id a text begins, and what follows.

    Raises:
        ValueError: There is none.
    """
    names = await assistants.watched_names(services, place.team_id, place.channel_id)
    typed = typed.removeprefix("@")
    fitting = [
        (len(called), author_id)
        for author_id, name in names.items()
        for called in (author_id, name)
        if f"{typed} ".lower().startswith(f"{called} ".lower())
    ]
    if not fitting:
        raise ValueError(text.not_watched(typed.partition(" ")[0], list(names.values())))
    length, author_id = max(fitting)
    return replace(place, author_id=author_id), typed[length:].strip()


async def mark(
    services: Services, place: Place, note: str, by: str, day: date | None = None
) -> Post:
    """Marks a release of the place's assistant now, or at the beginning of an earlier day; returns
    the answer.

    Raises:
        ValueError: The assistant is not watched there any more.
    """
    watched = await subject_at(services, place)
    subject = watched.subject
    day = day or today_of(services)
    set_at = _begin_of(services, day)
    earlier = [each for each in await running(services, subject) if each.set_at <= set_at]
    releases = Releases(services.store.database)
    release = await releases.add(subject, note[: words.NOTE_LENGTH], by, set_at, day)
    when = await _when_compared(services, watched, release)
    name = await services.members.name_of(subject.author_id)
    return words.marked(release, name, place.channel_id, watched.channel_ids, earlier, when)


def _begin_of(services: Services, day: date) -> datetime:
    """The moment from which a release of a day is compared: now, or when an earlier day began."""
    if day == today_of(services):
        return services.clock()
    return datetime.combine(day, time(), services.schedule.zone).astimezone(UTC)


async def _when_compared(services: Services, watched: WatchedSubject, release: Release) -> str:
    """When it will be known what a release has changed."""
    series = await read_series(services, watched.place)
    clear_on = None
    if series:
        scale = series.kind.scale
        scores = series.dated()
        today = today_of(services)
        days = await asyncio.to_thread(days_until_clear, scores, release.day, today, scale)
        clear_on = release.day + timedelta(days=days) if days else None
    share = max(watch.share for watch in watched.watches)
    return words.when_compared(clear_on, release, share)


async def subject_at(services: Services, place: Place) -> WatchedSubject:
    """The subject of the place's watch.

    Raises:
        ValueError: There is none.
    """
    subjects = await subjects_of(services)
    for watched in subjects.values():
        if watched.subject.author_id == place.author_id and place.channel_id in watched.channel_ids:
            return watched
    raise ValueError(text.NOT_WATCHED)


async def running(services: Services, subject: Subject) -> Sequence[Release]:
    """The releases of a subject that are being compared."""
    since = services.clock() - GIVEN_UP
    to_compare = await Releases(services.store.database).to_compare(subject.team_id, since)
    return [release for release in to_compare if release.subject == subject]
