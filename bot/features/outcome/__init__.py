"""What came of the questions to watched assistants: answered and when, a colleague stepped in, asked
again.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from bot.domain.standing import Subject
from bot.feature import Feature, Services
from bot.features.outcome.alarm import UnansweredAlarm
from bot.features.outcome.figures import OutcomeFigures
from bot.features.outcome.reader import Reader
from bot.features.outcome.signs import SignReader
from bot.features.outcome.text import outcome_line, waiting_blocks
from bot.pipeline.engine import PeriodicJob
from bot.slack.blocks import Block
from bot.slack.invocation import Invocation
from bot.slack.members import MembershipError
from bot.store import schema


def feature(services: Services) -> Feature:
    reader = Reader(services)
    figures = OutcomeFigures(services)

    async def standing_line(subject: Subject) -> str:
        return outcome_line(await figures.of(subject))

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
