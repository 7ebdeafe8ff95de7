"""Watches: a share of one assistant's replies in a channel is scored automatically, with alerts if
they get worse.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import sqlalchemy as sa
from slack_bolt.async_app import AsyncApp

from bot.domain.week import Week
from bot.feature import Feature, Named, WeekPart
from bot.features.watch import first_hour, orders, pauses, release_window, releases, window
from bot.features.watch.alerts import Alerts
from bot.features.watch.everywhere import follow_orders
from bot.features.watch.figures import (
    MOST_AT_HOME,
    AssistantWeek,
    assistants_of,
    counted,
    read_assistants,
    read_details,
    watches_of,
)
from bot.features.watch.looks import look
from bot.features.watch.new_models import NewModels
from bot.features.watch.news import tell_first, tell_low
from bot.features.watch.queries import Releases, WatchOrders
from bot.features.watch.release_looks import ReleaseLooks
from bot.features.watch.retirements import Retirements
from bot.features.watch.standings import StandingLooks
from bot.features.watch.taking import Taker
from bot.features.watch.text import MOST_SHOWN, not_read_since, settings_blocks
from bot.features.watch.watcher import Watcher
from bot.features.watch.week_text import (
    detail_block,
    home_blocks,
    releases_in,
    week_blocks,
)
from bot.pipeline.engine import PeriodicJob
from bot.services import Services
from bot.slack.blocks import Block, section
from bot.slack.invocation import Invocation
from bot.store import schema
from bot.store.figures import Place

_HELP = """\
• `/judge watch @assistant` scores an assistant's replies automatically
• `/judge release @assistant new prompt` compares its scores before and after a change"""


def feature(services: Services) -> Feature:
    watcher = Watcher(services)
    looks = StandingLooks(services)

    def register(app: AsyncApp) -> None:
        window.register(app, watcher)
        orders.register(app, watcher)
        first_hour.register(app, watcher)
        release_window.register(app, services)
        pauses.register(app, services)

    return Feature(
        register=register,
        words={
            "watch": partial(window.answer_command, watcher),
            "release": partial(releases.answer, services),
        },
        meant={"alert": "watch"},
        help=_HELP,
        on_message=watcher.note,
        follows=watcher.watches,
        periodic_jobs=_periodic_jobs(services, watcher, looks),
        home_section=partial(_home_section, services),
        home_settings=partial(_home_settings, services),
        week_part=partial(_week_part, services, looks),
        week_details=partial(_week_details, services),
        release=partial(_release, services),
    )


def _periodic_jobs(
    services: Services, watcher: Watcher, looks: StandingLooks
) -> Sequence[PeriodicJob]:
    watched = sa.select(schema.watches.c.team_id)
    released = sa.select(schema.releases.c.team_id)
    of_watches: Mapping[str, Callable[[], Awaitable[object]]] = {
        "follow_watches_everywhere": partial(follow_orders, watcher),
        "take_finished_replies": Taker(services).take_finished,
        "look_for_replies": partial(look, watcher),
        "look_at_standings": looks.look,
        "send_due_alerts": Alerts(services).look,
        "tell_low_replies": partial(tell_low, services),
        "tell_first_figures": partial(tell_first, services),
        "tell_new_models": NewModels(services).look,
        "tell_retirements": Retirements(services).look,
    }
    jobs = [PeriodicJob(name, run, teams=watched) for name, run in of_watches.items()]
    return [*jobs, PeriodicJob("look_at_releases", ReleaseLooks(services).look, teams=released)]


async def _home_section(services: Services, person: Invocation) -> Sequence[Block]:
    assistants, more = await assistants_of(services, person)
    return home_blocks(assistants, more, services.clock(), services.low_button)


async def _home_settings(services: Services, person: Invocation) -> Sequence[Block]:
    watches = await watches_of(services, person)
    shown = await counted(services, watches[:MOST_AT_HOME])
    return settings_blocks(shown, len(watches) - len(shown))


async def _week_part(
    services: Services, looks: StandingLooks, place: Place, week: Week, named: Named, is_past: bool
) -> WeekPart:
    assistants = await read_assistants(services, place, week, is_past=is_past)
    if any(each.channels and each.standing is None for each in assistants):
        # The first day of a watch, or of the app.
        await looks.look_first()
        assistants = await read_assistants(services, place, week, is_past=is_past)
    members = await named([each.author_id for each in assistants])
    blocks = [*week_blocks(assistants, members, week), *await _unread(services, place)]
    return WeekPart(frozenset(each.author_id for each in assistants), blocks)


async def _unread(services: Services, place: Place) -> Sequence[Block]:
    """That the channel cannot be read, if so."""
    orders = WatchOrders(services.store.database)
    unread = (await orders.unread(place.team_id, services.clock())).get(place.channel_id)
    return [section(not_read_since(unread))] if unread else []


async def _week_details(
    services: Services, place: Place, week: Week, named: Named
) -> Sequence[Block]:
    assistants = await read_assistants(services, place, week)
    members = await named([each.author_id for each in assistants])
    blocks = list[Block]()
    for assistant in [each for each in assistants if each.author_id in members][:MOST_SHOWN]:
        name = members[assistant.author_id].name
        blocks += await _details_of(services, place, week, assistant, name)
    return blocks


async def _details_of(
    services: Services, place: Place, week: Week, assistant: AssistantWeek, name: str
) -> Sequence[Block]:
    its = replace(place, author_id=assistant.author_id)
    details = await read_details(services, its, week)
    marked = releases_in(await Releases(services.store.database).of(its), week)
    block = detail_block(assistant, name, details, marked, week)
    return [block] if block else []


async def _release(services: Services, place: Place, typed: str, by: str) -> str:
    return (await releases.mark_as_typed(services, place, typed, by)).text
