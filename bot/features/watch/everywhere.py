"""Follows the orders for all public channels: keeps a watch in each of the app's."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import structlog

from bot.domain.watch import Watch
from bot.features.watch.watcher import Watcher
from bot.slack.members import Listed, MembershipError
from bot.store.watches import EVERYWHERE

logger = structlog.get_logger(__name__)


async def follow_orders(watcher: Watcher) -> None:
    """Makes the watches that follow from orders in the public channels that the app is in now, as
    far as Slack says so; changes and ends those that do not follow any more.

    A watch that somebody has set in a channel goes before.
    """
    memberships = watcher.services.memberships
    team_id = watcher.services.identity.team_id
    orders = await watcher.orders.of(team_id, EVERYWHERE)
    watches = await watcher.orders.of(team_id)
    derived = [watch for watch in watches if watch.is_derived]
    if not orders and not derived:
        return
    own = {(watch.channel_id, watch.author_id) for watch in watches if not watch.is_derived}
    try:
        # An older list may not have a channel in which another process has made a watch.
        wanted = _wanted(watcher, orders, await memberships.now(None), own)
    except MembershipError as exc:
        logger.warning("channels_not_listed", reason=str(exc))
        return
    await _keep(watcher, wanted, derived)


def _wanted(
    watcher: Watcher,
    orders: Sequence[Watch],
    listed: Mapping[str, Listed],
    own: Collection[tuple[str, str]],
) -> list[Watch]:
    """The watches that follow from the orders in these channels."""
    wanted = list[Watch]()
    for channel_id, channel in listed.items():
        is_closed = channel.is_private or channel.is_archived
        if is_closed or not watcher.services.policy.may_score(channel_id):
            continue
        for order in orders:
            if channel_id in order.except_in or (channel_id, order.author_id) in own:
                continue
            watch = replace(order, channel_id=channel_id, is_derived=True, except_in=())
            wanted.append(replace(watch, is_private=False))
    return wanted


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
