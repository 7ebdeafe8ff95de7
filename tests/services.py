"""The app's services on a store, with a Slack that nobody asks."""

from bot.app import make_services
from bot.services import Services
from bot.settings import SLACK_API_URL, load_settings
from bot.slack.client import Identity, SlackClient
from bot.store import Store


def services_of(log: Store) -> Services:
    identity = Identity("T1", "acme", "https://acme.slack.com/", "U0", "judge", "B0", frozenset())
    settings = load_settings(
        env_file=None, slack_bot_token="xoxb-1", slack_app_token="xapp-1", openai_api_key="x"
    )
    return make_services(settings, log, SlackClient(None, SLACK_API_URL, None), identity)
