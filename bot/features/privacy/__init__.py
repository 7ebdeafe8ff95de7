"""Privacy: forgetting cases and a person's own words, and retention."""

from functools import partial

from bot.feature import Feature, Services
from bot.features.privacy import forgetting
from bot.pipeline.engine import PeriodicJob

_ME = "• `/judge forget me` takes all words of your own out of my log"
_HELP = f"""\
• `/judge forget LINK` or `/judge forget NUMBER` deletes a case, with its texts and what I wrote about it
{_ME}"""
_DIRECT_HELP = f"• `/judge forget LINK` or `/judge forget NUMBER` deletes a case\n{_ME}"


def feature(services: Services) -> Feature:
    """`/judge forget`, and what deletes old cases every day."""
    settings = services.settings
    retain = partial(
        forgetting.retain, services.store, settings.retention_days, keeps_text=settings.store_text == "full"
    )
    return Feature(
        register=partial(forgetting.register, services=services),
        words={"forget": partial(forgetting.answer, services)},
        help=_HELP,
        direct_help=_DIRECT_HELP,
        periodic_jobs=[PeriodicJob("forget_old_cases", retain)],
    )
