"""Watches: a channel has a share of one assistant's replies scored by itself, and hears when they get worse."""

from collections.abc import Sequence
from datetime import datetime

from slack_bolt.async_app import AsyncApp

from bot.domain.week import Week
from bot.feature import Feature, Named, Services
from bot.features.watch import handlers, window
from bot.features.watch.alerts import AlertDelivery, DriftAlerts
from bot.features.watch.backfill import OFTEN, SELDOM, Backfill, RecentReplies
from bot.features.watch.figures import WatchReader, read_watched
from bot.features.watch.form import WatchChecks
from bot.features.watch.orders import WatchOrders
from bot.features.watch.text import home_blocks, watched_lines
from bot.features.watch.watcher import Assistants, Watcher
from bot.pipeline.engine import Duty
from bot.slack.blocks import Block
from bot.slack.invocation import HomeVisit
from bot.store.figures import Place

_HELP = "• `/judge watch @assistant 1 in 5` scores a share of an assistant's replies by itself"
MOST_AT_HOME = 10


def feature(services: Services) -> Feature:
    """`/judge watch` with its window, the watcher, its backfill and its alerts."""
    store, identity, client = services.store, services.identity, services.client
    members, memberships, messenger = services.members, services.memberships, services.messenger
    watcher = Watcher(
        store, services.lookup, identity, services.limits, services.policy, services.rubrics, services.clock
    )
    backfill = Backfill(client, store, identity.team_id, SELDOM if services.settings.watch_by == "events" else OFTEN)
    delivery = AlertDelivery(client, memberships)
    drift_alerts = DriftAlerts(delivery, store, members, identity.team_id, identity.url)
    assistants = Assistants(client, members, identity.own_ids)
    reader = WatchReader(store, members, memberships, services.clock)
    orders = WatchOrders(watcher, reader, store, members, services.access, identity.scopes, services.clock)
    to_watch = window.WatchWindow(
        orders,
        assistants,
        RecentReplies(client, watcher),
        WatchChecks(members, memberships, identity.own_ids),
        services.rubrics,
        messenger,
        services.show_home,
        identity.url,
    )

    def register(app: AsyncApp) -> None:
        window.register(app, to_watch)
        handlers.register(app, handlers.AlertButton(orders, delivery, messenger))

    async def home_section(visit: HomeVisit) -> Sequence[Block]:
        return home_blocks(*await reader.of_person(visit.invocation.team_id, visit.invocation.user_id, MOST_AT_HOME))

    async def week_lines(place: Place, week: Week, now: datetime, named: Named) -> Sequence[str]:
        watched = await read_watched(store.tallies, store.replies, place, week, now)
        return watched_lines(watched, await named([each.author_id for each in watched]))

    return Feature(
        register=register,
        words={"watch": handlers.WatchCommand(orders, to_watch, assistants, messenger).answer},
        help=_HELP,
        on_message=watcher.note,
        follows=watcher.watches,
        duties=[
            Duty("take_finished_replies", watcher.take_finished),
            Duty("look_for_replies", backfill.look),
            Duty("send_due_alerts", drift_alerts.look),
        ],
        home_section=home_section,
        week_lines=week_lines,
    )
