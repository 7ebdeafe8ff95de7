"""Privacy: forgetting cases and a person's own words, and retention."""

from functools import partial

from bot.feature import Feature
from bot.features.privacy import forgetting
from bot.features.privacy.retention import Retention
from bot.pipeline.engine import PeriodicJob
from bot.services import Services

_HELP = (
    "• `/judge forget NUMBER` or `/judge forget LINK` deletes a case, `/judge forget me` all "
    "of your own words"
)


def feature(services: Services) -> Feature:
    settings = services.settings
    retention = Retention(services.store, settings.retention_days, settings.text_days)
    return Feature(
        register=partial(forgetting.register, services=services),
        words={"forget": partial(forgetting.answer, services)},
        meant={"privacy": "forget"},
        help=_HELP,
        periodic_jobs=[PeriodicJob("forget_old_cases", retention.run, is_for_all=True)],
    )
