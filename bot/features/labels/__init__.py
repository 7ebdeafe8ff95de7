"""Labels: people's own scores of a reply, given after they saw the judge's score, or blind."""

from collections.abc import Sequence
from functools import partial

from bot.feature import Feature
from bot.features.labels import blind, handlers, ids, invitations
from bot.pipeline.engine import PeriodicJob
from bot.services import Services
from bot.slack.blocks import Block, button, section
from bot.slack.invocation import Invocation


def feature(services: Services) -> Feature:

    async def home_waiting(person: Invocation) -> Sequence[Block]:
        keeps_text = services.store.assignments.keeps_text
        user_id = person.user_id
        if not (keeps_text and await blind.served_channels(services, user_id)):
            return []
        block = section("You can score replies of your channels before you see the judge's score.")
        return [block | {"accessory": button("Score a few blind", ids.ACTION_BLIND)}]

    return Feature(
        register=partial(handlers.register, services=services),
        words={"label": partial(handlers.answer, services)},
        help="• `/judge label` lets you score replies before you see the judge's score",
        periodic_jobs=[
            PeriodicJob(
                "ask_for_labels", partial(invitations.ask_due, services), teams=invitations.TEAMS
            )
        ],
        home_waiting=home_waiting,
    )
