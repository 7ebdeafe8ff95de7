"""Rubrics of a channel: what its replies are scored by, and the comparison before that changes."""

from functools import partial

from bot.feature import Feature, Services
from bot.features.rubrics import comparison, handlers
from bot.store.jobs import JobKind

_HELP = "• `/judge rubric` shows and changes the rubric that replies here are scored with"


def feature(services: Services) -> Feature:
    """`/judge rubric` with its window, and the job that compares a new judge with the one in use."""
    judges = services.judges
    return Feature(
        register=partial(handlers.register, services=services),
        words={"rubric": partial(handlers.answer, services)},
        more_help=_HELP,
        jobs={JobKind.REPLAY: lambda payload: comparison.run(services, judges, payload.case_id)} if judges else {},
    )
