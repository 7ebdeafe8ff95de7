"""Posts every digest that is due, each exactly once.

A process claims a digest in the store before posting it, and settles the claim afterwards. If a
process takes over an abandoned claim, it first looks for the message in Slack. If Slack does not
let it look, it does not post again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from textwrap import fill
from typing import Any

import structlog
import typer

from bot.domain.label import EVERYBODY
from bot.domain.week import Schedule, Week
from bot.feature import Named
from bot.features.digest import causes, ids, text
from bot.features.digest.channel_week import assistants, read_low, read_week
from bot.features.digest.past import read_when
from bot.figures.lowest import LowList, ids_of
from bot.figures.week import read_chosen, read_details
from bot.services import Services
from bot.slack import client
from bot.slack.blocks import Block
from bot.slack.members import list_channels
from bot.slack.messages import find_marked, to_metadata
from bot.slack.messenger import Post
from bot.slack.mrkdwn import to_plain, to_terminal
from bot.store.channels import ChannelSettings
from bot.store.digests import LEASE, Claim, DigestStatus
from bot.store.figures import Place, Span

# Well below the lease: when another process takes over the claim, the message is there or will
# never come.
_POST_TIMEOUT_S = 120
_LOOKS_BACK = timedelta(weeks=3)  # a digest of before then ends no week that is due now
_NAMES_WITHIN_S = 60.0  # as no person is waiting

logger = structlog.get_logger(__name__)


async def post_due(services: Services) -> None:
    """Posts the digest of every channel whose week is over; an error in one channel does not stop
    the others.
    """
    due = await _due(services, services.clock())
    if not due:
        return
    # With chat:write.public, a bot could still post in a public channel that it was removed from.
    listed = await list_channels(services.client)
    welcome = {channel_id for channel_id, channel in listed.items() if not channel.is_archived}
    for settings, week in due:
        place = {"channel": settings.channel_id, "week": week.label}
        try:
            await _post_claimed(services, settings, week, settings.channel_id in welcome)
        except client.SLACK_ERRORS as exc:
            logger.warning(
                "digest_interrupted", **place, error=client.slack_word(exc), again_in=str(LEASE)
            )
        except Exception as exc:  # the other channels get their digests all the same
            logger.error("digest_interrupted", **place, again_in=str(LEASE), exc_info=exc)


async def _due(services: Services, now: datetime) -> list[tuple[ChannelSettings, Week]]:
    due = list[tuple[ChannelSettings, Week]]()
    team_id = services.identity.team_id
    taken = await services.store.digests.taken(team_id, now - _LOOKS_BACK, now)
    for settings in await services.store.channels.wanted(team_id):
        try:
            schedule = schedule_of(services, settings)
        except ValueError as exc:  # a time zone that is unknown on this machine
            logger.warning("digest_without_schedule", channel=settings.channel_id, reason=str(exc))
            continue
        week = _untaken(schedule.latest(now), taken.get(settings.channel_id, {}))
        if week and (settings.digest_since is None or week.end >= settings.digest_since):
            due.append((settings, week))
    return due


def _untaken(week: Week, taken: Mapping[str, bool]) -> Week | None:
    """What a channel's latest digest does not tell of a week, if anything."""
    if week.label in taken:
        return None
    ends = [datetime.fromisoformat(label) for label, may_be_there in taken.items() if may_be_there]
    return week.after(max(ends)) if ends else week


def schedule_of(services: Services, settings: ChannelSettings) -> Schedule:
    return services.schedule.changed(settings.digest_day, settings.digest_time, settings.digest_tz)


async def _post_claimed(
    services: Services, settings: ChannelSettings, week: Week, is_welcome: bool
) -> None:
    claim = await services.store.digests.claim(
        settings.team_id, settings.channel_id, week.label, services.clock()
    )
    if claim is None:
        return
    mark = to_metadata(ids.METADATA_DIGEST, {"channel": settings.channel_id, "week": week.label})
    status: DigestStatus | None = DigestStatus.REFUSED
    ts = None
    try:
        if is_welcome:
            status, ts = await client.or_refusal(_post_once(services, claim, settings, week, mark))
    except client.RefusedCallError as exc:
        logger.warning(
            "digest_refused",
            channel=settings.channel_id,
            week=week.label,
            error=client.slack_word(exc),
        )
    if status is not None:
        await services.store.digests.settle(claim, status, ts)
        logger.info("digest_settled", channel=settings.channel_id, week=week.label, status=status)


async def _post_once(
    services: Services, claim: Claim, settings: ChannelSettings, week: Week, mark: dict[str, Any]
) -> tuple[DigestStatus | None, str | None]:
    """The status of the digest, and its ts; the status is None if another process has taken over
    the claim.
    """
    try:
        found = None if claim.is_first else await _earlier_post(services, settings, week, mark)
    except client.RefusedCallError:
        return DigestStatus.UNCONFIRMED, None
    await _look_into_causes(services, settings, week)
    post, told = await draft(services, settings, week)
    if not await services.store.digests.renew(claim, services.clock()):
        return None, None
    where = settings.team_id, settings.channel_id
    async with asyncio.timeout(_POST_TIMEOUT_S):
        ts = await services.post_scores(*where, post, mark, told, EVERYBODY, found)
    return DigestStatus.POSTED, ts


async def _look_into_causes(services: Services, settings: ChannelSettings, week: Week) -> None:
    place = Place(settings.team_id, settings.channel_id)
    span = Span(week.start, week.end)
    low = await read_low(services, place, span, names_within_s=_NAMES_WITHIN_S)
    await causes.look_into(services, place, week, low.replies)


async def _earlier_post(
    services: Services, settings: ChannelSettings, week: Week, mark: dict[str, Any]
) -> str | None:
    """The ts of the digest that an earlier holder of the claim has posted."""
    since = week.end - timedelta(days=1)  # this machine's clock may be ahead of Slack's
    sought = find_marked(services.client, settings.channel_id, mark, since.timestamp())
    return await client.or_refusal(sought)


def this_week(services: Services, settings: ChannelSettings) -> Week:
    return schedule_of(services, settings).current(services.clock())


async def sort_low(services: Services, place: Place, span: Span) -> None:
    """Sorts the low replies of a channel's assistant into causes."""
    settings = await services.store.channels.of(place.team_id, place.channel_id)
    low = await read_low(services, place, span)
    week = this_week(services, settings)
    await causes.look_into(services, place, week, low.replies, asks_for_points=False)


async def draft(
    services: Services, settings: ChannelSettings, week: Week, *, is_past: bool = False
) -> tuple[Post, Sequence[int]]:
    """A channel's digest, and the cases whose scores it tells."""
    place = Place(settings.team_id, settings.channel_id)
    shown = await read_week(services, place, week, is_past=is_past, names_within_s=_NAMES_WITHIN_S)
    post = text.week_message(shown, services.identity.url)
    return post, ids_of(shown.lowest)


async def preview(services: Services, channel_id: str, when: str) -> None:
    """Prints the digest of a channel's week, by default the last finished one. Nothing is posted.

    Raises:
        ValueError: `when` names no time.
    """
    settings = await services.store.channels.of(services.identity.team_id, channel_id)
    schedule = schedule_of(services, settings)
    now = services.clock()
    week = read_when(when or "last week", schedule, now)
    is_past = week.end < schedule.latest(now).end
    post, _ = await draft(services, settings, week, is_past=is_past)
    for block in post.blocks:
        if block["type"] == "section":
            lines = to_terminal(to_plain(block["text"]["text"])).splitlines()
            typer.echo("\n".join(fill(line, width=80) for line in lines) + "\n")


async def details(services: Services, settings: ChannelSettings, which: LowList) -> Post:
    """What a digest leaves out of its week, or of one assistant in it."""
    week = Week(which.start, which.end, schedule_of(services, settings).zone)
    place = Place(settings.team_id, settings.channel_id, which.author_id)
    named = partial(assistants, services)
    tallies = services.store.tallies
    chosen = await read_chosen(tallies, place, week, services.clock())
    found = await read_details(tallies, place, chosen)
    of_features = await _details_of_features(services, place, week, named)
    thumbs = await _thumbs(services, place, Span(week.start, chosen.until), named)
    return text.details_message(chosen, found, of_features, thumbs)


async def _thumbs(services: Services, place: Place, span: Span, named: Named) -> str:
    counts = await services.store.thumbs.counts(place, span)
    return text.thumb_lines(counts, await named([count.author_id for count in counts]))


async def _details_of_features(
    services: Services, place: Place, week: Week, named: Named
) -> Sequence[Block]:
    blocks = list[Block]()
    for feature in services.features:
        if feature.week_details:
            blocks += await feature.week_details(place, week, named)
    return blocks
