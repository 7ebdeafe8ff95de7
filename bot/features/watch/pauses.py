"""*Not for a week* on an alert: who pressed it hears no more of what they know. A channel's alerts
stop for all in it.

A change for the better, a single low reply, and that a watch does not work are told all the same.
"""

from collections.abc import Collection
from datetime import date, datetime, timedelta
from functools import partial

import sqlalchemy as sa
from slack_bolt.async_app import AsyncApp

from bot.domain.standing import Subject
from bot.features.watch import ids
from bot.features.watch.orders import refusal_of
from bot.features.watch.standing_text import day_words
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.messenger import Post, to_post
from bot.store import database as db
from bot.store.notices import day_of, key_of
from bot.store.schema import notices

_NAME = "pause"
_WEEK = timedelta(days=7)


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
    return ui.button("Not for a week", ids.ACTION_PAUSE, value)


def paused_notice(by: str, until: date, value: str) -> Post:
    return to_post(
        f"<@{by}> has paused these alerts until {day_words(until)}. A change for the better and "
        "single low replies are still told.",
        ui.actions(ui.button("Tell me again", ids.ACTION_RESUME, value)),
    )


def register(app: AsyncApp, services: Services) -> None:
    on_click(app, ids.ACTION_PAUSE, ids.ACTION_RESUME)(partial(_pause, services))


async def _pause(services: Services, person: Invocation, _: Raw) -> None:
    """Does what a person has pressed, for them or for the channel."""
    to = person.user_id if person.is_direct else person.channel_id
    refusal = "" if person.is_direct else await refusal_of(services, person, to)
    if refusal:
        await services.messenger.tell(person.recipient, refusal)
        return
    until = services.clock()
    if person.action == ids.ACTION_PAUSE:
        until += _WEEK
    channel_id, _colon, author_id = person.value.rpartition(":")
    subject = Subject(person.team_id, channel_id, author_id)
    await Pauses(services.store.database).save(subject, to, until)
    await _say(services, person, until.astimezone(services.schedule.zone).date())


async def _say(services: Services, person: Invocation, until: date) -> None:
    """Tells all who see the alert what a person has pressed."""
    messenger = services.messenger
    if person.action == ids.ACTION_PAUSE:
        notice = paused_notice(person.user_id, until, person.value)
        await messenger.post(person.channel_id, notice, thread_ts=person.message_ts)
    else:
        said = f"<@{person.user_id}> has these alerts sent again."
        await messenger.replace(person.recipient, said)
