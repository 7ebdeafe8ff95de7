"""Releases: marked, listed, taken back, and compared with the time before once enough is scored."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import ceil
from statistics import fmean, pstdev

from slack_bolt.async_app import AsyncApp

from bot.domain.clock import utc_week
from bot.domain.watch import LATE, Watch
from bot.feature import Services
from bot.features.watch import ids, orders, text
from bot.features.watch.notices import tell_once
from bot.features.watch.queries import Notices, Release, Releases, watched
from bot.figures.quality import by_whom
from bot.figures.week import FEWEST
from bot.slack.invocation import Invocation, Raw, on_click
from bot.store.figures import BEGINNING, Kind, Place, Span, TimedScore
from bot.store.visibility import Origin
from bot.store.watches import JUDGE
from judge.evaluation.stats import (
    MeanEstimate,
    MeanEstimator,
    are_corrected,
    labelled_shares,
    minus,
)
from judge.scoring.rubric import Scale

REFERENCE = timedelta(days=28)
_Read = tuple[Sequence[TimedScore], MeanEstimate]
_FEWEST = 20
_MOST = 200
# how far the interval of a difference should reach at most to each side, as a share of the scale
_WIDTH = 0.1


def replied_at(score: TimedScore) -> datetime:
    return datetime.fromtimestamp(float(score.message_ts), UTC)


async def answer(services: Services, invocation: Invocation, typed: str) -> str:
    """Marks a release, lists those of the channel, or takes one back."""
    place = Place(invocation.team_id, invocation.channel_id)
    is_list = typed in {"", "list"}
    if refusal := await orders.refusal_of(
        services, invocation, place.channel_id, is_change=not is_list
    ):
        return refusal
    releases = Releases(services.store.database)
    (word, _, rest) = typed.partition(" ")
    if is_list:
        found = await releases.of(place)
        return text.releases(
            [(each, await services.members.name_of(each.author_id)) for each in found]
        )
    if word == "undo":
        is_undone = rest.isdecimal() and await releases.take_back(
            place, int(rest[:9]), services.clock()
        )
        return text.undone(rest) if is_undone else text.NO_RELEASE
    try:
        return await mark(services, place, typed, invocation.user_id)
    except ValueError as exc:
        return str(exc)


def register(app: AsyncApp, services: Services) -> None:
    @on_click(app, ids.ACTION_RELEASE)
    async def mark_without_note(invocation: Invocation, _: Raw) -> None:
        channel_id, author_id = orders.clicked_watch(invocation)
        said = await answer(services, replace(invocation, channel_id=channel_id), author_id)
        await services.messenger.tell(invocation.recipient, said)


async def mark(services: Services, place: Place, typed: str, by: str) -> str:
    """Marks a release now, of the assistant whose name `typed` begins with; returns the answer.

    Raises:
        ValueError: No watched assistant has that name.
    """
    names = await orders.watched_names(services, place.team_id, place.channel_id)
    lower = f"{typed.removeprefix('@').lower()} "
    called = {each: author_id for author_id, name in names.items() for each in (author_id, name)}
    meant = max(
        (each for each in called if lower.startswith(f"{each.lower()} ")), key=len, default=None
    )
    if meant is None:
        raise ValueError(
            text.not_watched(typed.removeprefix("@").partition(" ")[0], list(names.values()))
        )
    now = services.clock()
    author_id = called[meant]
    its = Place(place.team_id, place.channel_id, author_id, Origin.WATCHED)
    scores = await services.store.tallies.in_order(its, Span(now - REFERENCE, now))
    low, high = scores[-1].kind.scale if scores else Scale(0, 5)
    recent = [each.score for each in scores if each.kind == scores[-1].kind]
    spread = pstdev(recent) if len(recent) >= FEWEST else (high - low) / 4
    needed = min(max(ceil(2 * (1.96 * spread / (_WIDTH * (high - low))) ** 2), _FEWEST), _MOST)
    note = typed.removeprefix("@")[len(meant) :].strip()
    await Releases(services.store.database).add(its, note, by, now, needed)
    return text.released(names[author_id], note, needed, by)


async def tell_releases(services: Services) -> None:
    """Tells who set a release, and who hears of its watch, how the scores compare; after four weeks
    in any case.
    """
    notices = Notices(services.store.database)
    now = services.clock()
    for watch in await services.store.watches.of(services.identity.team_id):
        found = await Releases(services.store.database).of(watched(watch))
        times = [now, *(each.set_at for each in found), BEGINNING]
        for release, until, earlier in zip(found, times, times[2:], strict=False):
            to = dict.fromkeys(
                (*watch.alerts_to, *([] if release.set_by.startswith("os:") else [release.set_by]))
            )
            told = replace(watch, alerts_to=tuple(to))
            name = f"release {release.id}"
            is_due = release.set_by != JUDGE and now < release.set_at + 2 * REFERENCE
            if is_due and not await notices.is_settled(told, name, now):
                await _compare(services, told, release, Span(earlier, until))


async def _compare(services: Services, watch: Watch, release: Release, around: Span) -> None:
    """Tells what became of the scores between the releases before and after it, unless too few are
    scored yet.
    """

    async def read(start: datetime, end: datetime, kind: Kind | None = None) -> _Read | None:
        scores = await services.store.tallies.in_order(watched(watch), Span(start, end + LATE))
        its = [each for each in scores if start <= replied_at(each) < end]
        kind = kind or (its[-1].kind if its else None)
        if kind is None:
            return None
        mean = MeanEstimator(kind.scale)
        its = [each for each in its if each.kind == kind]
        shares = labelled_shares((utc_week(each.judged_at), each.id in labels, 1) for each in its)
        for each in its:
            share = shares[utc_week(each.judged_at)]
            mean.add(each.score, labels.get(each.id), probability=share, cluster=each.thread_ts)
        estimate = mean.estimate()
        return (its, estimate) if estimate and estimate.n >= FEWEST else None

    labels = {
        case_id: fmean(score for _, score in by_whom(given, float))
        for case_id, given in await services.store.tallies.given(watched(watch))
    }
    after = await read(release.set_at, around.end)
    is_over = around.end >= release.set_at + REFERENCE
    if after is None or (after[1].n < release.needed and not is_over):
        return
    start = max(release.set_at - (around.end - release.set_at), around.start)
    before = await read(start, release.set_at, after[0][0].kind)
    found = [each[1] for each in (after, before) if each]
    labelled = sum(each.labelled for each in found) if are_corrected(*found) else 0
    means = [
        (each.corrected if labelled else None) or each.judge for each in found
    ]  # as people would score, if known
    moved = minus(*means) if before else None
    name = await services.members.name_of(watch.author_id)
    title = f"release {release.id}"
    replies = [each.n for each in found]
    post = text.release_compared(watch, name, release, means, replies, moved, labelled)
    await tell_once(services, watch, title, post)
