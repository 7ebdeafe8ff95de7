"""What came of the questions to watched assistants: answered and when, a colleague stepped in, asked
again.
"""

from functools import partial

import sqlalchemy as sa

from bot.domain.shared import AnswerCache
from bot.feature import Feature
from bot.features.outcome.alarm import alert
from bot.features.outcome.contradicted import Contradicted
from bot.features.outcome.figures import OutcomeFigures
from bot.features.outcome.reader import Reader
from bot.features.outcome.shown import WORD, Screens
from bot.features.outcome.signs import SignReader
from bot.pipeline.engine import PeriodicJob
from bot.services import Services
from bot.store import schema

_MORE_HELP = (
    "• `/judge contested @assistant` lists scores of this channel that the askers contradict"
)

_LOOKED_AT_EVERY_S = 300.0  # each watch's last day


def feature(services: Services) -> Feature:
    reader = Reader(services)
    figures = OutcomeFigures(services)
    screens = Screens(services, figures)
    watched = sa.select(schema.watches.c.team_id)
    return Feature(
        register=screens.register,
        words={WORD: screens.answer},
        more_help=_MORE_HELP,
        week_part=screens.week_part,
        week_details=screens.week_details,
        on_read=reader.note,
        standing_line=screens.standing_line,
        questions_of=screens.questions_of,
        release_lines=screens.release_lines,
        home_waiting=screens.home_waiting,
        alert=AnswerCache(partial(alert, services, figures), _LOOKED_AT_EVERY_S, most=1000).get,
        on_message=reader.note_deleted,
        periodic_jobs=[
            PeriodicJob("drop_old_messages", reader.drop_old, teams=watched),
            PeriodicJob("note_contradicted", Contradicted(services, figures).note, teams=watched),
            PeriodicJob("read_signs", SignReader(services).look, teams=watched),
        ],
    )
