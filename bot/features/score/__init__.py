"""Scoring: every way to ask for a score, and the buttons and windows of its verdict.

Every app has this feature: other features may import it.
"""

from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.feature import Feature, Services
from bot.features.score import command, events, handlers
from bot.features.score.edits import EditsUpkeep
from bot.features.score.reactions import Reactions
from bot.slack.incoming import CHANGES
from bot.slack.messages import to_change
from bot.store.jobs import Task


def feature(services: Services) -> Feature:
    edits, reactions = EditsUpkeep(services.client, services.store), Reactions(services)

    def register(app: AsyncApp) -> None:
        for part in (command, handlers, events):
            part.register(app, services)

    async def note_change(body: Mapping[str, Any]) -> None:
        if body["event"].get("subtype") in CHANGES and (change := to_change(dict(body), services.identity.own_ids)):
            await edits.note(change)

    return Feature(
        register=register,
        words={"reaction": reactions.answer},
        help=command.HELP,
        direct_help=command.DIRECT_HELP,
        on_message=note_change,
        on_reaction=reactions.take,
        jobs={Task.AMEND: lambda ticket: edits.amend(ticket.case_id)},
    )
