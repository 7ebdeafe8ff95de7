"""The Home tab and `/judge recent`: what a person has asked for, and what the features show them."""

from slack_bolt.async_app import AsyncApp

from bot.feature import Feature, Services
from bot.features.home import handlers, recent
from bot.features.score.handlers import TextsModal

_HELP = "• `/judge recent` lists what you asked for"


def feature(services: Services) -> Feature:
    """The Home tab, with the sections of all features, and a person's recent cases."""
    tab = handlers.HomeTab(services)
    cases = recent.RecentCases(services.store.recent, services.own_cases, services.messenger, services.identity.url)
    window = TextsModal(services.choices, services.messenger)

    def register(app: AsyncApp) -> None:
        handlers.register(app, tab, window, services)
        recent.register(app, cases)

    return Feature(
        register=register, words={"recent": cases.answer}, help=_HELP, direct_help=_HELP, show_home=tab.publish
    )
