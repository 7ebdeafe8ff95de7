"""Labels: people's own scores of a reply, with the judge's score in sight or blind."""

from collections.abc import Sequence

from slack_bolt.async_app import AsyncApp

from bot.feature import Feature, Services
from bot.features.labels import handlers
from bot.features.labels.blind import BlindWindow
from bot.slack import ids
from bot.slack.blocks import Block, button
from bot.slack.invocation import HomeVisit

_HELP = "• `/judge label` shows replies to score before you see the judge's score"
_DIRECT_HELP = "• `/judge label` shows replies of your channels to score before you see the judge's score"


def feature(services: Services) -> Feature:
    """Agree, disagree and one's own score under a verdict; `/judge label`, which asks for scores blind."""
    store, messenger = services.store, services.messenger
    window = BlindWindow(
        store.assignments, services.memberships, services.policy, messenger, services.rubrics, services.identity.url
    )
    command = handlers.LabelCommand(window, store.digests, services.access, messenger)

    def register(app: AsyncApp) -> None:
        handlers.register(app, store.cases, store.labels, store.assignments, services.case_access, messenger)
        handlers.blind_register(app, window, services)

    async def home_buttons(visit: HomeVisit) -> Sequence[Block]:
        waiting = await window.count(visit.invocation)
        return [button(f"Score a few blind ({waiting:,})", ids.ACTION_BLIND)] if waiting else []

    return Feature(
        register=register,
        words={"label": command.answer},
        help=_HELP,
        direct_help=_DIRECT_HELP,
        home_buttons=home_buttons,
    )
