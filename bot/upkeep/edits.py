"""Brings verdicts in Slack up to date with what has become of the messages that they are about."""

import asyncio
from contextlib import suppress

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError

from bot.docket.delivery import Delivery
from bot.domain.case import LoggedCase
from bot.extract.events import Change
from bot.log import LapsedError, Log
from bot.log.edits import Changes
from bot.log.errors import LOG_ERRORS, in_brief
from bot.log.forgetting import Erasure

EVERY_S = 5.0

logger = structlog.get_logger(__name__)


class Revision:
    """Marks cases whose message was edited or deleted, and has their verdicts say so.

    The mark in the log comes first. The verdict follows, at once where it is there, else after it was delivered; what
    fails is tried again, and may be repeated without harm.
    """

    def __init__(self, log: Log, team_id: str, delivery: Delivery) -> None:
        self._team_id = team_id
        self._changes = Changes(log)
        self._erasure = Erasure(log)
        self._delivery = delivery
        self._is_due = asyncio.Event()

    async def note(self, change: Change) -> None:
        """Marks the cases of a changed message, if there are any."""
        place = (change.team_id, change.channel_id, change.ts)
        if change.text is None:
            marked = await self._changes.note_deleted(*place)
        else:
            marked = await self._changes.note_edited(*place, change.text)
        if marked:
            logger.info("message_deleted" if change.text is None else "message_edited", cases=marked)
            self._is_due.set()

    async def run_forever(self) -> None:
        """Brings up to date what is stale, at once and every few seconds, until cancelled."""
        while True:
            self._is_due.clear()
            try:
                await self.run()
            except LOG_ERRORS as exc:
                logger.error("revision_failed", reason=in_brief(exc), next_in_s=EVERY_S)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_due.wait(), EVERY_S)

    async def run(self) -> None:
        """Brings every stale verdict up to date; trouble with one keeps no other waiting."""
        stale = await self._changes.stale(self._team_id)
        for case in stale:
            try:
                await self._revise(case)
            except (SlackApiError, aiohttp.ClientError, TimeoutError, LapsedError) as exc:
                logger.warning("verdict_still_stale", case=case.id, error=type(exc).__name__, next_in_s=EVERY_S)
        if any(case.deleted_at for case in stale):
            await self._erasure.scrub()

    async def _revise(self, case: LoggedCase) -> None:
        if case.deleted_at:
            await self._changes.drop_texts(case)
        await self._delivery.amend(case)
        await self._changes.note_said(case)
