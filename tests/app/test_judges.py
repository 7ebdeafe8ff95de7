"""The app's judges and the client that they share."""

import subprocess
import sys

import pytest

from bot.judges import open_judges
from bot.settings import load_settings
from judge import SetupError

START = """
import asyncio, sys
import bot.app
from bot.judges import open_judges
from bot.settings import load_settings
from judge import load_rubric

async def main():
    given = dict(slack_bot_token="xoxb-1", slack_app_token="xapp-1", openai_api_key="sk-1")
    settings = load_settings(env_file=None, **given)
    async with open_judges(settings) as make:
        make(load_rubric(settings.judge_rubric), None, None)
        print("openai" in sys.modules)

asyncio.run(main())
"""


def test_the_models_client_is_imported_for_the_first_request_only() -> None:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


async def test_a_wrong_address_is_refused_at_the_start() -> None:
    given = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1", "openai_base_url": "nowhere"}
    settings = load_settings(env_file=None, **given)
    with pytest.raises(SetupError, match="OPENAI_BASE_URL is not a URL"):
        async with open_judges(settings):
            pass
