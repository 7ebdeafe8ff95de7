"""Reading in Slack what a payload does not hold: the message behind a link, and the question of a response."""

import asyncio
from dataclasses import dataclass
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.case import LoggedCase, QuestionSource
from bot.extract.messages import Message, to_message

# A modal can be opened for 3 s after the click; the search for the question must leave time for that.
_QUESTION_TIMEOUT_S = 1.5
_MESSAGE_TIMEOUT_S = 10
_CLOSE_IN_TIME_S = 15 * 60
_MESSAGES_BEFORE = 20
_NOBODYS_WORDS = {
    "channel_join",
    "channel_leave",
    "channel_topic",
    "channel_purpose",
    "channel_name",
    "group_join",
}

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Question:
    """What is taken as the question, and where it stood."""

    text: str
    source: QuestionSource


class Lookup:
    """Reads messages and finds questions; what it may not see, or not in time, it does not find.

    Args:
        client: The bot's Web API client.
        own_ids: The app's own user and bot id; its messages are nobody's question.
    """

    def __init__(self, client: AsyncWebClient, own_ids: frozenset[str]) -> None:
        self._client = client
        self._own_ids = own_ids

    async def message(self, case: LoggedCase) -> Message | None:
        """The message that the case is about; None where it is gone or out of sight."""
        if case.message_ts is None:
            return None
        return await self._read(case, case.message_ts, case.parent_ts, _MESSAGE_TIMEOUT_S)

    async def question(self, case: LoggedCase) -> Question | None:
        """The thread's parent; for a message in the channel itself, the last one before it by somebody else."""
        if case.message_ts is None:
            return None
        if case.parent_ts:
            parent = await self._read(case, case.parent_ts, None, _QUESTION_TIMEOUT_S)
            return Question(parent.text, QuestionSource.PARENT) if parent and parent.text else None
        raws = await self._ask(
            case,
            "conversations.history",
            _QUESTION_TIMEOUT_S,
            latest=case.message_ts,
            oldest=f"{float(case.message_ts) - _CLOSE_IN_TIME_S:.6f}",
            limit=_MESSAGES_BEFORE,
        )
        before = (to_message(raw) for raw in raws if float(raw["ts"]) < float(case.message_ts))
        found = next((message for message in before if self._is_somebody_else(message, case)), None)
        return Question(found.text, QuestionSource.PREVIOUS) if found and found.text else None

    def _is_somebody_else(self, message: Message, case: LoggedCase) -> bool:
        return message.subtype not in _NOBODYS_WORDS and message.author_id not in {
            case.author_id,
            *self._own_ids,
        }

    async def _read(self, case: LoggedCase, ts: str, parent_ts: str | None, timeout_s: float) -> Message | None:
        span: dict[str, Any] = {"oldest": ts, "latest": ts, "inclusive": True}
        if parent_ts:
            raws = await self._ask(case, "conversations.replies", timeout_s, ts=parent_ts, **span)
        else:
            raws = await self._ask(case, "conversations.history", timeout_s, limit=1, **span)
        return next((to_message(raw) for raw in raws if raw["ts"] == ts), None)

    async def _ask(self, case: LoggedCase, method: str, timeout_s: float, **arguments: Any) -> list[dict[str, Any]]:
        try:
            async with asyncio.timeout(timeout_s):
                answer = await self._client.api_call(method, params={"channel": case.channel_id, **arguments})
        except TimeoutError:
            logger.warning("lookup_timed_out", case=case.id, method=method, timeout_s=timeout_s)
            return []
        except SlackApiError as exc:
            logger.info("lookup_refused", case=case.id, method=method, error=exc.response.get("error"))
            return []
        messages: list[dict[str, Any]] = answer.get("messages") or []
        return messages
