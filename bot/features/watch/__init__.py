"""Watches: a share of one assistant's replies in a channel is scored automatically, with alerts if
they get worse.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import sqlalchemy as sa
from slack_bolt.async_app import AsyncApp

from bot.domain.week import Week
from bot.feature import Feature, Named, Services, WeekBlocks
from bot.features.watch import first_hour, orders, releases, window
from bot.features.watch.alerts import Alerts
from bot.features.watch.figures import read_watched, watches_of
from bot.features.watch.looks import look
from bot.features.watch.new_models import NewModels
from bot.features.watch.news import tell_first, tell_low
from bot.features.watch.queries import Releases
from bot.features.watch.release_text import release_line
from bot.features.watch.releases import ReleaseLooks
from bot.features.watch.standings import StandingLooks
from bot.features.watch.text import home_blocks, not_read_since
from bot.features.watch.watcher import Watcher
from bot.features.watch.week_text import detail_blocks, watched_blocks
from bot.figures.week import TREND_WEEKS
from bot.pipeline.engine import PeriodicJob
from bot.slack.blocks import Block, context, section
from bot.slack.invocation import Invocation
from bot.store import schema
from bot.store.figures import Place

_MORE_HELP = (
    "• `/judge release @assistant new prompt` compares a watched assistant's scores before and "
    "after a change"
)
MOST_AT_HOME = 10
MOST_RELEASES = 3


def feature(services: Services) -> Feature:
    watcher = Watcher(services)

    def register(app: AsyncApp) -> None:
        window.register(app, watcher)
        orders.register(app, watcher)
        first_hour.register(app, services)
        releases.register(app, services)

    async def home_section(person: Invocation) -> Sequence[Block]:
        return home_blocks(*await watches_of(services, person, MOST_AT_HOME))

    async def week_blocks(place: Place, week: Week, now: datetime, named: Named) -> WeekBlocks:
        watched = await read_watched(services.store, place, week, now)
        members = await named([each.author_id for each in watched])
        blocks = watched_blocks(watched, members)
        unread = (await watcher.orders.unread(place.team_id, now)).get(place.channel_id or "")
        found = [
            each
            for each in await Releases(services.store.database).of(place)
            if each.author_id in members
        ]
        begun = week.before(TREND_WEEKS - 1).start  # with the trend
        lines = [
            release_line(each, members[each.author_id].name)
            for each in found
            if begun <= each.set_at < week.end
        ]
        blocks += [context(f"In the trend: {'; '.join(lines[:MOST_RELEASES])}")] if lines else []
        blocks += [section(not_read_since(unread))] if unread else []
        return blocks, detail_blocks(watched, members)

    async def release(place: Place, typed: str, by: str) -> str:
        return (await releases.mark_as_typed(services, place, typed, by)).text

    watched = sa.select(schema.watches.c.team_id)
    released = sa.select(schema.releases.c.team_id)
    return Feature(
        register=register,
        words={
            "watch": partial(window.answer_command, watcher),
            "release": partial(releases.answer, services),
        },
        meant={"alert": "watch"},
        help="• `/judge watch @assistant` scores an assistant's replies automatically",
        more_help=_MORE_HELP,
        on_message=watcher.note,
        follows=watcher.watches,
        periodic_jobs=[
            PeriodicJob("take_finished_replies", watcher.take_finished, teams=watched),
            PeriodicJob("look_for_replies", partial(look, watcher), teams=watched),
            PeriodicJob("look_at_standings", StandingLooks(services).look, teams=watched),
            PeriodicJob("send_due_alerts", Alerts(services).look, teams=watched),
            PeriodicJob("tell_low_replies", partial(tell_low, services), teams=watched),
            PeriodicJob("tell_first_figures", partial(tell_first, services), teams=watched),
            PeriodicJob("look_at_releases", ReleaseLooks(services).look, teams=released),
            PeriodicJob("tell_new_models", NewModels(services).look, teams=watched),
        ],
        home_section=home_section,
        week_blocks=week_blocks,
        release=release,
    )
