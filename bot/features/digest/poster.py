"""Posts every digest that is due, each exactly once.

A digest is claimed in the log before it is posted, and the claim says so afterwards. Whoever takes over a claim that
was left behind looks for the message before posting it; where it may not look, nothing is posted again.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError

from bot.domain.week import Schedule, Week
from bot.feature import Services
from bot.features.digest.text import MOST_AUTHORS, digest_message, preview_message, stats_message, with_thumbs
from bot.figures.week import Figures, read_figures
from bot.slack import ids
from bot.slack.client import is_transient, slack_word
from bot.slack.members import Member, list_channels
from bot.slack.messages import find_marked, to_metadata
from bot.slack.messenger import WITHOUT_PREVIEWS, Post, send_in_known_blocks
from bot.store.digests import LEASE, ChannelSettings, Claim, DigestStatus
from bot.store.figures import Place, Span

# Well below the lease: whoever takes a claim over must find the message, or never meet it.
_POST_TIMEOUT_S = 120
# How long Slack may take to say who wrote the replies, while a person waits, and while nobody does.
_PATIENCE_S = 2.0
_ALONE_PATIENCE_S = 60.0

logger = structlog.get_logger(__name__)


class Poster:
    def __init__(self, services: Services) -> None:
        self.services = services
        self.digests = services.store.digests
        self.now = services.clock
        self._client = services.client
        self._identity = services.identity

    async def post_due(self) -> None:
        """Posts the digest of every channel whose week is over and due; trouble in one keeps no other waiting.

        Raises:
            SlackApiError: Slack does not say which channels we are in; nothing was claimed.
        """
        due = await self._due(self.now())
        if not due:
            return
        # A bot that was removed from a public channel could still post there, with chat:write.public.
        listed = await list_channels(self._client)
        welcome = {channel_id for channel_id, channel in listed.items() if not channel.is_archived}
        for settings, week in due:
            place = {"channel": settings.channel_id, "week": week.label}
            try:
                await self._post_claimed(settings, week, settings.channel_id in welcome)
            except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
                logger.warning("digest_interrupted", **place, error=slack_word(exc), again_in=str(LEASE))
            except Exception as exc:  # whatever it was, the other channels get theirs
                logger.error("digest_interrupted", **place, again_in=str(LEASE), exc_info=exc)

    async def _due(self, now: datetime) -> list[tuple[ChannelSettings, Week]]:
        due: dict[tuple[str, str], tuple[ChannelSettings, Week]] = {}
        for settings in await self.digests.wanted(self._identity.team_id):
            try:
                schedule = self.schedule(settings)
            except ValueError as exc:  # a time zone that this machine does not know
                logger.warning("digest_without_schedule", channel=settings.channel_id, reason=str(exc))
                continue
            week = schedule.latest(now)
            if settings.digest_since is None or schedule.due(week) >= settings.digest_since:
                due[settings.channel_id, week.label] = settings, week
        return [due[key] for key in await self.digests.open(self._identity.team_id, due, now)]

    def schedule(self, settings: ChannelSettings) -> Schedule:
        return self.services.schedule.changed(settings.digest_day, settings.digest_time, settings.digest_tz)

    async def draft_last(self, settings: ChannelSettings) -> Post:
        return await self._draft(settings, self._this_week(settings).before())

    async def stats(self, settings: ChannelSettings, author_id: str | None, subject: str) -> Post:
        """The figures of the week so far: of the channel, or of one author there; `subject` says of what."""
        week = self._this_week(settings)
        figures, lead, listed = await self._read(settings, week, _PATIENCE_S, author_id)
        post = stats_message(figures, lead, listed, self._identity.url, settings.channel_id, subject)
        place = Place(settings.team_id, settings.channel_id, author_id)
        thumbs = await self.services.store.thumbs.counts(place, Span(week.start, self.now()))
        named = await self.listed(settings, [each.author_id for each in thumbs]) if author_id is None else None
        return with_thumbs(post, thumbs, named)

    async def show(self, settings: ChannelSettings, user_id: str) -> None:
        """Shows the week so far to one person in the channel.

        Raises:
            SlackApiError: Slack will not have it.
        """
        digest = await self._draft(settings, self._this_week(settings), _PATIENCE_S)
        await send_in_known_blocks(preview_message(digest), partial(self._show_as, settings.channel_id, user_id))

    async def post(self, settings: ChannelSettings) -> bool:
        """Posts the week so far because somebody asked for it, unless somebody has within the hour.

        The weekly digest comes all the same.

        Raises:
            SlackApiError: Slack will not have it.
        """
        place, now = (settings.team_id, settings.channel_id), self.now()
        post = await self._draft(settings, self._this_week(settings), _PATIENCE_S)
        if not await self.digests.take_extra(*place, now):
            return False
        try:
            await send_in_known_blocks(post, partial(self._post_as, settings.channel_id, None))
        except SlackApiError:
            await self.digests.give_extra_back(*place, now)
            raise
        return True

    async def _post_claimed(self, settings: ChannelSettings, week: Week, is_welcome: bool) -> None:
        claim = await self.digests.claim(settings.team_id, settings.channel_id, week.label, self.now())
        if claim is None:
            return
        mark = to_metadata(ids.METADATA_DIGEST, {"channel": settings.channel_id, "week": week.label})
        status: DigestStatus | None = DigestStatus.REFUSED
        ts = None
        try:
            if is_welcome:
                status, ts = await self._post_once(claim, settings, week, mark)
        except SlackApiError as exc:
            if is_transient(exc):
                raise
            logger.warning("digest_refused", channel=settings.channel_id, week=week.label, error=slack_word(exc))
        if status is not None:
            await self.digests.settle(claim, status, self.now(), ts)
            logger.info("digest_settled", channel=settings.channel_id, week=week.label, status=status)

    async def _post_once(
        self, claim: Claim, settings: ChannelSettings, week: Week, mark: dict[str, Any]
    ) -> tuple[DigestStatus | None, str | None]:
        """What becomes of the digest, and its ts; no status where somebody else has taken it over."""
        if not claim.is_first:
            try:
                found = await find_marked(self._client, settings.channel_id, mark, week.end.timestamp())
            except SlackApiError as exc:
                if is_transient(exc):
                    raise
                return DigestStatus.UNCONFIRMED, None
            if found:
                return DigestStatus.POSTED, found
        post = await self._draft(settings, week)
        if not await self.digests.renew(claim, self.now()):
            return None, None
        async with asyncio.timeout(_POST_TIMEOUT_S):
            send = partial(self._post_as, settings.channel_id, mark)
            return DigestStatus.POSTED, await send_in_known_blocks(post, send)

    def _this_week(self, settings: ChannelSettings) -> Week:
        return Week.of(self.now(), self.schedule(settings).zone)

    async def _draft(self, settings: ChannelSettings, week: Week, patience_s: float = _ALONE_PATIENCE_S) -> Post:
        figures, lead, listed = await self._read(settings, week, patience_s)
        return digest_message(figures, lead, listed, self._identity.url, settings.channel_id)

    async def _read(
        self, settings: ChannelSettings, week: Week, patience_s: float, author_id: str | None = None
    ) -> tuple[Figures, Sequence[str], Mapping[str, Member]]:
        place = Place(settings.team_id, settings.channel_id, author_id)
        listed: dict[str, Member] = {}

        async def choose(author_ids: Sequence[str]) -> Collection[str]:
            listed.update(await self.listed(settings, author_ids, patience_s))
            return listed

        is_for_all = author_id is not None or settings.ranks_people
        figures = await read_figures(
            self.services.store.tallies, place, week, self.now(), None if is_for_all else choose
        )
        if author_id is None and is_for_all:
            busiest = [author.id for author in figures.authors[:MOST_AUTHORS]]
            await choose([*busiest, *(case.author_id for case in figures.lowest if case.author_id)])

        async def name(author_ids: Sequence[str]) -> Mapping[str, Member]:
            await choose(author_ids)
            return listed

        return figures, await self.services.week_lines(place, week, self.now(), name), listed

    async def listed(
        self, settings: ChannelSettings, author_ids: Sequence[str], patience_s: float = _PATIENCE_S
    ) -> Mapping[str, Member]:
        """Those of the authors whose scores the channel may see: bots, and people where it lists them."""
        members = await self.services.members.of_all(author_ids, patience_s)
        return {each: member for each, member in members.items() if member.is_bot or settings.ranks_people}

    async def _post_as(self, channel_id: str, metadata: dict[str, Any] | None, post: Post) -> str:
        answer = await self._client.chat_postMessage(
            channel=channel_id, text=post.text, blocks=post.blocks, metadata=metadata, **WITHOUT_PREVIEWS
        )
        return str(answer["ts"])

    async def _show_as(self, channel_id: str, user_id: str, post: Post) -> None:
        await self._client.chat_postEphemeral(channel=channel_id, user=user_id, text=post.text, blocks=post.blocks)
