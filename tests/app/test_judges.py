"""The app's judges and the client that they share."""

import pytest

from bot.judges import open_judges
from bot.settings import load_settings
from judge import SetupError
from judge.scoring.model import client


async def test_a_wrong_address_is_refused_at_the_start() -> None:
    given = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1", "openai_base_url": "nowhere"}
    settings = load_settings(env_file=None, **given)
    with pytest.raises(SetupError, match="OPENAI_BASE_URL is not a URL"):
        async with open_judges(settings):
            pass


def test_certificates_that_cannot_be_read_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    client._certificates.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", "nowhere.pem")
    with pytest.raises(
        SetupError, match=r"SSL_CERT_FILE='nowhere[.]pem': the certificates cannot be read"
    ):
        client.make_client("sk-1", None)
