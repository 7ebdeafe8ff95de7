"""`/judge digest`: on, off, now, preview, and whether people are ranked."""

from dataclasses import dataclass, replace

from slack_sdk.errors import SlackApiError

from bot.digest.poster import Poster
from bot.extract.commands import DigestRequest, parse_digest
from bot.extract.invocation import Invocation
from bot.slack.access import Access, NoAccess
from bot.slack.errors import slack_word
from bot.slack.teller import Teller
from bot.store.digests import ChannelSettings
from bot.views.digest_settings import (
    POSTED,
    POSTED_BEFORE,
    digest_help,
    digest_state,
    no_access_text,
    not_posted,
    not_understood,
)
from bot.views.messages import sentence

_READS = {"preview", "state", "help"}


@dataclass(frozen=True)
class DigestCommand:
    """Shows and changes a channel's digest, for those who may.

    Attributes:
        poster: Computes and posts digests, and keeps what is set for them.
        access: Who may see and change them.
        teller: What answers.
    """

    poster: Poster
    access: Access
    teller: Teller

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Does what was asked, or says why not, to the person alone."""
        try:
            request = parse_digest(text)
        except ValueError as exc:
            await self._tell(invocation, not_understood(str(exc)))
            return
        is_change = request.action not in _READS
        if refusal := await self.access.refusal(invocation.channel_id, invocation.user_id, is_change):
            await self._tell(invocation, no_access_text(refusal))
            return
        await self._do(invocation, request)

    async def switch(self, invocation: Invocation, channel_id: str, *, is_on: bool) -> NoAccess | None:
        """Switches a channel's digest; why not, where this person may not."""
        if refusal := await self.access.refusal(channel_id, invocation.user_id, is_change=True):
            return refusal
        settings = await self.poster.digests.channel(invocation.team_id, channel_id)
        await self.poster.digests.save(settings.switched(is_on, self.poster.now()), invocation.user_id)
        return None

    async def _do(self, invocation: Invocation, request: DigestRequest) -> None:
        settings = await self.poster.digests.channel(invocation.team_id, invocation.channel_id)
        match request.action:
            case "help":
                await self._tell(invocation, digest_help())
            case "preview":
                await self._show(invocation, settings)
            case "now":
                await self._post(invocation, settings)
            case "state":
                await self._tell_state(invocation, settings)
            case _:
                changed = self._changed(settings, request)
                await self.poster.digests.save(changed, invocation.user_id)
                await self._tell_state(invocation, changed)

    def _changed(self, settings: ChannelSettings, request: DigestRequest) -> ChannelSettings:
        if request.action in {"on", "off"}:
            settings = settings.switched(request.action == "on", self.poster.now())
        return replace(settings, **request.changes)

    async def _show(self, invocation: Invocation, settings: ChannelSettings) -> None:
        try:
            await self.poster.show(settings, invocation.user_id)
        except SlackApiError as exc:
            await self._tell(invocation, not_posted(slack_word(exc)))

    async def _post(self, invocation: Invocation, settings: ChannelSettings) -> None:
        try:
            is_posted = await self.poster.post(settings)
        except SlackApiError as exc:
            await self._tell(invocation, not_posted(slack_word(exc)))
        else:
            await self._tell(invocation, POSTED if is_posted else POSTED_BEFORE)

    async def _tell_state(self, invocation: Invocation, settings: ChannelSettings) -> None:
        schedule = self.poster.schedule(settings)
        await self._tell(invocation, digest_state(settings, schedule, self.poster.now()))

    async def _tell(self, invocation: Invocation, text: str) -> None:
        await self.teller.tell(invocation.recipient, sentence(text))
