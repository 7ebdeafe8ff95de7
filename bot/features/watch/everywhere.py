"""Follows the orders for all public channels: keeps a watch in each of the app's."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import structlog

from bot.domain.watch import Watch
from bot.features.watch.watcher import Watcher
from bot.slack.members import MembershipError
from bot.store.watches import EVERYWHERE

logger = structlog.get_logger(__name__)


async def follow_orders(watcher: Watcher) -> None:
    """Makes the watches that follow from orders in the public channels that the app is in now, as
    far as Slack says so; changes and ends those that do not follow any more.

    A watch that somebody has set in a channel goes before.
    """
    services = watcher.services
    team_id = services.identity.team_id
    orders = await watcher.orders.of(team_id, EVERYWHERE)
    watches = await watcher.orders.of(team_id)
    derived = [watch for watch in watches if watch.is_derived]
    if not orders and not derived:
        return
    try:
        listed = await services.memberships.of()
    except MembershipError as exc:
        logger.warning("channels_not_listed", reason=str(exc))
        return
    public = [
        channel_id
        for channel_id, channel in listed.items()
        if not channel.is_private and services.policy.may_score(channel_id)
    ]
    own = {(watch.channel_id, watch.author_id) for watch in watches if not watch.is_derived}
    wanted = [
        replace(order, channel_id=channel_id, is_derived=True, is_private=False, except_in=())
        for order in orders
        for channel_id in public
        if channel_id not in order.except_in and (channel_id, order.author_id) not in own
    ]
    await _keep(watcher, wanted, derived)


async def _keep(watcher: Watcher, wanted: Sequence[Watch], derived: Collection[Watch]) -> None:
    """Records what differs between the watches that are wanted and those that are there."""
    there = {(watch.channel_id, watch.author_id): watch for watch in derived}
    now = watcher.services.clock()
    changed = list[Watch]()
    for watch in wanted:
        known = there.pop((watch.channel_id, watch.author_id), None)
        # Earlier replies are not read: the app may have come into the channel just now.
        watch = replace(watch, since=known.since if known else now)
        if watch != known:
            changed.append(watch)
    await watcher.derive(changed, list(there.values()))
