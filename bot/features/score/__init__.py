"""Scoring: every way to ask for a score, and the buttons and windows of its verdict.

Every app has this feature, so other features may import it.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.feature import Feature, Services
from bot.features.score import command, edits, events, handlers
from bot.slack.incoming import CHANGES
from bot.slack.messages import to_change
from bot.store.jobs import JobKind


def feature(services: Services) -> Feature:
    chosen = events.score_reactions(services)

    def register(app: AsyncApp) -> None:
        for part in (command, handlers, events):
            part.register(app, services)

    async def note_change(body: Mapping[str, Any]) -> None:
        if body["event"].get("subtype") in CHANGES and (change := to_change(dict(body), services.identity.own_ids)):
            await edits.note(services, change)

    return Feature(
        register=register,
        words={"reaction": partial(events.answer_reaction, services, chosen)},
        help=command.HELP,
        more_help=command.MORE_HELP,
        direct_help=command.DIRECT_HELP,
        on_message=note_change,
        on_reaction=partial(events.note_reaction, services, chosen),
        jobs={JobKind.AMEND: lambda payload: edits.amend(services, payload.case_id)},
    )
