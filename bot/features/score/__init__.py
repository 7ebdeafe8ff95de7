"""Scoring: every way to ask for a score, and the buttons and windows of its verdict.

Every app has this feature, so other features may import it.
"""

from functools import partial

from slack_bolt.async_app import AsyncApp

from bot.feature import Feature
from bot.features.score import command, edits, events, handlers
from bot.services import Services
from bot.store.jobs import JobKind


def feature(services: Services) -> Feature:
    chosen = events.ScoreReactions(services.store.channels.score_reactions, kept_s=30.0, most=1000)

    def register(app: AsyncApp) -> None:
        for part in (command, handlers, events):
            part.register(app, services)

    return Feature(
        register=register,
        words={"reaction": partial(events.answer_reaction, services, chosen)},
        help=command.HELP,
        more_help=command.MORE_HELP,
        on_message=partial(edits.note, services),
        on_reaction=partial(events.note_reaction, services, chosen),
        jobs={JobKind.AMEND: lambda payload: edits.amend(services, payload.case_id)},
    )
