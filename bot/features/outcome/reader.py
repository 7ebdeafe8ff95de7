"""Notes the messages of watched channels, as the watch reads them: who, when and whether it has
words, but no words.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from bot.domain.case import text_hash
from bot.domain.questions import Says, SeenMessage, to_time
from bot.domain.small_talk import is_small_talk
from bot.figures.outcomes import KEPT_FOR
from bot.pipeline.exchange import SAID
from bot.services import Services
from bot.slack.invocation import Raw
from bot.slack.messages import Message, to_change, to_message
from bot.store.seen_messages import SeenMessages

_MENTION = re.compile(r"@([UW][A-Z0-9]{2,})")
# What an assistant says before it answers.
_ANNOUNCES = re.compile(
    r"(?:let me|i'?ll|i will|i'm|one moment|just a (?:moment|second)|looking|checking|searching|"
    r"thinking|working on)\b.{0,100}(?:…|\.\.\.)",
    re.IGNORECASE | re.DOTALL,
)


class Reader:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._seen = SeenMessages(services.store.database)

    async def note(
        self, team_id: str, channel_id: str, assistants: Collection[str], raw: Raw
    ) -> None:
        """Notes a message of a channel where these assistants are watched."""
        own_ids = self._services.identity.own_ids
        message = to_message(raw)
        if message.subtype not in SAID or message.author_id in {None, *own_ids}:
            return
        await self._seen.note(to_seen(team_id, channel_id, assistants, message))

    async def note_deleted(self, body: Mapping[str, Any]) -> None:
        """Forgets a message that was deleted in Slack."""
        change = to_change(dict(body), self._services.identity.own_ids)
        if change and change.text is None:
            await self._seen.forget(body["team_id"], body["event"]["channel"], change.ts)

    async def drop_old(self) -> None:
        kept_since = self._services.clock() - KEPT_FOR
        await self._seen.drop(self._services.identity.team_id, kept_since)


def to_seen(
    team_id: str, channel_id: str, assistants: Collection[str], message: Message
) -> SeenMessage:
    mentions = {each for each in _MENTION.findall(message.text) if each in assistants}
    words = _MENTION.sub("", message.text).strip()
    is_whole = not message.is_unfinished and message.streaming != "errored"
    return SeenMessage(
        team_id=team_id,
        channel_id=channel_id,
        ts=message.ts,
        thread_ts=message.thread_ts,
        author_id=message.author_id or "",
        is_app=message.is_bots,
        says=_says(message, words),
        mentions=tuple(sorted(mentions)),
        text_hash=None if message.is_bots else text_hash(" ".join(words.lower().split())),
        finished_at=to_time(message.edited_ts or message.ts) if is_whole else None,
    )


def _says(message: Message, words: str) -> Says:
    is_announced = message.is_bots and _ANNOUNCES.fullmatch(words) is not None
    if not words or message.is_unfinished or is_announced:
        return Says.NOTHING
    return Says.THANKS if not message.is_bots and is_small_talk(words) else Says.WORDS
