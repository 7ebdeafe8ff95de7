"""Forgetting: our messages in Slack first, then the case in the log, so that whoever is interrupted can ask again."""

from collections.abc import Awaitable, Iterator, Sequence
from datetime import timedelta

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.case import CaseStatus, LoggedCase
from bot.domain.clock import utc_now
from bot.features.privacy.text import Forgotten
from bot.slack.client import is_transient, slack_word
from bot.slack.members import Access
from bot.store import privacy as forgetting
from bot.store.audit import KEPT, Audit
from bot.store.cases import AT_REST
from bot.store.digests import Thumbs
from bot.store.privacy import Forgetting, Words
from bot.store.privacy import PersonalData as PersonalData
from bot.store.watches import Replies

_IS_GONE = "message_not_found"

logger = structlog.get_logger(__name__)


class ForgettingUpkeep:
    """Deletes cases for those who may ask for it: the requester, and an admin who is in the channel.

    Cases that nobody else could see (`LoggedCase.is_for_one`) are their requester's alone; to anybody else it is as if
    there were none, admins included. A person's words, in whosever cases, are taken out for that person alone.
    """

    def __init__(
        self, client: AsyncWebClient, log: forgetting.Forgetting, personal_data: PersonalData, access: Access
    ) -> None:
        self._client = client
        self._access = access
        self._log = log
        self.personal_data = personal_data

    async def linked(self, team_id: str, channel_id: str, ts: str, parent_ts: str | None) -> Sequence[LoggedCase]:
        return await self._log.cases_at(team_id, channel_id, ts, parent_ts)

    async def foresee(self, found: Sequence[LoggedCase], user_id: str) -> tuple[Sequence[LoggedCase], Forgotten]:
        """Which of these cases `forget` would delete for this person, and what of the others could be said.

        Raises:
            SlackApiError, aiohttp.ClientError, TimeoutError: Slack does not answer as it should just now.
        """
        theirs, others = await self._divide(found, user_id)
        unsettled = tuple(case.id for case in theirs if case.status not in AT_REST)
        return [case for case in theirs if case.status in AT_REST], Forgotten(unsettled=unsettled, others=len(others))

    async def forget(self, found: Sequence[LoggedCase], user_id: str) -> Forgotten:
        """Deletes of these cases what this person may delete.

        Raises:
            SlackApiError, aiohttp.ClientError, TimeoutError: Slack does not answer as it should just now; all cases
                are still in the log, and the same wish may be repeated.
        """
        theirs, others = await self._divide(found, user_id)
        at_rest = [case for case in theirs if case.status in AT_REST]
        errors = [await self._take_back(channel_id, ts) for channel_id, ts in _our_messages(at_rest)]
        gone = await self._log.forget([case.id for case in at_rest], user_id)
        if gone:
            await self._scrub()
        logger.info("cases_forgotten", cases=gone)
        return Forgotten(
            cases=tuple(sorted(gone)),
            messages=errors.count(None),
            errors=tuple(error for error in errors if error not in {None, _IS_GONE}),
            is_private=any(case.delivered_at and (case.is_private or case.blocked_by) for case in at_rest),
            unsettled=tuple(case.id for case in theirs if case.id not in gone),
            others=len(others),
        )

    async def forget_person(self, team_id: str, user_id: str) -> Words:
        """Takes a person's words out of the log; verdicts in Slack follow. Gives what was there."""
        gone = await self.personal_data.forget(team_id, user_id)
        self._log.scrubbed_at = None
        await self._scrub()
        logger.info("person_forgotten", cases=gone.cases, labels=gone.reasons)
        return gone

    async def _scrub(self) -> None:
        if not await self._log.scrub():
            logger.info("journal_in_use", left_to="the next minute")

    async def _divide(self, found: Sequence[LoggedCase], user_id: str) -> tuple[list[LoggedCase], list[LoggedCase]]:
        """The cases that are this person's to delete, and those that they may only know of."""
        own = [case for case in found if case.requester_id == user_id]
        shared = [case for case in found if case.requester_id != user_id and not case.is_for_one]
        if not shared or not await self._is_sure(self._access.is_in(shared[0].channel_id, user_id)):
            return own, []
        if await self._is_sure(self._access.is_admin(user_id)):
            return own + shared, []
        return own, shared

    @staticmethod
    async def _is_sure(answer: Awaitable[bool]) -> bool:
        try:
            return await answer
        except SlackApiError as exc:
            if is_transient(exc):
                raise
            return False

    async def _take_back(self, channel_id: str, ts: str) -> str | None:
        """Slack's error where a message of ours is still there, or was gone already; None where it was deleted."""
        try:
            await self._client.chat_delete(channel=channel_id, ts=ts)
        except SlackApiError as exc:
            if is_transient(exc):
                raise
            return slack_word(exc)
        return None


def _our_messages(found: Sequence[LoggedCase]) -> Iterator[tuple[str, str]]:
    """Channel and ts: replies first, since the parent of a thread that is not empty leaves a tombstone."""
    for case in found:
        if case.reply_ts:
            yield case.channel_id, case.reply_ts
    for case in found:
        if case.message_ts is None and case.parent_ts is None and case.thread_ts:
            yield case.channel_id, case.thread_ts


_UNANSWERED = timedelta(days=1)
_SENT_AGAIN_FOR = timedelta(days=1)  # by Slack at most: https://docs.slack.dev/apis/events-api
_SCRUBBED_EVERY = timedelta(days=1)


class Retention:
    """Deletes what is older than it may become.

    Args:
        forgetting: The log's part that deletes cases.
        audit: The log's part with a time of its own.
        replies: The log's part with what watches have seen.
        thumbs: The log's part with what people put under replies.
        days: How long a case is kept after it was asked for; None is for ever.
        keeps_text: Whether the log may keep texts; else a case whose question nobody has typed for a day, and which
            would keep its response as long, is deleted.
    """

    def __init__(
        self,
        forgetting: Forgetting,
        audit: Audit,
        replies: Replies,
        thumbs: Thumbs,
        days: int | None,
        *,
        keeps_text: bool,
    ) -> None:
        self._forgetting = forgetting
        self._audit = audit
        self._replies = replies
        self._thumbs = thumbs
        self._days = days
        self._keeps_text = keeps_text

    async def run(self) -> None:
        now, deleted = utc_now(), 0
        if self._days is not None:
            before = now - timedelta(days=self._days)
            deleted += await self._forgetting.forget_older(before)
            await self._replies.drop_older(before)
            await self._thumbs.drop_older(before)
        if not self._keeps_text:
            deleted += await self._forgetting.forget_older(now - _UNANSWERED, [CaseStatus.ASKED])
        if deleted:
            logger.info("cases_forgotten", older_than_days=self._days, cases=deleted)
        await self._thumbs.drop_taken_back(now - _SENT_AGAIN_FOR)
        await self._audit.drop_older(now - KEPT)
        await self._forgetting.drop_spent()
        scrubbed_at = self._forgetting.scrubbed_at
        if scrubbed_at is None or scrubbed_at < now - _SCRUBBED_EVERY:
            await self._forgetting.scrub()  # what somebody is reading right now stays for the next minute
