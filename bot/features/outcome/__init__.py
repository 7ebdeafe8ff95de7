"""What came of the questions to watched assistants: answered and when, a colleague stepped in, asked
again.
"""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from bot.domain.standing import Subject, subject_of
from bot.domain.week import Week
from bot.feature import Feature, Named, Services, WeekPart
from bot.features.outcome.alarm import UnansweredAlarm
from bot.features.outcome.figures import OutcomeFigures
from bot.features.outcome.lists import ContradictedLists
from bot.features.outcome.reader import Reader
from bot.features.outcome.signs import SignReader
from bot.features.outcome.text import (
    contested_line,
    outcome_line,
    shares_block,
    waiting_blocks,
)
from bot.pipeline.engine import PeriodicJob
from bot.slack.blocks import Block
from bot.slack.invocation import Invocation
from bot.slack.members import MembershipError
from bot.store import schema
from bot.store.figures import Place


async def _waiting_now(
    services: Services, figures: OutcomeFigures, place: Place
) -> Sequence[Block]:
    """What waits for one assistant in a channel."""
    if not place.author_id:
        return []
    waiting = await figures.waiting(place.team_id, [place.channel_id], place.author_id)
    questions = waiting.get(place.author_id, ())
    return waiting_now(questions, services.clock(), services.identity.url)


def feature(services: Services) -> Feature:
    reader = Reader(services)
    figures = OutcomeFigures(services)
    lists = ContradictedLists(services, figures)

    async def standing_line(subject: Subject) -> str:
        report = await figures.of(subject)
        lines = [outcome_line(report.outcomes)]
        if report.contested:
            lines.append(contested_line(report.contested))
        return "\n".join(lines)

    async def week_part(
        place: Place, _: Week, named: Named, known_at: datetime | None
    ) -> WeekPart:
        """What waits for one assistant in a channel, and the scores that askers contradict; nothing
        of the past.
        """
        if known_at or not place.channel_id:
            return WeekPart(frozenset(), [])
        blocks = await lists.blocks(place)
        if place.author_id:
            waiting = await figures.waiting(place.team_id, [place.channel_id], place.author_id)
            names = await named(list(waiting))
            listed = waiting_blocks(waiting, names, services.clock(), services.identity.url)
            blocks = [*listed, *blocks]
        return WeekPart(frozenset(), blocks)

    async def week_details(place: Place, _: Week, named: Named) -> Sequence[Block]:
        watches = await services.store.watches.of(place.team_id, place.channel_id)
        shown = [watch for watch in watches if place.author_id in {None, watch.author_id}]
        names = await named([watch.author_id for watch in shown])
        blocks = list[Block]()
        for watch in shown:
            report = await figures.of(subject_of(watch))
            member = names.get(watch.author_id)
            if member and report.settled:
                blocks.append(shares_block(member.name, report.settled, report.shares))
        return blocks

    async def home_waiting(person: Invocation) -> Sequence[Block]:
        """The questions that wait in channels of this person."""
        try:
            channels = await services.memberships.of(person.user_id)
        except MembershipError:
            return ()
        waiting = await figures.waiting(person.team_id, channels)
        names = await services.members.of_all(waiting)
        return waiting_blocks(waiting, names, services.clock(), services.identity.url)

    watched = sa.select(schema.watches.c.team_id)
    return Feature(
        register=lists.register,
        week_part=week_part,
        week_details=week_details,
        on_read=reader.note,
        standing_line=standing_line,
        home_waiting=home_waiting,
        alert=UnansweredAlarm(services, figures).alert,
        on_message=reader.note_deleted,
        periodic_jobs=[
            PeriodicJob("drop_old_messages", reader.drop_old, teams=watched),
            PeriodicJob("read_signs", SignReader(services).look, teams=watched),
        ],
    )
