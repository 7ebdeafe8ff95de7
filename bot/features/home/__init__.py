"""The Home tab, with a person's cases and sections of other features, and `/judge recent`, which
lists their cases.
"""

from functools import partial

from bot.feature import Feature
from bot.features.home import handlers
from bot.services import Services

_HELP = "• `/judge recent` lists your cases"


def feature(services: Services) -> Feature:
    return Feature(
        register=partial(handlers.register, services=services),
        words={"recent": partial(handlers.recent, services)},
        help=_HELP,
        show_home=partial(handlers.show_home, services),
    )
