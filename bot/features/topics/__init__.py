"""What people ask watched assistants about, and what to write for them."""

import sqlalchemy as sa

from bot.feature import Feature
from bot.features.topics import text
from bot.features.topics.figures import TopicFigures
from bot.features.topics.shown import Screens
from bot.features.topics.sorting import TopicLooks
from bot.pipeline.engine import PeriodicJob
from bot.services import Services
from bot.store import schema
from judge.evaluation.topics import MOST_SORTED


def feature(services: Services) -> Feature:
    figures = TopicFigures(services)
    screens = Screens(services, figures)
    watched = sa.select(schema.watches.c.team_id)
    return Feature(
        register=screens.register,
        words={text.WORD: screens.answer},
        more_help=text.HELP,
        week_part=screens.week_part,
        change_by_topic=figures.change,
        requests_a_score=1 / MOST_SORTED,
        periodic_jobs=[PeriodicJob("sort_questions", TopicLooks(services).look, teams=watched)],
    )
