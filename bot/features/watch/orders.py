"""What a channel has ordered to be watched: shown, set and ended, by those who may."""

from dataclasses import replace

from bot.domain.blocker import Refusal, RefusalKind
from bot.domain.watch import Shows, Watch
from bot.feature import Services
from bot.features.watch import text as words
from bot.features.watch.watcher import Watcher
from bot.pipeline.text import FOREIGN, no_channel_access_text, refusal_text
from bot.slack.client import REACTIONS
from bot.slack.invocation import Invocation


async def refusal_of(services: Services, invocation: Invocation, channel_id: str, *, is_change: bool) -> str:
    """Why this person may not see or not change what a channel watches; empty where they may."""
    if invocation.is_foreign:
        return FOREIGN
    if refusal := await services.access.refusal(channel_id, invocation.user_id, is_change):
        return no_channel_access_text(refusal)
    if is_change and not services.policy.allows_messages_of(channel_id):
        return refusal_text(Refusal(RefusalKind.CHANNEL_OFF))
    return ""


async def find_watch(services: Services, team_id: str, channel_id: str, author_id: str) -> Watch | None:
    watches = await services.store.watches.of(team_id, channel_id)
    return next((each for each in watches if each.author_id == author_id), None)


async def order_on(services: Services, invocation: Invocation, channel_id: str, author_id: str) -> Watch:
    """The watch on an assistant as it is set, or as it would begin: the person who sets it hears of it."""
    earlier = await find_watch(services, invocation.team_id, channel_id, author_id)
    new = Watch(invocation.team_id, channel_id, author_id, services.clock(), alerts_to=(invocation.user_id,))
    return earlier or new


async def save_order(watcher: Watcher, watch: Watch, by: str) -> str:
    """Records a watch; why not, where it was not."""
    if watch.shows is Shows.REACTION and REACTIONS not in watcher.services.identity.scopes:
        return words.NO_REACTIONS
    await watcher.save(watch, by)
    return ""


async def name_of(services: Services, author_id: str) -> str:
    return (await services.members.of(author_id)).name


async def tokens_of(services: Services, team_id: str, channel_id: str) -> int | None:
    """How many tokens the channel's watches may take together in a day; None is no limit."""
    return (await services.store.digests.channel(team_id, channel_id)).watch_tokens_per_day


async def save_tokens(services: Services, team_id: str, channel_id: str, tokens: int | None, by: str) -> None:
    settings = await services.store.digests.channel(team_id, channel_id)
    if settings.watch_tokens_per_day != tokens:
        await services.store.digests.save(replace(settings, watch_tokens_per_day=tokens), by)
