"""What a channel has ordered to be watched: shown, set and ended, by those who may."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.domain.blocker import Refusal, RefusalKind
from bot.domain.clock import Clock
from bot.domain.watch import Shows, Watch
from bot.features.watch import text as words
from bot.features.watch.figures import WatchReader
from bot.features.watch.watcher import Watcher
from bot.pipeline.text import FOREIGN, no_channel_access_text, refusal_text
from bot.slack.access import Access
from bot.slack.client import REACTIONS
from bot.slack.invocation import Invocation
from bot.slack.members import Members
from bot.slack.messenger import Post
from bot.store import Store


@dataclass(frozen=True)
class WatchOrders:
    """Reads and changes watches, for those who may change a channel's digest."""

    watcher: Watcher
    reader: WatchReader
    store: Store
    members: Members
    access: Access
    scopes: frozenset[str]
    clock: Clock

    async def refusal(self, invocation: Invocation, channel_id: str, *, is_change: bool) -> str:
        """Why this person may not see or not change what a channel watches; empty where they may."""
        if invocation.is_foreign:
            return FOREIGN
        if refusal := await self.access.refusal(channel_id, invocation.user_id, is_change):
            return no_channel_access_text(refusal)
        if is_change and not self.watcher.serves(channel_id):
            return refusal_text(Refusal(RefusalKind.CHANNEL_OFF))
        return ""

    async def of(self, team_id: str, channel_id: str) -> Sequence[Watch]:
        return await self.store.watches.of(team_id, channel_id)

    async def on(self, invocation: Invocation, channel_id: str, author_id: str) -> Watch:
        """The watch on an assistant as it is set, or as it would begin: whoever sets it hears of it."""
        watches = await self.of(invocation.team_id, channel_id)
        new = Watch(invocation.team_id, channel_id, author_id, self.clock())
        earlier = next((each for each in watches if each.author_id == author_id), None)
        return earlier or replace(new, alerts_to=(invocation.user_id,))

    async def save(self, watch: Watch, by: str) -> str:
        """Records a watch; why not, where it was not."""
        if watch.shows is Shows.REACTION and REACTIONS not in self.scopes:
            return words.NO_REACTIONS
        await self.watcher.save(watch, by)
        return ""

    async def end(self, invocation: Invocation, channel_id: str, author_id: str) -> str:
        if refusal := await self.refusal(invocation, channel_id, is_change=True):
            return refusal
        await self.watcher.end(await self.on(invocation, channel_id, author_id), invocation.user_id)
        return words.ended((await self.members.of(author_id)).name)

    async def save_tokens(self, team_id: str, channel_id: str, tokens: int | None, by: str) -> None:
        settings = await self.store.digests.channel(team_id, channel_id)
        if settings.watch_tokens_per_day != tokens:
            await self.store.digests.save(replace(settings, watch_tokens_per_day=tokens), by)

    async def names(self, watches: Sequence[Watch]) -> Mapping[str, str]:
        return {watch.author_id: (await self.members.of(watch.author_id)).name for watch in watches}

    async def tokens(self, team_id: str, channel_id: str) -> int | None:
        return (await self.store.digests.channel(team_id, channel_id)).watch_tokens_per_day

    async def state(self, team_id: str, channel_id: str) -> Post:
        counted = await self.reader.of_channel(team_id, channel_id)
        return words.state(counted, await self.tokens(team_id, channel_id))
