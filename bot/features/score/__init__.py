"""Scoring: every way to ask for a score, and the buttons and windows of its verdict."""

from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.feature import Feature, Services
from bot.features.score import command, handlers, mentions, reactions
from bot.features.score.edits import EditsUpkeep
from bot.slack.channel_events import CHANGES
from bot.slack.messages import to_change
from bot.store.jobs import Task


def feature(services: Services) -> Feature:
    """The feature that every app has: other features may import it."""
    store, identity, intake, choices = services.store, services.identity, services.intake, services.choices
    window = handlers.TextsModal(choices, services.messenger)
    edits = EditsUpkeep(services.client, store)
    asking = reactions.Reactions(store.digests, store.thumbs, services.follows)
    to_set = reactions.ReactionCommand(asking, store.digests, services.access, services.messenger, identity.scopes)
    typed = command.TypedRequests(intake, choices, services.memberships, frozenset({identity.host}))
    said = mentions.Mentions(services.event_intake, services.lookup, identity.own_ids)
    put = reactions.ScoreReactions(services.event_intake, services.lookup, identity.own_ids)

    def register(app: AsyncApp) -> None:
        command.register(app, typed, window, services)
        handlers.register(app, intake, choices, services.messenger, identity.own_ids)
        handlers.modals_register(app, intake, choices, services.case_access)
        handlers.buttons_register(app, intake, choices, services.case_access, services.messenger)
        handlers.details_register(app, store.cases, store.assignments, services.case_access, services.messenger)
        mentions.register(app, said, window, services)
        reactions.register(app, put)

    async def note_change(body: Mapping[str, Any]) -> None:
        if body["event"].get("subtype") in CHANGES and (change := to_change(dict(body), identity.own_ids)):
            await edits.note(change)

    return Feature(
        register=register,
        words={"reaction": to_set.answer},
        help=command.HELP,
        direct_help=command.DIRECT_HELP,
        on_message=note_change,
        on_reaction=asking.take,
        jobs={Task.AMEND: lambda ticket: edits.amend(ticket.case_id)},
    )
