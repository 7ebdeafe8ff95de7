"""`/judge watch`: which assistants are scored by themselves in a channel, and how many of their replies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.digest.poster import Poster
from bot.domain.watch import Coverage, Shows, Watch, together
from bot.extract.commands import WatchRequest, parse_watch
from bot.extract.invocation import Invocation
from bot.log import Store
from bot.log.counts import watched
from bot.slack.access import Access
from bot.slack.errors import slack_word
from bot.slack.scopes import REACTIONS
from bot.slack.teller import Teller
from bot.views import watch as words
from bot.views.digest_settings import no_access_text
from bot.views.messages import sentence
from bot.watching.assistants import Assistants, is_named
from bot.watching.watcher import Watcher

_BEFORE_TODAY = timedelta(days=6)  # with today a week


@dataclass(frozen=True)
class WatchCommand:
    """Shows and changes what a channel watches, for those who may change its digest.

    Attributes:
        watcher: Where watches are kept.
        store: Where its replies are counted.
        assistants: Who may be watched.
        poster: Knows the time.
        access: Who may see and change watches.
        teller: What answers.
        rubric: By which replies are scored.
        scopes: What the app was granted.
    """

    watcher: Watcher
    store: Store
    assistants: Assistants
    poster: Poster
    access: Access
    teller: Teller
    rubric: str
    scopes: frozenset[str]

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Does what was asked, or says why not, to the person alone."""
        try:
            request = parse_watch(text)
        except ValueError as exc:
            await self._tell(invocation, words.not_understood(str(exc)))
            return
        is_change = request.action != "state"
        if refusal := await self.access.refusal(invocation.channel_id, invocation.user_id, is_change):
            await self._tell(invocation, no_access_text(refusal))
            return
        watches = await self.store.watches.of(invocation.team_id, invocation.channel_id)
        await self._tell(invocation, await self._do(invocation, request, watches))

    async def _do(self, invocation: Invocation, request: WatchRequest, watches: Sequence[Watch]) -> str:
        names = await self._names(watches)
        if request.action == "state":
            return await self._state(invocation, watches, names)
        if request.action == "off":
            watch = next((each for each in watches if is_named(request.author, each.author_id, names)), None)
            if watch is None:
                return words.not_watched(request.author, [names[each.author_id] for each in watches])
            await self.watcher.end(watch, invocation.user_id)
            return words.ended(names[watch.author_id])
        try:
            found = await self.assistants.called(invocation.channel_id, request.author)
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            return words.not_read(slack_word(exc))
        author_id = next((each for each in found if is_named(request.author, each, found)), None)
        if author_id is None:
            return words.no_assistant(request.author, list(found.values()))
        earlier = next((each for each in watches if each.author_id == author_id), None)
        new = Watch(invocation.team_id, invocation.channel_id, author_id, self.rubric, self.poster.now())
        alerts_to = {"here": (invocation.channel_id,), "me": (invocation.user_id,), "off": ()}
        alert = request.alert or (None if earlier else "me")
        changes = {**request.changes, **({"alerts_to": alerts_to[alert]} if alert else {})}
        watch = replace(earlier or new, **changes)
        if watch.shows is Shows.REACTION and REACTIONS not in self.scopes:
            return words.NO_REACTIONS
        await self.watcher.save(watch, invocation.user_id)
        return words.begun(watch, found[author_id])

    async def _state(self, invocation: Invocation, watches: Sequence[Watch], names: Mapping[str, str]) -> str:
        since = f"{self.poster.now() - _BEFORE_TODAY:%Y-%m-%d}"
        counted = [(watch, await self._coverage(watch, since)) for watch in watches]
        settings = await self.store.digests.channel(invocation.team_id, invocation.channel_id)
        return words.state(counted, names, settings.watch_tokens_per_day)

    async def _coverage(self, watch: Watch, since: str) -> Coverage:
        found = await self.store.replies.coverage(watched(watch), since)
        return together(found.values())

    async def _names(self, watches: Sequence[Watch]) -> Mapping[str, str]:
        members = {watch.author_id: await self.poster.members.of(watch.author_id) for watch in watches}
        return {author_id: member.name for author_id, member in members.items()}

    async def _tell(self, invocation: Invocation, text: str) -> None:
        await self.teller.tell(invocation.recipient, sentence(text))
