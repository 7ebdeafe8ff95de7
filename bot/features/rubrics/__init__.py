"""The rubrics of a channel: what its replies are scored with and must agree with."""

from functools import partial

from bot.feature import Feature
from bot.features.rubrics import handlers, reference
from bot.services import Services

_HELP = """\
• `/judge rubric` shows and changes the rubric that replies here are scored with
• `/judge reference` shows and changes what replies here must agree with"""


def feature(services: Services) -> Feature:
    return Feature(
        register=partial(handlers.register, services=services),
        words={
            "rubric": partial(handlers.answer, services),
            "reference": partial(reference.answer, services),
        },
        meant={"improve": "rubric edit"},
        more_help=_HELP,
    )
