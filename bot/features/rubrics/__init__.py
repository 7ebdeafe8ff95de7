"""The rubrics of a channel: what its replies are scored with, and the comparison before that
changes.
"""

from functools import partial

from sqlalchemy import select

from bot.feature import Feature, Services
from bot.features.rubrics import comparison, handlers, improvement
from bot.features.rubrics.queries import JudgeRequests
from bot.pipeline.engine import PeriodicJob
from bot.store.examples import Aim
from bot.store.schema import judge_requests

_HELP = """\
• `/judge rubric` shows and changes the rubric that replies here are scored with
• `/judge reference` shows and changes what replies here must agree with
• `/judge rubric improve` proposes a rubric that scores more like the people who labelled replies here"""


def feature(services: Services) -> Feature:
    resubmit = partial(JudgeRequests(services.store.database).resubmit, services.identity.team_id)
    return Feature(
        register=partial(handlers.register, services=services),
        words={
            "rubric": partial(handlers.answer, services),
            "reference": partial(handlers.answer_reference, services),
        },
        more_help=_HELP,
        jobs={
            Aim.COMPARE: lambda job: comparison.run(services, job.case_id),
            Aim.IMPROVE: lambda job: improvement.run(services, job.case_id),
        },
        periodic_jobs=[
            PeriodicJob("resubmit_judge_requests", resubmit, teams=select(judge_requests.c.team_id))
        ],
    )
