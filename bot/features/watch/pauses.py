"""*Not for a week* on an alert: who pressed it hears no more of what they know. A channel's alerts
stop for all in it.

A change for the better, a single low reply, and that a watch does not work are told all the same.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from slack_bolt.async_app import AsyncApp

from bot.domain.standing import Subject
from bot.features.watch import ids
from bot.features.watch.orders import refusal_of
from bot.features.watch.standing_text import day_words
from bot.pipeline.quoting import change_posted
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack.client import SLACK_ERRORS
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.messenger import Posted
from bot.store import database as db
from bot.store.notices import day_of, key_of
from bot.store.schema import notices

_NAME = "pause"
_WEEK = timedelta(days=7)
_LABELS = {ids.ACTION_PAUSE: "Not for a week", ids.ACTION_RESUME: "Tell me again"}


class Pauses(db.StoreQueries):
    """Who does not want to hear more of a subject for now; a notice for each."""

    async def of(self, subject: Subject, now: datetime) -> Collection[str]:
        its = sa.select(notices.c.recipient).filter_by(**key_of(subject), name=_NAME)
        return await self._database.values(its.where(notices.c.claimed_at > now))

    async def save(self, subject: Subject, to: str, until: datetime) -> None:
        values = key_of(subject) | {"name": _NAME, "recipient": to, "claimed_at": until}
        values["day"] = day_of(until)
        await self._database.execute(db.upsert(self._database, notices, values))


def pause_button(subject: Subject) -> ui.Block:
    value = f"{subject.channel_id}:{subject.author_id}"
    return ui.button(_LABELS[ids.ACTION_PAUSE], ids.ACTION_PAUSE, value)


def register(app: AsyncApp, services: Services) -> None:
    @on_click(app, ids.ACTION_PAUSE, ids.ACTION_RESUME)
    async def pause(person: Invocation, _: Raw) -> None:
        refusal = ""
        if not person.is_direct:
            refusal = await refusal_of(services, person, person.channel_id, is_change=True)
        if refusal:
            await services.messenger.tell(person.recipient, refusal)
            return
        line = await _pause(services, person)

        async def change(blocks: Sequence[ui.Block]) -> list[ui.Block]:
            return with_pause(blocks, person.action, line)

        try:
            message = Posted(person.channel_id, person.message_ts)
            await change_posted(services.store, services.client, message, change)
        except SLACK_ERRORS:
            await services.messenger.tell(person.recipient, line)


async def _pause(services: Services, person: Invocation) -> str:
    """Does what a person has pressed, for them or for the channel; returns the line that says so."""
    until = services.clock()
    line = f"<@{person.user_id}> has these alerts sent again."
    if person.action == ids.ACTION_PAUSE:
        until += _WEEK
        day = day_words(until.astimezone(services.schedule.zone).date())
        line = (
            f"<@{person.user_id}> has paused these alerts until {day}. A change for the better "
            "and single low replies are still told."
        )
    channel_id, _, author_id = person.value.rpartition(":")
    to = person.user_id if person.is_direct else person.channel_id
    subject = Subject(person.team_id, channel_id, author_id)
    await Pauses(services.store.database).save(subject, to, until)
    return line


def with_pause(blocks: Sequence[ui.Block], pressed: str, line: str) -> list[ui.Block]:
    """An alert with the other button in place of the one pressed, and below it who pressed it."""
    other = ids.ACTION_RESUME if pressed == ids.ACTION_PAUSE else ids.ACTION_PAUSE
    changed = list[ui.Block]()
    for block in blocks:
        if block.get("block_id") == ids.BLOCK_PAUSED:
            continue
        elements = block.get("elements", ())
        if not any(each.get("action_id") in _LABELS for each in elements):
            changed.append(block)
            continue
        turned = [
            _turned(each, other) if each.get("action_id") in _LABELS else each for each in elements
        ]
        changed.append(block | {"elements": turned})
        changed.append(ui.context(line) | {"block_id": ids.BLOCK_PAUSED})
    return changed


def _turned(button: ui.Block, action_id: str) -> ui.Block:
    """The button with another label and meaning."""
    turned = button | ui.button(_LABELS[action_id], action_id)
    return ui.spoken(turned, button["accessibility_label"].partition(", ")[2])
