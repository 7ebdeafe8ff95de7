"""Tells that a judge's model will be shut down, from 60 days before."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from bot.domain.watch import Watch
from bot.features.watch.notices import hearers, tell_each
from bot.features.watch.queries import WatchOrders
from bot.services import Services
from bot.slack.messenger import Post, to_post
from bot.slack.mrkdwn import clip
from judge.scoring.model.retirement import Retirement

TOLD_BEFORE = timedelta(days=60)


class Retirements:
    """Asks once a day about the models of watches that send alerts."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._looked_on = date.min

    async def look(self) -> None:
        services = self._services
        today = services.clock().date()
        if self._looked_on == today:
            return
        for retirement, watches in (await self._near(today)).items():
            name = f"shutdown {retirement.model} {retirement.on}"
            await tell_each(services, hearers(watches), name, retirement_notice(retirement))
        self._looked_on = today

    async def _near(self, today: date) -> Mapping[Retirement, Sequence[Watch]]:
        """The retirements that are to be told, and the watches whose judges they concern."""
        services = self._services
        concerned = defaultdict[Retirement, list[Watch]](list)
        orders = WatchOrders(services.store.database)
        for watch in await orders.told_of(services.identity.team_id):
            if not watch.alerts_to or services.judges is None:
                continue
            judge = await services.judges.of_channel(watch.team_id, watch.channel_id)
            for retirement in await judge.retirements() if judge else ():
                if retirement.on - today <= TOLD_BEFORE:
                    concerned[retirement].append(watch)
        return concerned


def retirement_notice(retirement: Retirement) -> Post:
    instead = f" Its server names `{clip(retirement.replacement)}` instead."
    return to_post(
        f"The judge's model, `{clip(retirement.model)}`, will be shut down on "
        f"*{retirement.on:%d %B %Y}*.{instead if retirement.replacement else ''} Then no reply is "
        "scored. Whoever runs the app should set another one before; its scores begin anew."
    )
