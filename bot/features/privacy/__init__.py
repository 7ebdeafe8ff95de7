"""Privacy: forgetting cases and a person's own words, and retention."""

from slack_bolt.async_app import AsyncApp

from bot.feature import Feature, Services
from bot.features.privacy import handlers
from bot.features.privacy.forgetting import ForgettingUpkeep, Retention
from bot.pipeline.engine import Duty

_ME = "• `/judge forget me` takes all words of your own out of my log"
_HELP = f"""\
• `/judge forget LINK` or `/judge forget NUMBER` deletes a case, with its texts and what I wrote about it
{_ME}"""
_DIRECT_HELP = f"• `/judge forget LINK` or `/judge forget NUMBER` deletes a case\n{_ME}"


def feature(services: Services) -> Feature:
    """`/judge forget`, and what deletes old cases every day."""
    store, identity, settings = services.store, services.identity, services.settings
    upkeep = ForgettingUpkeep(services.client, store.forgetting, store.personal_data, services.access)
    command = handlers.ForgetCommand(
        store.cases,
        upkeep,
        services.messenger,
        services.own_cases,
        frozenset({identity.host}),
        identity.url,
    )
    retention = Retention(
        store.forgetting,
        store.audit,
        store.replies,
        store.thumbs,
        settings.retention_days,
        keeps_text=settings.store_text == "full",
    )

    def register(app: AsyncApp) -> None:
        handlers.register(app, command)

    return Feature(
        register=register,
        words={"forget": command.answer},
        help=_HELP,
        direct_help=_DIRECT_HELP,
        duties=[Duty("forget_old_cases", retention.run)],
    )
