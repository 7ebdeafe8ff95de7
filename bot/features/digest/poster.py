"""Posts every digest that is due, each exactly once.

A process claims a digest in the store before posting it, and settles the claim afterwards. If a
process takes over an abandoned claim, it first looks for the message in Slack. If Slack does not
let it look, it does not post again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from textwrap import fill
from typing import Any

import structlog
import typer

from bot.domain.week import Schedule, Week
from bot.feature import Services, WeekBlocks
from bot.features.digest import causes, ids, text
from bot.features.digest.queries import read_causes
from bot.figures.lowest import NOT_BLIND
from bot.figures.week import Figures, read_figures
from bot.slack import client
from bot.slack.members import Member, list_channels
from bot.slack.messages import find_marked, to_metadata
from bot.slack.messenger import Post
from bot.slack.mrkdwn import to_plain, to_terminal
from bot.store.assignments import EVERYBODY
from bot.store.channels import ChannelSettings
from bot.store.digests import LEASE, Claim, DigestStatus
from bot.store.figures import LowCase, Place, Span
from judge.evaluation.causes import MOST

# Well below the lease: when another process takes over the claim, the message is there or will
# never come.
_POST_TIMEOUT_S = 120
_LOOKS_BACK = timedelta(weeks=3)  # a digest of before then ends no week that is due now
_LOOKED_AT = 500  # low replies, of which the newest are listed and sorted
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
        week = schedule.latest(now)
        weeks = taken.get(settings.channel_id, {})
        if week.label in weeks or (settings.digest_since and week.end < settings.digest_since):
            continue
        ends = [
            datetime.fromisoformat(label) for label, may_be_there in weeks.items() if may_be_there
        ]
        if shifted := week.after(max(ends)) if ends else week:
            due.append((settings, shifted))
    return due


def schedule_of(services: Services, settings: ChannelSettings) -> Schedule:
    return services.schedule.changed(settings.digest_day, settings.digest_time, settings.digest_tz)


async def stats(
    services: Services, settings: ChannelSettings, author_id: str | None, subject: str, reader: str
) -> Post:
    """The week so far of a channel or of one author, as `subject` says in the title, to be shown to
    the `reader`.
    """
    week = this_week(services, settings)
    is_of_one = author_id is not None
    figures, (lead, details), listed = await _read(services, settings, week, author_id)
    if is_of_one:
        await services.store.assignments.note_told(
            settings.team_id, [case.id for case in figures.lowest], reader
        )
    url = services.identity.url
    place = Place(settings.team_id, settings.channel_id, author_id)
    found = (
        await read_causes(services.store.database, place, week.before().label) if is_of_one else {}
    )
    why = causes.cause_blocks(found, {}, (), " last week")
    counts = await services.store.thumbs.counts(place, Span(week.start, services.clock()))
    named = None if is_of_one else await assistants(services, [each.author_id for each in counts])
    thumbs = text.thumb_lines(counts, named)
    at = settings.channel_id
    return text.stats_message(
        figures, [*lead, *details], listed, url, at, subject, why, thumbs, has_lowest=is_of_one
    )


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
    found = None
    if not claim.is_first:
        since = week.end - timedelta(days=1)  # this machine's clock may be ahead of Slack's
        try:
            sought = find_marked(services.client, settings.channel_id, mark, since.timestamp())
            found = await client.or_refusal(sought)
        except client.RefusedCallError:
            return DigestStatus.UNCONFIRMED, None
    replies, _ = await low_replies(services, settings, week, _NAMES_WITHIN_S)
    await causes.look_into(services, Place(settings.team_id, settings.channel_id), week, replies)
    post, told = await draft(services, settings, week)
    if not await services.store.digests.renew(claim, services.clock()):
        return None, None
    async with asyncio.timeout(_POST_TIMEOUT_S):
        ts = await services.post_scores(
            settings.team_id, settings.channel_id, post, mark, told, EVERYBODY, found
        )
    return DigestStatus.POSTED, ts


def this_week(services: Services, settings: ChannelSettings) -> Week:
    return schedule_of(services, settings).current(services.clock())


async def draft(
    services: Services, settings: ChannelSettings, week: Week
) -> tuple[Post, Sequence[int]]:
    """A channel's digest, and the cases whose scores it tells."""
    figures, (lead, _), listed = await _read(
        services, settings, week, names_within_s=_NAMES_WITHIN_S
    )
    place = Place(settings.team_id, settings.channel_id)
    read = partial(read_causes, services.store.database)
    now = await read(place, week.label)
    before = await read(place, week.before().label)
    theirs = [
        (of.name, await read(replace(place, author_id=each), week.label))
        for each, of in listed.items()
        if now
    ]
    why = causes.cause_blocks(now, before, theirs)
    post = text.digest_message(
        figures, lead, listed, services.identity.url, settings.channel_id, why
    )
    return post, [case.id for case in figures.lowest]


async def preview(services: Services, channel_id: str) -> None:
    """Prints the digest of the last finished week of a channel. Nothing is posted."""
    settings = await services.store.channels.of(services.identity.team_id, channel_id)
    post, _ = await draft(
        services, settings, schedule_of(services, settings).latest(services.clock())
    )
    *_, plain = post.forms
    texts = (
        each.get("text") or each["elements"][0]
        for each in plain.blocks
        if each["type"] != "actions"
    )
    for said in (
        each["text"] for each in texts if each["text"] != NOT_BLIND
    ):  # which is about the buttons
        lines = to_terminal(to_plain(said)).splitlines()
        typer.echo("\n".join(fill(line, width=80) for line in lines) + "\n")


async def low_replies(
    services: Services,
    settings: ChannelSettings,
    week: Week,
    names_within_s: float = 0,
    author_id: str | None = None,
) -> tuple[Sequence[LowCase], Mapping[str, Member]]:
    """The newest low replies of a week by assistants, or by one of them, and these assistants."""
    place = Place(settings.team_id, settings.channel_id, author_id)
    span = Span(week.start, week.end)
    found = await services.store.tallies.newest_low(place, span, _LOOKED_AT)
    authors = sorted({case.author_id for case in found if case.author_id})
    listed = await assistants(services, authors, names_within_s)
    return [case for case in found if case.author_id in listed][:MOST], listed


def _week_of(services: Services, settings: ChannelSettings, which: str) -> Week:
    """The week that is given as its two ends; what follows them is not about it."""
    start, end = map(datetime.fromisoformat, which.split("/")[:2])
    return Week(start, end, schedule_of(services, settings).zone)


async def details(services: Services, settings: ChannelSettings, which: str) -> Post:
    figures, (_, of_features), _ = await _read(
        services, settings, _week_of(services, settings, which)
    )
    return text.details_message(figures, of_features)


async def low_list(
    services: Services, settings: ChannelSettings, which: str, reader: str
) -> tuple[Sequence[LowCase], Mapping[str, Member], Mapping[int, str]]:
    """The low replies of a week, given as its two ends, or of an author in it, for one person;
    authors and causes.
    """
    week = _week_of(services, settings, which)
    author_id = ([*which.split("/")[2:], None])[0]
    replies, listed = await low_replies(services, settings, week, author_id=author_id)
    await services.store.assignments.note_told(
        settings.team_id, [case.id for case in replies], reader
    )
    place = Place(settings.team_id, settings.channel_id)
    return replies, listed, await read_causes(services.store.database, place, week.label)


async def _read(
    services: Services,
    settings: ChannelSettings,
    week: Week,
    author_id: str | None = None,
    names_within_s: float = 0,
) -> tuple[Figures, WeekBlocks, Mapping[str, Member]]:
    place = Place(settings.team_id, settings.channel_id, author_id)
    listed: dict[str, Member] = {}

    async def choose(author_ids: Sequence[str]) -> Mapping[str, Member]:
        listed.update(await assistants(services, author_ids, names_within_s))
        return listed

    of_all = choose if author_id is None else None
    figures = await read_figures(services.store.tallies, place, week, services.clock(), of_all)
    return figures, await services.week_blocks(place, week, services.clock(), choose), listed


async def assistants(
    services: Services, author_ids: Sequence[str], names_within_s: float = 0
) -> Mapping[str, Member]:
    """Those of the authors who may be named: Slack says that they are bots."""
    members = await services.members.of_all(author_ids, names_within_s)
    return {each: member for each, member in members.items() if member.is_bot}
